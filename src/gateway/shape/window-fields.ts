import { isWindowKnown, sumsOf, volumeOf, WINDOWS, type WindowName } from '../../domain/window.ts'
import { percentChange, type SeenWindows } from './windows.ts'
import { knownValue } from './wire-values.ts'

type FieldNames = Readonly<Record<keyof typeof PAIR_FIELDS, string>>

/** Field names of a pair's window: the name of each number, for the window's own name. */
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

/** Put together once, not for every row. */
const NAMES = {
  pair: namesOf(PAIR_FIELDS, WINDOWS),
  token: namesOf(TOKEN_FIELDS, ['5m', '1h', '4h', '24h']),
}

function namesOf(fields: typeof PAIR_FIELDS, windows: readonly WindowName[]) {
  return windows.map((window) => ({
    window,
    names: Object.fromEntries(
      Object.entries(fields).map(([field, nameOf]) => [field, nameOf(window)]),
    ) as FieldNames,
  }))
}

export type WindowKind = keyof typeof NAMES

/** Which numbers are counts, and which are decimal text. */
const COUNTS = new Set<keyof FieldNames>(['count', 'buys', 'sells', 'makers', 'buyers', 'sellers'])

/** The names of all window fields and their types, for the schema of an answer. */
export function windowFieldTypes(kind: WindowKind): { name: string; isCount: boolean }[] {
  return NAMES[kind].flatMap(({ names }) =>
    (Object.keys(names) as (keyof FieldNames)[]).map((field) => ({
      name: names[field],
      isCount: COUNTS.has(field),
    })),
  )
}

/**
 * All that is known of the windows; a pair or token that was never traded has none. Names what is not known into `unknown`: a
 * window that began before the first block read, or a sum beyond its type.
 */
export function windowFields(
  kind: WindowKind,
  seen: SeenWindows,
  unknown: string[],
): Record<string, string | number> {
  const answer: Record<string, string | number> = {}
  const { windows: known } = seen
  for (const { window, names } of NAMES[kind]) {
    if (!isWindowKnown(window, seen)) {
      unknown.push(...Object.values(names))
      continue
    }
    if (known === undefined) continue
    const sums = sumsOf(known, window)
    const { buyUsd, sellUsd, buys, sells, openUsd } = sums
    const change = percentChange(known.priceUsd, openUsd)
    const put = (name: string, text: string | undefined): void => {
      if (text === undefined) unknown.push(name)
      else answer[name] = text
    }
    put(names.change, change)
    put(names.volume, knownValue(volumeOf(sums)))
    put(names.buyVolume, knownValue(buyUsd))
    put(names.sellVolume, knownValue(sellUsd))
    answer[names.count] = buys + sells
    answer[names.buys] = buys
    answer[names.sells] = sells
    answer[names.makers] = sums.makers
    answer[names.buyers] = sums.buyers
    answer[names.sellers] = sums.sellers
  }
  return answer
}
