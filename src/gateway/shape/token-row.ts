import type { Token, Windows } from '../../domain/change.ts'
import { windowFields } from './window-fields.ts'
import { change1d, change24h, count24h, volume24h } from './windows.ts'
import { knownAmount, knownPrice, knownValue, leaveOutUnknown } from './wire-values.ts'

/** A token with its windows, as of its chain's head. */
export type TokenView = {
  readonly chain: string
  readonly token: Token
  readonly windows: Windows | undefined
  readonly headTime: number | undefined
}

/** The one row for a token, wherever rows are answered. All its fields are ours: an unknown one is left out. */
export function tokenRow({ chain, token, windows, headTime }: TokenView) {
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
      fdv: knownValue(token.fdvUsd),
      tvl: knownValue(token.tvlUsd),
      main_pair: token.mainPair,
      main_pair_tvl: knownValue(token.mainPairTvlUsd),
      tx_volume_u_24h: knownValue(volume24h(windows)),
      tx_amount_24h: knownAmount(windows?.amountRaw, token.decimals),
      tx_count_24h: count24h(windows),
      updated_at: token.updatedAt,
    }),
    ...windowFields('token', windows),
  }
}

/** The document lists these fields for main tokens, so they are there even when unknown. */
export function mainTokenRow(view: TokenView) {
  return { current_price_usd: '', market_cap: '', holders: 0, logo_url: '', ...tokenRow(view) }
}
