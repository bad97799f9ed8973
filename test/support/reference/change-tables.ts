import assert from 'node:assert/strict'
import type {
  Balance,
  Candle,
  CandleRef,
  ChangeSet,
  EventRef,
  LiquidityEvent,
  MainPairSwitch,
  Pair,
  Token,
  Trade,
  Windows,
} from '../../../src/domain/change.ts'
import type { ContractReport } from '../../../src/domain/contract-report.ts'
import { never } from '../../../src/domain/ids.ts'
import { formatOrderKey } from '../../../src/domain/order-key.ts'

/** The tables of a consumer that applies change sets and has no market rules. */
export type Tables = {
  readonly trades: Map<string, Trade>
  readonly liquidity: Map<string, LiquidityEvent>
  readonly candles: Map<string, Candle>
  readonly pairs: Map<string, Pair>
  readonly tokens: Map<string, Token>
  readonly pairWindows: Map<string, WindowNumbers>
  readonly tokenWindows: Map<string, WindowNumbers>
  readonly switches: Map<string, MainPairSwitch>
  readonly balances: Map<string, HeldBalance>
  readonly contracts: Map<string, ContractReport>
}

/** Without the previous amount, which depends on the batching of changes. */
export type HeldBalance = Omit<Balance, 'beforeRaw'>

/** Without their owner: a pair and its token may share windows. */
export type WindowNumbers = Omit<Windows, 'pair' | 'token'>

/** Latest wins by `seq`, in whatever order the change sets arrive. */
export function foldChangeSets(sets: readonly ChangeSet[]): Tables {
  const versions = new Map<string, number>()
  const tables: Tables = {
    trades: new Map(),
    liquidity: new Map(),
    candles: new Map(),
    pairs: new Map(),
    tokens: new Map(),
    pairWindows: new Map(),
    tokenWindows: new Map(),
    switches: new Map(),
    balances: new Map(),
    contracts: new Map(),
  }
  const set = <T>(name: keyof Tables, id: string | undefined, record: T | undefined, seq: number): void => {
    if (id === undefined) return
    const version = versions.get(`${name} ${id}`) ?? 0
    assert.notEqual(version, seq, `${name} ${id} occurs twice in set ${seq}`)
    if (version > seq) return
    versions.set(`${name} ${id}`, seq)
    const table = tables[name] as Map<string, unknown>
    if (record === undefined) table.delete(id)
    else table.set(id, record)
  }
  for (const { seq, changes } of sets) {
    for (const change of changes) {
      switch (change.type) {
        case 'trade':
          set('trades', eventId(change.trade), change.trade, seq)
          break
        case 'liquidity':
          set('liquidity', eventId(change.liquidity), change.liquidity, seq)
          break
        case 'candle':
          set('candles', candleId(change.candle), change.candle, seq)
          break
        case 'pair':
          set('pairs', change.pair.address, change.pair, seq)
          break
        case 'token':
          set('tokens', change.token.address, change.token, seq)
          break
        case 'windows': {
          const { pair, token, ...numbers } = change.windows
          set('pairWindows', pair, numbers, seq)
          set('tokenWindows', token, numbers, seq)
          break
        }
        case 'switch':
          set('switches', switchId(change.switch), change.switch, seq)
          break
        case 'balance': {
          const { token, holder, amountRaw } = change.balance
          const held = amountRaw === 0n ? undefined : { token, holder, amountRaw }
          set('balances', `${token}/${holder}`, held, seq)
          break
        }
        case 'contract':
          set('contracts', change.contract.token, change.contract, seq)
          break
        case 'contractRemoved':
          set('contracts', change.token, undefined, seq)
          break
        case 'tradeRemoved':
          set('trades', eventId(change.trade), undefined, seq)
          break
        case 'liquidityRemoved':
          set('liquidity', eventId(change.liquidity), undefined, seq)
          break
        case 'candleRemoved':
          set('candles', candleId(change.candle), undefined, seq)
          break
        case 'pairRemoved':
          set('pairs', change.pair, undefined, seq)
          break
        case 'tokenRemoved':
          set('tokens', change.token, undefined, seq)
          break
        case 'windowsRemoved':
          set('pairWindows', change.windows.pair, undefined, seq)
          set('tokenWindows', change.windows.token, undefined, seq)
          break
        case 'switchRemoved':
          set('switches', switchId(change.switch), undefined, seq)
          break
        default:
          never(change)
      }
    }
  }
  return tables
}

export function eventId({ pair, time, key }: EventRef): string {
  return `${pair}/${time}/${formatOrderKey(key)}`
}

export function candleId({ pair, interval, start }: CandleRef): string {
  return `${pair}/${interval}/${start}`
}

export function switchId({ token, block }: MainPairSwitch): string {
  return `${token}/${block}`
}
