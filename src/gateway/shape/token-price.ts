import type { Token } from '../../domain/change.ts'
import { formatChainId } from '../../domain/ids.ts'
import { knownPrice, knownValue, leaveOutUnknown } from './wire-values.ts'

/** One entry of the map that `POST /v2/tokens/price` answers. */
export function tokenPrice(chain: string, token: Token) {
  return leaveOutUnknown({
    token_id: formatChainId(token.address, chain),
    current_price_usd: knownPrice(token.priceUsd),
    tvl: knownValue(token.tvlUsd),
    fdv: knownValue(token.fdvUsd),
    updated_at: token.updatedAt,
  })
}
