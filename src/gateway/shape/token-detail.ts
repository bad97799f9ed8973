import type { Token } from '../../domain/change.ts'
import type { PairView } from '../newest.ts'
import type { Listing } from '../token-lists/parse-token-list.ts'
import { windowFields } from './window-fields.ts'
import { change1d, change24h, volume24h } from './windows.ts'
import { knownAmount, knownValue, leaveOutUnknown, priceText, valueText } from './wire-values.ts'

/** The TokenApiResponse of the interface document; the only answer in an envelope. */
export function tokenDetail(
  chain: string,
  token: Token,
  topPairs: readonly PairView[],
  headTime: number | undefined,
  listing: Listing | undefined,
) {
  return {
    status: 1,
    msg: 'SUCCESS',
    data_type: 1,
    data: {
      // The document lists the field: where no list tells of an audit, none is known.
      is_audited: listing?.isAudited ?? false,
      pairs: topPairs.map((view) => tokenPair(chain, view, headTime)),
      token: tokenInfo(chain, token, listing),
    },
  }
}

function tokenInfo(chain: string, token: Token, listing: Listing | undefined) {
  return {
    name: token.name,
    symbol: token.symbol,
    chain,
    current_price_usd: priceText(token.priceUsd),
    market_cap: valueText(token.marketCapUsd),
    holders: token.holding?.holders ?? 0,
    tvl: valueText(token.tvlUsd),
    logo_url: listing?.logoUrl ?? '',
    updated_at: token.updatedAt,
  }
}

function tokenPair(chain: string, { pair, windows }: PairView, headTime: number | undefined) {
  const { token0, token1 } = pair
  const known = leaveOutUnknown({
    amm: pair.amm,
    chain,
    pair: pair.address,
    price_change: change1d(windows, headTime) ?? '',
    price_change_24h: change24h(windows) ?? '',
    token0_symbol: token0.symbol,
    token1_symbol: token1.symbol,
    token0_price_usd: priceText(token0.priceUsd),
    token1_price_usd: priceText(token1.priceUsd),
    volume_u: valueText(volume24h(windows)),
    updated_at: pair.updatedAt,
    token0_address: token0.token,
    token1_address: token1.token,
    token0_decimal: token0.decimals,
    token1_decimal: token1.decimals,
    reserve0: knownAmount(token0.reserveRaw, token0.decimals),
    reserve1: knownAmount(token1.reserveRaw, token1.decimals),
    tvl: knownValue(pair.tvlUsd),
  })
  return { ...known, ...windowFields('pair', windows) }
}
