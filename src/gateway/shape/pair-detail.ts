import type { Pair, Token, Windows } from '../../domain/change.ts'
import { windowFields } from './window-fields.ts'
import { type ChainTimes, high24h, low24h, pairWindows, type SeenWindows } from './windows.ts'
import { knownAmount, knownPrice, knownValue, leaveOutUnknown, unknownNames } from './wire-values.ts'

/** The answer of `GET /v2/pairs/{pair-id}`. All its fields are ours, so an unknown one is left out. */
export function pairDetail(
  chain: string,
  pair: Pair,
  windows: Windows | undefined,
  target: Token | undefined,
  times?: ChainTimes,
) {
  const { token0, token1 } = pair
  const seen = pairWindows(windows, pair, times)
  const figures = pairFigures(pair, target)
  const tradeFigures = tradeFiguresOf(pair, seen)
  const unknown = [...unknownNames(figures), ...(isNeverTraded(pair) ? [] : unknownNames(tradeFigures))]
  const windowTexts = windowFields('pair', seen, unknown)
  const known = leaveOutUnknown({
    pair: pair.address,
    chain,
    amm: pair.amm,
    target_token: pair.targetToken,
    token0_address: token0.token,
    token0_symbol: token0.symbol,
    token1_address: token1.token,
    token1_symbol: token1.symbol,
    ...figures,
    updated_at: pair.updatedAt,
    ...tradeFigures,
    is_main_pair: pair.isMain,
  })
  return { ...known, ...windowTexts, unknown }
}

/** The fields that every pair has a value for, known or not. */
function pairFigures(pair: Pair, target: Token | undefined) {
  const { token0, token1 } = pair
  return {
    token0_decimal: token0.decimals,
    token0_price_usd: knownPrice(token0.priceUsd),
    token0_price_eth: knownPrice(token0.priceNative),
    token1_decimal: token1.decimals,
    token1_price_usd: knownPrice(token1.priceUsd),
    token1_price_eth: knownPrice(token1.priceNative),
    reserve0: knownAmount(token0.reserveRaw, token0.decimals),
    reserve1: knownAmount(token1.reserveRaw, token1.decimals),
    init_reserve0: knownAmount(token0.initialReserveRaw, token0.decimals),
    init_reserve1: knownAmount(token1.initialReserveRaw, token1.decimals),
    tvl: knownValue(pair.tvlUsd),
    market_cap: knownValue(target?.marketCapUsd),
    fdv: knownValue(pair.fdvUsd),
    created_at: pair.createdAt,
  }
}

/** The fields that a pair has once it was traded. */
function tradeFiguresOf(pair: Pair, seen: SeenWindows) {
  return {
    first_trade_at: pair.firstTradeAt,
    last_trade_at: pair.lastTradeAt,
    high_u: knownPrice(high24h(seen)),
    low_u: knownPrice(low24h(seen)),
    price_ath_u: knownPrice(pair.athPriceUsd),
  }
}

/** Its creation was read, and no trade since. */
function isNeverTraded({ createdAt, lastTradeAt }: Pair): boolean {
  return createdAt !== undefined && lastTradeAt === undefined
}
