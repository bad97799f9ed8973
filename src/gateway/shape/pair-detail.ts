import type { Pair, Token, Windows } from '../../domain/change.ts'
import { windowFields } from './window-fields.ts'
import { knownAmount, knownPrice, knownValue, leaveOutUnknown } from './wire-values.ts'

/** The answer of `GET /v2/pairs/{pair-id}`. All its fields are ours, so an unknown one is left out. */
export function pairDetail(
  chain: string,
  pair: Pair,
  windows: Windows | undefined,
  target: Token | undefined,
) {
  const { token0, token1 } = pair
  const known = leaveOutUnknown({
    pair: pair.address,
    chain,
    amm: pair.amm,
    target_token: pair.targetToken,
    token0_address: token0.token,
    token0_symbol: token0.symbol,
    token0_decimal: token0.decimals,
    token0_price_usd: knownPrice(token0.priceUsd),
    token0_price_eth: knownPrice(token0.priceNative),
    token1_address: token1.token,
    token1_symbol: token1.symbol,
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
    updated_at: pair.updatedAt,
    first_trade_at: pair.firstTradeAt,
    last_trade_at: pair.lastTradeAt,
    high_u: knownPrice(windows?.highUsd),
    low_u: knownPrice(windows?.lowUsd),
    price_ath_u: knownPrice(pair.athPriceUsd),
    is_main_pair: pair.isMain,
  })
  return { ...known, ...windowFields('pair', windows) }
}
