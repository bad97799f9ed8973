import type { PoolEvent, PoolPrice, Swapped, TokenAmount } from '../../dex/events.ts'
import { amountsOfLiquidity } from '../../dex/evm/concentrated-liquidity.ts'
import type { ReservesBy } from '../../dex/protocol.ts'
import type { Pair } from '../../domain/change.ts'
import { never } from '../../domain/ids.ts'
import { boundedAmount } from '../../domain/limits.ts'
import { type Pool, type Priced, placeOf } from './pool.ts'

/** Reserves of a pool of two tokens; undefined if unknown. */
export type Reserves = readonly [bigint | undefined, bigint | undefined]

/** Inflow into a pool of two tokens (negative: outflow); undefined if unknown. */
type Flow = readonly [bigint, bigint] | undefined

/** The prices in the pools' last events. */
export type ReportedPrices = { reported(pool: Priced): PoolPrice | undefined }

const UNKNOWN: Reserves = [undefined, undefined]

const NOTHING: Flow = [0n, 0n]
const MILLION = 1_000_000n

/** A pair's reserves after an event. */
export function reservesAfter(
  pool: Pool & Priced,
  pair: Pair,
  event: PoolEvent,
  known: ReservesBy,
  prices: ReportedPrices,
): Reserves {
  const [reserve0, reserve1] = countedReserves(pool, pair, event, known, prices)
  return [boundedReserve(reserve0), boundedReserve(reserve1)]
}

function countedReserves(
  pool: Pool & Priced,
  { token0, token1 }: Pair,
  event: PoolEvent,
  known: ReservesBy,
  prices: ReportedPrices,
): Reserves {
  if (known === 'unknown' || pool.tokens.length !== 2) return UNKNOWN
  if (event.type === 'reservesSet') return [event.reserve0, event.reserve1]
  if ('reserves' in event && event.reserves !== undefined) return event.reserves
  // The liquidity has moved to the pool where the token trades now.
  if (event.type === 'curveClosed') return [emptied(token0.reserveRaw), emptied(token1.reserveRaw)]
  if (known === 'reported') return [token0.reserveRaw, token1.reserveRaw]
  const flow = flowOf(pool, event, known === 'counted_without_fees', prices)
  if (flow === undefined) return UNKNOWN
  return [plus(token0.reserveRaw, flow[0]), plus(token1.reserveRaw, flow[1])]
}

function plus(reserve: bigint | undefined, flow: bigint): bigint | undefined {
  return reserve === undefined ? undefined : reserve + flow
}

/** Negative reserves mean an inflow without an event, so they are unknown. */
export function boundedReserve(reserve: bigint | undefined): bigint | undefined {
  return reserve === undefined ? undefined : boundedAmount(reserve)
}

function emptied(reserve: bigint | undefined): bigint | undefined {
  return reserve === undefined ? undefined : 0n
}

/** For pools whose events report every inflow and outflow, but no reserves. */
function flowOf(pool: Pool & Priced, event: PoolEvent, isWithoutFees: boolean, prices: ReportedPrices): Flow {
  switch (event.type) {
    case 'swapped':
      return swapFlow(event, isWithoutFees ? event.feePpm : event.protocolFeePpm)
    case 'liquidityAdded':
      return sum(pool, event.amounts)
    case 'donated':
      // A donation belongs to the liquidity providers, like fees.
      return isWithoutFees ? NOTHING : sum(pool, event.amounts)
    case 'liquidityRemoved':
      return event.isPaidOut ? negative(sum(pool, event.amounts)) : NOTHING
    case 'feesCollected':
      return negative(sum(pool, event.amounts))
    case 'liquidityMoved':
      return amountsOf(pool, event, prices)
    case 'priceSet':
    case 'reservesSet':
    case 'curveOpened':
    case 'curveProgressed':
    case 'curveClosed':
      return NOTHING
    default:
      return never(event)
  }
}

/** The amounts of both tokens that an event reports or implies; negative for liquidity that is removed. */
export function amountsOf(pool: Pool & Priced, event: PoolEvent, prices: ReportedPrices): Flow {
  if ('amounts' in event) return sum(pool, event.amounts)
  if (event.type !== 'liquidityMoved' || pool.pricing.kind === 'reserves') return undefined
  const price = prices.reported(pool)
  if (price?.kind !== 'sqrt') return undefined
  const { liquidityDelta, tickLower, tickUpper } = event
  const moved = amountsOfLiquidity(liquidityDelta, price.sqrtPriceX96, price.tick, tickLower, tickUpper)
  return [moved.amount0, moved.amount1]
}

/** The fee is deducted from the incoming token, rounded up. */
function swapFlow({ delta0, delta1 }: Swapped, feePpm = 0): Flow {
  const withoutFee = (delta: bigint): bigint =>
    delta <= 0n ? delta : delta - (delta * BigInt(feePpm) + MILLION - 1n) / MILLION
  return [withoutFee(delta0), withoutFee(delta1)]
}

function sum(pool: Pool, amounts: readonly TokenAmount[]): Flow {
  const total: [bigint, bigint] = [0n, 0n]
  for (const { token, amount } of amounts) {
    const place = placeOf(pool, token)
    if (place !== 0 && place !== 1) return undefined
    total[place] += amount
  }
  return total
}

function negative(flow: Flow): Flow {
  return flow === undefined ? undefined : [-flow[0], -flow[1]]
}
