import type { Token, Windows } from '../../domain/change.ts'
import { formatFixed } from '../../domain/money.ts'
import type { Listing } from '../token-lists/parse-token-list.ts'
import { windowFields } from './window-fields.ts'
import { change1d, change24h, count24h, volume24h } from './windows.ts'
import { knownAmount, knownPrice, knownValue, leaveOutUnknown } from './wire-values.ts'

/** A token with its windows, as of its chain's head. */
export type TokenView = {
  readonly chain: string
  readonly token: Token
  readonly windows: Windows | undefined
  readonly headTime: number | undefined
  readonly listing: Listing | undefined
}

const PPM_DIGITS = 6

/** What is told of a contract that was not examined, or with which no trade could be tried. */
const NOT_CHECKED = -1

/** The one row for a token, wherever rows are answered. All its fields are ours: an unknown one is left out. */
export function tokenRow({ chain, token, windows, headTime, listing }: TokenView) {
  const { holding, launch, origin, platform, risk } = token
  return {
    ...leaveOutUnknown({
      token: token.address,
      chain,
      name: token.name,
      symbol: token.symbol,
      decimal: token.decimals,
      total: knownAmount(token.supplyRaw, token.decimals),
      current_price_usd: knownPrice(token.priceUsd),
      current_price_eth: knownPrice(token.priceNative),
      price_change_1d: change1d(windows, headTime),
      price_change_24h: change24h(windows),
      market_cap: knownValue(token.marketCapUsd),
      fdv: knownValue(token.fdvUsd),
      tvl: knownValue(token.tvlUsd),
      main_pair: token.mainPair,
      main_pair_tvl: knownValue(token.mainPairTvlUsd),
      tx_volume_u_24h: knownValue(volume24h(windows)),
      tx_amount_24h: knownAmount(windows?.amountRaw, token.decimals),
      tx_count_24h: count24h(windows),
      holders: holding?.holders,
      launch_at: launch?.time,
      created_at: origin?.time,
      updated_at: token.updatedAt,
      launch_price: knownPrice(launch?.priceUsd),
      burn_amount: knownAmount(holding?.burnedRaw, token.decimals),
      lock_amount: knownAmount(holding?.lockedRaw, token.decimals),
      logo_url: listing?.logoUrl,
      issue_platform: platform?.name,
      platform_progress:
        platform?.progressPpm === undefined
          ? undefined
          : formatFixed(BigInt(platform.progressPpm), PPM_DIGITS),
      risk_score: risk?.score,
      is_honeypot: risk?.isHoneypot === undefined ? NOT_CHECKED : Number(risk.isHoneypot),
      is_mintable: risk && Number(risk.isMintable),
    }),
    ...windowFields('token', windows),
  }
}

/** The document lists these fields for main tokens, so they are there even when unknown. */
export function mainTokenRow(view: TokenView) {
  return { current_price_usd: '', market_cap: '', holders: 0, logo_url: '', ...tokenRow(view) }
}
