import { number, type Row } from './records.ts'

export type Span = {
  /** Only rows at or after this time. */
  readonly from: number
  /** Only rows that sort before this one; if undefined, before the caller's own bound. */
  readonly before: Row | undefined
  /** Only rows at or before this time. */
  readonly to: number
  readonly limit: number
}

export type LatestVersions = {
  /** Number of existing rows wanted, if there are that many. */
  readonly wanted: number
  /** Bounds of the read. */
  readonly from: number
  readonly to: number
  /** Start of the first span; earlier rows are read only if it does not suffice. */
  readonly firstFrom: number
  /** All versions of the rows of a span, latest key first. */
  readonly ask: (span: Span) => Promise<Row[]>
  readonly isSameKey: (a: Row, b: Row) => boolean
}

/** Extra rows in the first query, so that a few older versions need no second query. */
const SPARE_SHARE = 1 / 8
const SPARE_ROWS = 8
/** Limits a query to this multiple of the wanted rows, unless one key alone has more versions. */
const MAX_FACTOR = 4

/**
 * Over-fetch: reads rows in key order, keeps the latest version of each key, drops removals, and continues after the
 * last complete key until the page is full. A second span with everything before the first follows only if needed.
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
    // The last key of a full response may have further versions.
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
 * Start of the month that likely has the last rows before a time. Tables are partitioned by month, so parts of other
 * months are not read. In the first week of a month, the previous month is included.
 */
export function likelyMonth(time: number): number {
  const date = new Date((time - WEEK_SECONDS) * 1_000)
  return Math.max(0, Date.UTC(date.getUTCFullYear(), date.getUTCMonth()) / 1_000)
}
