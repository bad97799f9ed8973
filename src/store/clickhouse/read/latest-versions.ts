import { number, type Row } from './records.ts'

export type Span = {
  /** Only rows at or after this time. */
  readonly from: number
  /** Only rows that sort before this one; undefined: before the caller's own bound. */
  readonly before: Row | undefined
  /** Only rows at or before this time. */
  readonly to: number
  readonly limit: number
}

export type LatestVersions = {
  /** So many rows that stand, if there are as many. */
  readonly wanted: number
  /** Bounds of what is read. */
  readonly from: number
  readonly to: number
  /** Where the first span begins: the rows before it are read only if those after it do not suffice. */
  readonly firstFrom: number
  /** All versions of the rows of a span, latest key first. */
  readonly ask: (span: Span) => Promise<Row[]>
  readonly isSameKey: (a: Row, b: Row) => boolean
}

/** Rows beyond the wanted ones that the first query asks for, so that a few older versions need no second one. */
const SPARE_SHARE = 1 / 8
const SPARE_ROWS = 8
/** No query asks for more than this many times what is wanted, unless one key alone has more versions. */
const MAX_FACTOR = 4

/**
 * Over-fetch: reads rows in key order, keeps the latest version of each key, drops removed ones, and reads on from the
 * last complete key until the page is full. A second span, with everything before the first, follows only when needed.
 */
export async function readLatestVersions(page: LatestVersions): Promise<Row[]> {
  const { wanted, ask, isSameKey } = page
  const most = MAX_FACTOR * withSpare(wanted)
  const standing: Row[] = []
  let span: Span = { from: page.firstFrom, to: page.to, before: undefined, limit: withSpare(wanted) }
  let rowsRead = 0
  for (;;) {
    const rows = await ask(span)
    const isSpanRead = rows.length < span.limit
    // The last key of a full answer may have more versions than the answer has room for.
    const complete = isSpanRead ? rows.length : startOfLastKey(rows, isSameKey)
    if (complete === 0 && !isSpanRead) {
      span = { ...span, limit: span.limit * MAX_FACTOR }
      continue
    }
    takeLatest(rows, complete, isSameKey, standing)
    if (standing.length >= wanted) return standing.slice(0, wanted)
    rowsRead += complete
    const rowsPerStanding = rowsRead / Math.max(1, standing.length)
    const limit = Math.min(most, withSpare((wanted - standing.length) * Math.max(1, rowsPerStanding)))
    if (!isSpanRead) span = { ...span, before: rows[complete - 1], limit }
    else if (span.from > page.from)
      span = {
        from: page.from,
        to: Math.min(page.to, span.from - 1),
        before: undefined,
        limit: withSpare(wanted),
      }
    else return standing
  }
}

function withSpare(rows: number): number {
  return Math.ceil(rows * (1 + SPARE_SHARE)) + SPARE_ROWS
}

function startOfLastKey(rows: readonly Row[], isSameKey: LatestVersions['isSameKey']): number {
  const last = rows.at(-1) as Row
  let start = rows.length - 1
  while (start > 0 && isSameKey(rows[start - 1] as Row, last)) start--
  return start
}

/** Adds the latest version of each key among the first `end` rows, unless that version is a removal. */
function takeLatest(
  rows: readonly Row[],
  end: number,
  isSameKey: LatestVersions['isSameKey'],
  into: Row[],
): void {
  for (let at = 0; at < end; ) {
    let latest = rows[at] as Row
    for (at++; at < end && isSameKey(rows[at] as Row, latest); at++) {
      const row = rows[at] as Row
      if (number(row, 'seq') > number(latest, 'seq')) latest = row
    }
    if (number(latest, 'is_deleted') === 0) into.push(latest)
  }
}

const WEEK_SECONDS = 7 * 86_400

/**
 * The start of the month in which the last rows before a time are likely to be: tables are partitioned by month, so that
 * parts of other months are not touched. In the first week of a month the month before it counts too.
 */
export function likelyMonth(time: number): number {
  const date = new Date((time - WEEK_SECONDS) * 1_000)
  return Math.max(0, Date.UTC(date.getUTCFullYear(), date.getUTCMonth()) / 1_000)
}
