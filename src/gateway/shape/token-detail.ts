import type { Token } from '../../domain/change.ts'
import type { PairView } from '../market/newest.ts'
import type { Listing } from '../market/token-lists/parse-token-list.ts'
import { windowFields } from './window-fields.ts'
import { type ChainTimes, change1d, change24h, pairWindows, volume24h } from './windows.ts'
import {
  knownAmount,
  knownValue,
  leaveOutUnknown,
  priceText,
  unknownNames,
  valueText,
} from './wire-values.ts'

/** The TokenApiResponse of the interface document; the only answer in an envelope. */
export function tokenDetail(
  chain: string,
  token: Token,
  topPairs: readonly PairView[],
  times: ChainTimes | undefined,
  listing: Listing | undefined,
) {
  return {
    status: 1,
    msg: 'SUCCESS',
    data_type: 1,
    data: {
      // A documented field: without an audit in any list, none is known.
      is_audited: listing?.isAudited ?? false,
      pairs: topPairs.map((view) => tokenPair(chain, view, times)),
      token: tokenInfo(chain, token, listing),
    },
  }
}

function tokenInfo(chain: string, token: Token, listing: Listing | undefined) {
  const figures = {
    current_price_usd: priceText(token.priceUsd),
    market_cap: valueText(token.marketCapUsd),
    tvl: valueText(token.tvlUsd),
  }
  const { holding } = token
  return {
    name: token.name,
    symbol: token.symbol,
    chain,
    ...figures,
    holders: holding?.holders ?? 0,
    logo_url: listing?.logoUrl ?? '',
    updated_at: token.updatedAt,
    unknown: unknownNames({ ...figures, holders: holding?.holders }),
  }
}

function tokenPair(chain: string, { pair, windows }: PairView, times: ChainTimes | undefined) {
  const { token0, token1 } = pair
  const seen = pairWindows(windows, pair, times)
  const figures = {
    price_change: change1d(seen) ?? '',
    price_change_24h: change24h(seen) ?? '',
    token0_price_usd: priceText(token0.priceUsd),
    token1_price_usd: priceText(token1.priceUsd),
    volume_u: valueText(volume24h(seen)),
    token0_decimal: token0.decimals,
    token1_decimal: token1.decimals,
    reserve0: knownAmount(token0.reserveRaw, token0.decimals),
    reserve1: knownAmount(token1.reserveRaw, token1.decimals),
    tvl: knownValue(pair.tvlUsd),
  }
  const known = leaveOutUnknown({
    amm: pair.amm,
    chain,
    pair: pair.address,
    token0_symbol: token0.symbol,
    token1_symbol: token1.symbol,
    updated_at: pair.updatedAt,
    token0_address: token0.token,
    token1_address: token1.token,
    ...figures,
  })
  const unknown = unknownNames(figures)
  const windowTexts = windowFields('pair', seen, unknown)
  // The price change over 24 hours is listed by the document, and one of the windows' fields.
  return { ...known, ...windowTexts, unknown: [...new Set(unknown)] }
}
