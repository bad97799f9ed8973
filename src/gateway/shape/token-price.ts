import { formatChainAddress } from '../../domain/ids.ts'
import type { Value } from '../../domain/money.ts'
import type { TokenView } from './token-row.ts'
import { change1d, change24h, volume24h } from './windows.ts'
import { knownPrice, knownValue, leaveOutUnknown, unknownNames } from './wire-values.ts'

/** The entry with its name, as text, and what thresholds are compared with. */
export type PriceAnswer = {
  readonly json: string
  readonly id: string
  readonly chain: string
  readonly tvlUsd: Value | undefined
  readonly volumeUsd: Value | undefined
}

export function priceAnswer(view: TokenView): PriceAnswer {
  const price = tokenPrice(view)
  const json = `${JSON.stringify(price.token_id)}:${JSON.stringify(price)}`
  const { token_id: id } = price
  return { json, id, chain: view.chain, tvlUsd: view.token.tvlUsd, volumeUsd: volume24h(view.windows) }
}

/** One entry of the map that `POST /v2/tokens/price` answers. */
export function tokenPrice({ chain, token, windows }: TokenView) {
  const figures = {
    current_price_usd: knownPrice(token.priceUsd),
    price_change_1d: change1d(windows),
    price_change_24h: change24h(windows),
    tvl: knownValue(token.tvlUsd),
    tx_volume_u_24h: knownValue(volume24h(windows)),
    fdv: knownValue(token.fdvUsd),
    market_cap: knownValue(token.marketCapUsd),
    holders: token.holding?.holders,
  }
  const known = leaveOutUnknown({
    token_id: formatChainAddress(token.address, chain),
    ...figures,
    updated_at: token.updatedAt,
  })
  return { ...known, unknown: unknownNames(figures) }
}
