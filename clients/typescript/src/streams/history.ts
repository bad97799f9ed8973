import { ChaintapeError } from '../errors.ts'
import type { RestMethods } from '../generated/operations.ts'
import type { Interval } from '../ids.ts'
import type { RequestOptions } from '../rest/answer.ts'
import {
  type CandleRetraction,
  type CandleUnit,
  type CandleUpdate,
  isRetraction,
  type Retraction,
} from './items.ts'
import type { StreamHistory } from './stream.ts'

/** A date, its ISO text, or Unix seconds. */
export type HistoryStart = Date | string | number

/** The fields that swaps and liquidity transactions have in common. */
export type HistoryEvent = {
  readonly id: string
  readonly transaction: string
  readonly time: number
  readonly block_number: number
}
type Page<T> = { readonly txs: readonly T[]; readonly next_cursor?: string; readonly cursor?: string }

const ROWS_PER_PAGE = 1_000
/** Blocks. */
const DEEPEST_FORK = 1_000
export const MAX_HISTORY = 100_000

export function secondsOf(start: HistoryStart): number {
  const seconds = typeof start === 'number' ? start : Math.floor(new Date(start).getTime() / 1_000)
  if (!Number.isFinite(seconds)) throw new TypeError(`not a date: ${String(start)}`)
  return Math.max(0, seconds)
}

/**
 * All events since a time, oldest first. The first page has the cursor that the subscription continues from. A reorg while
 * older pages are read changes them: the replay then repeats events that the pages have, and retracts others that they lack.
 */
export async function readEvents<T extends HistoryEvent>(
  readPage: (query: { readonly limit: number; readonly cursor?: string | undefined }) => Promise<Page<T>>,
  from: number,
  maxItems: number,
): Promise<StreamHistory<T | Retraction>> {
  const items: T[] = []
  let after: string | undefined
  for (let cursor: string | undefined; ; ) {
    const page = await readPage({ limit: ROWS_PER_PAGE, cursor })
    after ??= page.cursor
    const wanted = page.txs.filter(({ time }) => time >= from)
    items.push(...wanted)
    if (items.length > maxItems) throw tooLong(maxItems)
    cursor = page.next_cursor
    if (cursor === undefined || wanted.length < page.txs.length) break
  }
  if (after === undefined) throw new ChaintapeError('the gateway returned no cursor with the first page')
  return { items: items.reverse(), cursor: after, isNew: eventFilter(items) }
}

/** Drops what the history has, until a reorg retracts it. Deep enough below the head nothing is repeated any more. */
function eventFilter(history: readonly HistoryEvent[]): (item: HistoryEvent | Retraction) => boolean {
  const transactions = new Map(history.map(({ id, transaction }) => [id, transaction]))
  const lastBlock = (history.at(-1)?.block_number ?? 0) + DEEPEST_FORK
  return (item) => {
    if (transactions.size === 0) return true
    if (isRetraction(item)) for (const id of item.retracted) transactions.delete(id)
    else if (item.block_number > lastBlock) transactions.clear()
    else return transactions.get(item.id) !== item.transaction
    return true
  }
}

export type CandleSeries = {
  readonly pairId: string
  readonly interval: Interval
  readonly unit: CandleUnit
}

/** All candles since a time, oldest first, each once. */
export async function readCandles(
  rest: Pick<RestMethods, 'pairKlines'>,
  { pairId, interval, unit }: CandleSeries,
  from: number,
  maxItems: number,
  options: RequestOptions,
): Promise<StreamHistory<CandleUpdate | CandleRetraction>> {
  const items: CandleUpdate[] = []
  let after: string | undefined
  for (let to: number | undefined; ; ) {
    const query = { interval, unit, from, to, limit: ROWS_PER_PAGE }
    const { data: page, meta } = await rest.pairKlines(pairId, query, options).withMeta()
    after ??= meta.cursor
    for (const { count: _, revision = 0, ...candle } of [...page].reverse())
      items.push({ pairId, interval, ...candle, revision })
    if (items.length > maxItems) throw tooLong(maxItems)
    const oldest = page[0]
    if (page.length < ROWS_PER_PAGE || oldest === undefined || oldest.time <= from) break
    to = oldest.time - 1
  }
  if (after === undefined)
    throw new ChaintapeError('the gateway returned no X-Cursor with candles: upgrade it')
  const revisions = new Map(items.map(({ time, revision }) => [time, revision]))
  return { items: items.reverse(), cursor: after, isNew: candleFilter(revisions, from) }
}

/** Drops versions that the history has, or a later one of; and candles from before its start. */
function candleFilter(revisions: Map<number, number>, from: number) {
  return (item: CandleUpdate | CandleRetraction): boolean => {
    if (item.time < from) return false
    if (isRetraction(item)) {
      revisions.delete(item.time)
      return true
    }
    return item.revision > (revisions.get(item.time) ?? -1)
  }
}

function tooLong(maxItems: number): ChaintapeError {
  return new ChaintapeError(
    `the history has more than ${maxItems} items: choose a later from, or raise maxHistory`,
  )
}
