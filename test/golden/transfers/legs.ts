import { encodeAbiParameters, keccak256 } from 'viem'
import type { PoolEvent, TokenRef } from '../../../src/dex/events.ts'
import { EVM_PROTOCOLS } from '../../../src/dex/protocols.ts'
import type { RawLog } from '../../../src/domain/envelope.ts'
import type { RecordedTransaction } from '../../support/recorded/recorded-transactions.ts'
import type { Transfer } from './transfers.ts'

/** One token's side of what an event says went in (positive) or out. */
export type Leg = {
  readonly log: RawLog
  readonly protocol: string
  readonly pool: string
  /** Where the tokens lie: the pool itself, or what holds the tokens of many. */
  readonly holder: string
  readonly ref: TokenRef
  /** Undefined where only the chain could be asked; the zero address is the chain's own coin. */
  readonly token: string | undefined
  readonly amount: bigint
  /** The same before what came back in the same call was set off. */
  readonly gross: bigint
  readonly isSwap: boolean
}

/** Tokens of PancakeSwap Infinity lie in one vault for both kinds of pools. */
const INFINITY_VAULT = '0x238a358808379702088667322f80ac48bad5e6c4'
export const NATIVE = '0x0000000000000000000000000000000000000000'

const PAIR_SWAPS = new Set([
  '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822',
  '0xb3e2773606abfd36b5bd91394b3a54d1398336c65005baf7bf7a05efeffaf75b',
])
/** Balancer V2: LP tokens may be bought or sold, so its amounts are more than the event reports. */
const VAULT_SWAP = '0x2170c741c41531aec20e7c107c24eecfdd15e69c9bb0a8dd37b1840b9e0b207b'
/** Balancer V3, which wraps or unwraps a token: (wrapper, input, output). */
const WRAP = '0x3771d13c67011e31e12031c54bb59b0bf544a80b81d280a3711e172aa8b7f47b'
const UNWRAP = '0xeeb740c90bf2b18c9532eb7d473137767036d893dff3e009f32718f821b2a4c0'

const V4_FEES = [100, 500, 3_000, 10_000, 0x80_0000]
const V4_SPACINGS = [1, 2, 5, 10, 20, 50, 60, 100, 200]

export function legsOf(
  { chainId, logs }: RecordedTransaction,
  transfers: readonly Transfer[],
  derived: ReadonlyMap<string, readonly [string, string]>,
): Leg[] {
  const tokens = [...new Set(transfers.map(({ token }) => token))]
  return logs.flatMap((log) => {
    if (log.topics[0] === VAULT_SWAP) return vaultSwapLegs(log)
    if (log.topics[0] === WRAP || log.topics[0] === UNWRAP) return wrapLegs(log)
    const read = decoded(log)
    if (read === undefined) return []
    const { protocol, event } = read
    const known =
      protocol === 'uniswap_v4' && event.type === 'swapped'
        ? currenciesOf(event.pool, tokens, event.feePpm ?? 0)
        : derived.get(`${chainId} ${log.address}`)
    const holder = protocol.startsWith('pancakeswap_infinity') ? INFINITY_VAULT : log.address
    return movesOf(event, log).map(({ token: ref, amount, gross }) => {
      const token = typeof ref === 'string' ? ref : known?.[ref]
      const isSwap = event.type === 'swapped'
      return { log, protocol, pool: event.pool, holder, ref, token, amount, gross, isSwap }
    })
  })
}

/** Read as whichever protocol has the event: those that share one read it alike. */
function decoded(log: RawLog): { protocol: string; event: PoolEvent } | undefined {
  for (const [protocol, { events }] of Object.entries(EVM_PROTOCOLS)) {
    const event = events[log.topics[0] ?? '']?.(log)
    if (event !== undefined) return { protocol, event }
  }
  return undefined
}

type Move = { readonly token: TokenRef; readonly amount: bigint; readonly gross: bigint }

function movesOf(event: PoolEvent, log: RawLog): Move[] {
  const move = (token: TokenRef, amount: bigint): Move => ({ token, amount, gross: amount })
  switch (event.type) {
    case 'swapped': {
      const moves = [move(event.token0, event.delta0), move(event.token1, event.delta1)]
      return moves.map((one, at) => ({ ...one, gross: grossOf(log, at, one.amount) }))
    }
    case 'liquidityAdded':
    case 'donated':
      return event.amounts.map(({ token, amount }) => move(token, amount))
    case 'feesCollected':
      return event.amounts.map(({ token, amount }) => move(token, -amount))
    case 'liquidityRemoved':
      return event.isPaidOut ? event.amounts.map(({ token, amount }) => move(token, -amount)) : []
    default:
      return []
  }
}

/** Pairs write in and out apart, and a token that shares its tax out among all holders pays some of it in again. */
function grossOf(log: RawLog, at: number, net: bigint): bigint {
  if (!PAIR_SWAPS.has(log.topics[0] ?? '')) return net
  return net < 0n ? -wordOf(log, 2 + at) : wordOf(log, at)
}

function vaultSwapLegs(log: RawLog): Leg[] {
  const [, id = '', tokenIn = '', tokenOut = ''] = log.topics
  const pool = id.slice(0, 42)
  const [bought, sold] = [addressOf(tokenIn), addressOf(tokenOut)]
  // What is paid for a share, or with it, is no trade.
  const isSwap = bought !== pool && sold !== pool
  const common = { log, protocol: 'balancer_v2', pool, holder: log.address, isSwap }
  return [leg(common, bought, wordOf(log, 0)), leg(common, sold, -wordOf(log, 1))]
}

function wrapLegs(log: RawLog): Leg[] {
  const wrapper = addressOf(log.topics[1] ?? '')
  const common = { log, protocol: 'balancer_v3', pool: wrapper, holder: log.address, isSwap: false }
  const [paid, got] = log.topics[0] === WRAP ? [undefined, wrapper] : [wrapper, undefined]
  return [leg(common, paid, wordOf(log, 0)), leg(common, got, -wordOf(log, 1))]
}

function leg(
  common: Pick<Leg, 'log' | 'protocol' | 'pool' | 'holder' | 'isSwap'>,
  token: string | undefined,
  amount: bigint,
): Leg {
  return { ...common, ref: token ?? 'underlying', token, amount, gross: amount }
}

/** The id of a pool of Uniswap V4 is the hash of its key: whatever has this hash is its key. Pools with hooks are left. */
function currenciesOf(id: string, tokens: readonly string[], fee: number): [string, string] | undefined {
  const currencies = [NATIVE, ...tokens].toSorted()
  const spacings = [...V4_SPACINGS, Math.max(1, Math.floor(fee / 50))]
  for (const [at, currency0] of currencies.entries()) {
    for (const currency1 of currencies.slice(at + 1)) {
      for (const [each, spacing] of [fee, ...V4_FEES].flatMap((one) => spacings.map((two) => [one, two]))) {
        const key = [currency0, currency1, each, spacing, NATIVE]
        if (keccak256(encodeAbiParameters(V4_KEY, key as never)) === id) return [currency0, currency1]
      }
    }
  }
  return undefined
}
const V4_KEY = ['address', 'address', 'uint24', 'int24', 'address'].map((type) => ({ type }))

export function wordOf({ data }: RawLog, index: number): bigint {
  return BigInt(`0x${Buffer.from(data.subarray(32 * index, 32 * index + 32)).toString('hex')}`)
}

export function addressOf(topic: string): string {
  return `0x${topic.slice(26)}`
}
