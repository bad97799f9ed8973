import { sqrtPriceAtTick } from '../../../../src/dex/evm/concentrated-liquidity.ts'
import type { Pricing, RawLog } from '../../../../src/domain/envelope.ts'
import type { Random } from '../../../fuzz/random.ts'
import { padded } from '../../../support/builders/raw-log.ts'

export type SimPool = {
  /** The name of its protocol in `src/dex/protocols.ts`. */
  readonly protocol: string
  readonly address: string
  readonly factory: string
  readonly tokens: readonly string[]
  readonly pricing: Pricing
  /** What a node would answer that is asked when the pool is first met. */
  readonly reservesBefore: readonly bigint[] | undefined
  readonly goalRaw: bigint | undefined
  /** Its events move amounts at the limits of their types. */
  readonly isExtreme: boolean
}

/** What distinguishes the pools of one protocol: how they are identified and what they emit. */
export type PoolKind = {
  readonly maxTokens?: number
  /** Pools without a contract may hold the native coin itself. */
  readonly hasNative?: boolean
  readonly pricing: (random: Random) => Pricing
  /** Pools without a contract have an id. Others have their own address. */
  readonly idOf?: (factory: string, tokens: readonly string[], pricing: Pricing) => string
  /** Reserves are counted from here on, or, in launch platforms, what is left to sell. */
  readonly isCounted?: boolean
  readonly isCurve?: boolean
  readonly log: (random: Random, pool: SimPool) => RawLog
  readonly created: (random: Random, pool: SimPool) => RawLog | undefined
}

export const WHO = padded('0x5e')
export const WHOM = padded('0x4ec')
export const TICK_RANGE = 60_000
/** One unit of the first token for one of the second. */
export const MIDDLE_BIN = 2 ** 23

/** Few different values at times, so that pools come to be equally deep and undone values to come back. */
export function amount(random: Random): bigint {
  const roll = random.below(20)
  if (roll < 9) return BigInt(random.between(1, 999_999)) * 10n ** BigInt(random.between(9, 18))
  // Within and beyond the margin by which another pair has to be deeper to become the main one.
  if (roll < 15) return BigInt(random.between(95, 116)) * 10n ** 19n
  if (roll < 18) return random.pick([10n ** 6n, 10n ** 18n, 2n * 10n ** 18n, 10n ** 21n])
  return random.pick([0n, 1n, 7n, 2n ** 112n - 1n])
}

const LIMITS = [2n ** 112n, 2n ** 127n - 1n, 2n ** 128n - 1n, 2n ** 249n, 2n ** 255n - 1n, 2n ** 256n - 1n]

export function amountOf(random: Random, { isExtreme }: SimPool): bigint {
  return isExtreme && random.chance(0.4) ? random.pick(LIMITS) : amount(random)
}

/** Where the event holds 127 or 128 bits. */
export function halfOf(random: Random, pool: SimPool): bigint {
  const whole = amountOf(random, pool)
  return whole < 2n ** 127n ? whole : 2n ** 127n - 1n
}

/** Paid and got, in either order. */
export function deltas(random: Random, paid: bigint, got: bigint): [bigint, bigint] {
  return random.chance(0.5) ? [paid, -got] : [-got, paid]
}

export function randomPrice(random: Random): { sqrtPrice: bigint; tick: bigint } {
  const tick = random.between(-TICK_RANGE, TICK_RANGE)
  return { sqrtPrice: sqrtPriceAtTick(tick), tick: BigInt(tick) }
}

export function randomBin(random: Random): bigint {
  return BigInt(MIDDLE_BIN + random.between(-500, 500))
}

export const sqrtPricing = (): Pricing => ({ kind: 'sqrtPrice' })
export const tradesPricing = (): Pricing => ({ kind: 'trades' })
export const binPricing = (random: Random): Pricing => ({ kind: 'bins', binStep: random.pick([1, 10, 25]) })
