import assert from 'node:assert/strict'
import type { Candle, CandleRef, ChangeSet, Pair, Token, Trade, TradeRef } from '../../src/domain/change.ts'
import { formatOrderKey } from '../../src/domain/order-key.ts'

/** What a consumer holds that follows the change sets and knows no market rules. */
export type Tables = {
  readonly trades: Map<string, Trade>
  readonly candles: Map<string, Candle>
  readonly pairs: Map<string, Pair>
  readonly tokens: Map<string, Token>
}

/** Folds by the newest `seq`, whatever order the sets come in. */
export function foldChangeSets(sets: readonly ChangeSet[]): Tables {
  const versions = new Map<string, number>()
  const tables: Tables = { trades: new Map(), candles: new Map(), pairs: new Map(), tokens: new Map() }
  const set = <T>(name: keyof Tables, id: string, record: T | undefined, seq: number): void => {
    const version = versions.get(`${name} ${id}`) ?? 0
    assert.notEqual(version, seq, `${name} ${id} stands twice in set ${seq}`)
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
          set('trades', tradeId(change.trade), change.trade, seq)
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
        case 'tradeRemoved':
          set('trades', tradeId(change.trade), undefined, seq)
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
      }
    }
  }
  return tables
}

export function tradeId({ pair, time, key }: TradeRef): string {
  return `${pair}/${time}/${formatOrderKey(key)}`
}

export function candleId({ pair, interval, start }: CandleRef): string {
  return `${pair}/${interval}/${start}`
}
