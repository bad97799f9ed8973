import type { Ask } from './ask.ts'
import { number, type Row, raw, text } from './records.ts'

export type HoldersQuestion = {
  readonly chain: string
  readonly upTo: number
  readonly token: string
  readonly limit: number
}

export type Holder = { readonly holder: string; readonly amountRaw: bigint }

const MAX_SECONDS = 5
const MAX_MAGNITUDES = 8_192
/** Per requested holder: most large holders had other balances before, and left a row at each magnitude. */
const ROWS_EACH = 10
const FURTHER = 16

/** Largest first. Finds the smallest magnitude needed first; rows of smaller holders are not read. */
export async function readTopHolders(
  ask: Ask,
  { chain, upTo, token, limit }: HoldersQuestion,
): Promise<Holder[]> {
  for (let rows = limit * ROWS_EACH; ; rows *= FURTHER) {
    const params = { chain, token, up_to: upTo, rows }
    const depths = await ask('holder-depth', { params, maxRows: MAX_MAGNITUDES, maxSeconds: MAX_SECONDS })
    const isAll = depths.reduce((sum, depth) => sum + number(depth, 'rows'), 0) < rows
    const least = leastFor(depths, limit) ?? (isAll ? 1 : undefined)
    if (least === undefined) continue
    const found = await ask('top-holders', {
      params: { chain, token, least, up_to: upTo, limit },
      ...{ maxRows: limit, maxSeconds: MAX_SECONDS },
    })
    // Too few if the rows ended within a magnitude, before its latest ones.
    if (found.length >= limit || isAll)
      return found.map((row) => ({ holder: text(row, 'holder'), amountRaw: raw(row, 'amount') ?? 0n }))
  }
}

/** The magnitude that at least `limit` holders reach. */
function leastFor(depths: readonly Row[], limit: number): number | undefined {
  let seen = 0
  for (const depth of depths) {
    seen += number(depth, 'holders')
    if (seen >= limit) return number(depth, 'magnitude')
  }
  return undefined
}
