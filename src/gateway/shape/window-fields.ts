import type { Windows } from '../../domain/change.ts'
import { formatValue } from '../../domain/money.ts'
import { sumsOf, WINDOWS, type WindowName } from '../../domain/window.ts'
import { percentChange } from './windows.ts'

/** What a window of a pair is called on the wire: the name of each number, for the window's own name. */
const PAIR_FIELDS = {
  change: (w: string) => `price_change_${w}`,
  volume: (w: string) => `volume_u_${w}`,
  buyVolume: (w: string) => `buy_volume_u_${w}`,
  sellVolume: (w: string) => `sell_volume_u_${w}`,
  count: (w: string) => `tx_${w}_count`,
  buys: (w: string) => `buys_tx_${w}_count`,
  sells: (w: string) => `sells_tx_${w}_count`,
  makers: (w: string) => `makers_${w}`,
  buyers: (w: string) => `buyers_${w}`,
  sellers: (w: string) => `sellers_${w}`,
}

const TOKEN_FIELDS: typeof PAIR_FIELDS = {
  change: (w) => `token_price_change_${w}`,
  volume: (w) => `token_tx_volume_usd_${w}`,
  buyVolume: (w) => `token_buy_tx_volume_usd_${w}`,
  sellVolume: (w) => `token_sell_tx_volume_usd_${w}`,
  count: (w) => `token_tx_count_${w}`,
  buys: (w) => `token_buy_tx_count_${w}`,
  sells: (w) => `token_sell_tx_count_${w}`,
  makers: (w) => `token_makers_${w}`,
  buyers: (w) => `token_buyers_${w}`,
  sellers: (w) => `token_sellers_${w}`,
}

const NAMES = {
  pair: { fields: PAIR_FIELDS, windows: WINDOWS },
  token: { fields: TOKEN_FIELDS, windows: ['5m', '1h', '4h', '24h'] },
} as const satisfies Record<string, { fields: typeof PAIR_FIELDS; windows: readonly WindowName[] }>

export type WindowKind = keyof typeof NAMES

/** Which numbers are counts, and which are decimal text. */
const COUNTS = new Set<keyof typeof PAIR_FIELDS>(['count', 'buys', 'sells', 'makers', 'buyers', 'sellers'])

/** The names of all window fields and their types, for the schema of an answer. */
export function windowFieldTypes(kind: WindowKind): { name: string; isCount: boolean }[] {
  const { fields, windows } = NAMES[kind]
  return windows.flatMap((window) =>
    (Object.keys(fields) as (keyof typeof PAIR_FIELDS)[]).map((field) => ({
      name: fields[field](window),
      isCount: COUNTS.has(field),
    })),
  )
}

/** All that is known of the windows; a pair or token that was never traded has none. */
export function windowFields(kind: WindowKind, known: Windows | undefined): Record<string, string | number> {
  const { fields, windows } = NAMES[kind]
  const answer: Record<string, string | number> = {}
  if (known === undefined) return answer
  for (const window of windows) {
    const sums = sumsOf(known, window)
    const { buyUsd, sellUsd, buys, sells, openUsd } = sums
    const change = percentChange(known.priceUsd, openUsd)
    if (change !== undefined) answer[fields.change(window)] = change
    answer[fields.volume(window)] = formatValue(buyUsd + sellUsd)
    answer[fields.buyVolume(window)] = formatValue(buyUsd)
    answer[fields.sellVolume(window)] = formatValue(sellUsd)
    answer[fields.count(window)] = buys + sells
    answer[fields.buys(window)] = buys
    answer[fields.sells(window)] = sells
    answer[fields.makers(window)] = sums.makers
    answer[fields.buyers(window)] = sums.buyers
    answer[fields.sellers(window)] = sums.sellers
  }
  return answer
}
