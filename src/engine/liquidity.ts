import type { PoolCreated, PoolEvent } from '../dex/events.ts'
import type { EventSide, LiquidityEvent, Pair, PairSide } from '../domain/change.ts'
import { never } from '../domain/ids.ts'
import { isAmount, sumOfValues } from '../domain/limits.ts'
import type { Price, Value } from '../domain/money.ts'
import type { Pool, Priced } from './pool/pool.ts'
import { amountsOf, type ReportedPrices } from './pool/reserves.ts'
import { amountValue } from './price/pair-prices.ts'
import type { Origin } from './trade.ts'

/**
 * The liquidity event in a pool event; undefined if it is none, or moves nothing. `pair` is its state after the event.
 */
export function toLiquidity(
  pool: Pool & Priced,
  pair: Pair,
  event: PoolEvent | PoolCreated,
  { key, time, transaction }: Origin,
  prices: ReportedPrices,
): LiquidityEvent | undefined {
  const kind = kindOf(event)
  if (kind === undefined) return undefined
  const isNew = event.type === 'poolCreated' || event.type === 'curveOpened'
  const amounts = isNew ? ([0n, 0n] as const) : amountsOf(pool, event, prices)
  if (amounts === undefined) return undefined
  const [amount0, amount1] = [magnitude(amounts[0]), magnitude(amounts[1])]
  if (!isNew && amount0 === 0n && amount1 === 0n) return undefined
  // The amount exceeds what any token can move, so the event is not credible.
  if (!isAmount(amount0) || !isAmount(amount1)) return undefined
  return {
    key,
    time,
    pair: pair.address,
    kind,
    amm: pair.amm,
    transaction: transaction.hash,
    provider: 'provider' in event ? (event.provider ?? '') : '',
    wallet: transaction.from,
    side0: eventSide(pair.token0, amount0),
    side1: eventSide(pair.token1, amount1),
    valueUsd: worth(pair, amount0, amount1, ({ priceUsd }) => priceUsd),
    valueNative: worth(pair, amount0, amount1, ({ priceNative }) => priceNative),
    liquidityUsd: pair.tvlUsd,
    liquidityNative: pair.tvlNative,
  }
}

function kindOf(event: PoolEvent | PoolCreated): LiquidityEvent['kind'] | undefined {
  switch (event.type) {
    case 'poolCreated':
    case 'curveOpened':
      return 'createPair'
    case 'liquidityAdded':
      return 'addLiquidity'
    case 'liquidityRemoved':
      return 'removeLiquidity'
    case 'liquidityMoved':
      return event.liquidityDelta > 0n ? 'addLiquidity' : 'removeLiquidity'
    case 'feesCollected':
      return 'collectFee'
    case 'donated':
    case 'priceSet':
    case 'reservesSet':
    case 'swapped':
    case 'curveProgressed':
    case 'curveClosed':
      return undefined
    default:
      return never(event)
  }
}

function eventSide(side: PairSide, amountRaw: bigint): EventSide {
  const { token, symbol, decimals, reserveRaw, priceUsd, priceNative } = side
  return { token, symbol, decimals, amountRaw, reserveRaw, priceUsd, priceNative }
}

/** Zero tokens are worth zero, even without a price. */
function worth(
  { token0, token1 }: Pair,
  amount0: bigint,
  amount1: bigint,
  priceOf: (side: PairSide) => Price | undefined,
): Value | undefined {
  const value0 = amount0 === 0n ? 0n : amountValue(amount0, token0.decimals, priceOf(token0))
  const value1 = amount1 === 0n ? 0n : amountValue(amount1, token1.decimals, priceOf(token1))
  return sumOfValues(value0, value1)
}

function magnitude(amount: bigint): bigint {
  return amount < 0n ? -amount : amount
}
