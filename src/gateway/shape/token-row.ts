import type { Token } from '../../domain/change.ts'
import { formatFixed } from '../../domain/money.ts'
import type { Listing } from '../market/token-lists/parse-token-list.ts'
import { windowFields } from './window-fields.ts'
import { amount24h, change1d, change24h, count24h, type SeenWindows, volume24h } from './windows.ts'
import { knownAmount, knownPrice, knownValue, leaveOutUnknown, unknownNames } from './wire-values.ts'

/** A token with its windows, as of its chain's head. */
export type TokenView = {
  readonly chain: string
  readonly token: Token
  readonly windows: SeenWindows
  readonly listing: Listing | undefined
  /** Whether the chain's configuration names contracts that lock tokens. */
  readonly hasLockers: boolean
}

const PPM_DIGITS = 6

/** Reported for a contract that was not inspected, or with which no trade could be simulated. */
const NOT_CHECKED = -1

/** The one row for a token, wherever rows are answered. All its fields are ours: an unknown one is left out. */
export function tokenRow(view: TokenView) {
  const { chain, token, windows, listing } = view
  const { platform } = token
  const figures = tokenFigures(view)
  const unknown = unknownNames(figures)
  const windowTexts = windowFields('token', windows, unknown)
  return {
    ...leaveOutUnknown({
      token: token.address,
      chain,
      name: token.name,
      symbol: token.symbol,
      ...figures,
      main_pair: token.mainPair,
      main_pair_tvl: knownValue(token.mainPairTvlUsd),
      updated_at: token.updatedAt,
      logo_url: listing?.logoUrl,
      issue_platform: platform?.name,
      platform_progress:
        platform?.progressPpm === undefined
          ? undefined
          : formatFixed(BigInt(platform.progressPpm), PPM_DIGITS),
      is_honeypot: token.risk?.isHoneypot === undefined ? NOT_CHECKED : Number(token.risk.isHoneypot),
    }),
    ...windowTexts,
    unknown,
  }
}

/** The fields that every token has a value for, known or not: those that are not are named in `unknown`. */
function tokenFigures({ token, windows, hasLockers }: TokenView) {
  const { holding, launch, origin, risk } = token
  return {
    decimal: token.decimals,
    total: knownAmount(token.supplyRaw, token.decimals),
    current_price_usd: knownPrice(token.priceUsd),
    current_price_eth: knownPrice(token.priceNative),
    price_change_1d: change1d(windows),
    price_change_24h: change24h(windows),
    market_cap: knownValue(token.marketCapUsd),
    fdv: knownValue(token.fdvUsd),
    tvl: knownValue(token.tvlUsd),
    tx_volume_u_24h: knownValue(volume24h(windows)),
    tx_amount_24h: knownAmount(amount24h(windows), token.decimals),
    tx_count_24h: count24h(windows),
    holders: holding?.holders,
    launch_at: launch?.time,
    created_at: origin?.time,
    launch_price: knownPrice(launch?.priceUsd),
    burn_amount: knownAmount(holding?.burnedRaw, token.decimals),
    lock_amount: hasLockers ? knownAmount(holding?.lockedRaw, token.decimals) : undefined,
    risk_score: risk?.score,
    is_mintable: risk && Number(risk.isMintable),
  }
}

/** The document lists these fields for main tokens, so they are there even when unknown. */
export function mainTokenRow(view: TokenView) {
  return { current_price_usd: '', market_cap: '', holders: 0, logo_url: '', ...tokenRow(view) }
}
