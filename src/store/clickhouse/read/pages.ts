import type { EventRef } from '../../../domain/change.ts'
import { QueryTimeout } from '../../../domain/errors.ts'
import type { Interval } from '../../../domain/interval.ts'
import type { Ask } from './ask.ts'
import { likelyMonth, readLatestVersions } from './latest-versions.ts'
import { eventRefOf, number, type Row } from './records.ts'

/**
 * The last version to read. Rows above the marker may belong to an incomplete batch. Everything up to the marker is
 * complete, and so is everything up to the hot store's head, which is written after the rows.
 */
export type Bound = { readonly chain: string; readonly upTo: number }

/**
 * When a pair was active, as far as the caller knows. Reads go back at most a week before `first`; `last` only decides
 * which months are read first.
 */
export type Activity = { readonly first: number | undefined; readonly last: number | undefined }

export type CandlesQuestion = Bound & {
  readonly pair: string
  readonly activity?: Activity | undefined
  readonly interval: Interval
  /** Candle starts from `from` to `to`, both inclusive. */
  readonly from: number
  readonly to: number
  readonly limit: number
}

/** An event's place: the next page starts before the last event of the page. */
export type EventPlace = Pick<EventRef, 'time' | 'key'>

export type EventsQuestion = Bound & {
  readonly pair: string
  readonly activity?: Activity | undefined
  readonly before: EventPlace | undefined
  readonly limit: number
}

/** For all queries of a page together. */
const MAX_SECONDS = 5
const MIN_SECONDS = 1
const MAX_TIME = 2 ** 32 - 1
const WEEK_SECONDS = 7 * 86_400
/** Sorts after every event of a block. */
const LAST_KEY: EventPlace['key'] = { block: Number.MAX_SAFE_INTEGER, tx: MAX_TIME, log: MAX_TIME }

export function readEvents(ask: Ask, file: 'trades' | 'liquidity', question: EventsQuestion): Promise<Row[]> {
  const { chain, upTo, pair, activity, before, limit: wanted } = question
  const seconds = countDown()
  const to = before?.time ?? MAX_TIME
  return readLatestVersions({
    wanted,
    to,
    ...spansOf(0, to, activity),
    isSameKey: (a, b) =>
      a['log'] === b['log'] && a['tx'] === b['tx'] && a['block'] === b['block'] && a['time'] === b['time'],
    ask: (span) => {
      const bound = span.to === to ? before : undefined
      const place = span.before === undefined ? bound : eventRefOf(span.before)
      const { time, key } = place ?? { time: span.to, key: LAST_KEY }
      const params = {
        ...{ chain, up_to: upTo, pair, from: span.from, limit: span.limit },
        ...{ before_time: time, before_block: key.block, before_tx: key.tx, before_log: key.log },
      }
      return ask(file, { params, maxRows: span.limit, maxSeconds: seconds() })
    },
  })
}

export function readCandles(ask: Ask, question: CandlesQuestion): Promise<Row[]> {
  const { chain, upTo, pair, interval, activity, from, to, limit: wanted } = question
  const seconds = countDown()
  return readLatestVersions({
    wanted,
    to,
    ...spansOf(from, to, activity),
    isSameKey: (a, b) => a['start'] === b['start'],
    ask: (span) => {
      const last = span.before === undefined ? span.to : number(span.before, 'start') - 1
      const params = { chain, up_to: upTo, pair, interval, from: span.from, to: last, limit: span.limit }
      return ask('candles', { params, maxRows: span.limit, maxSeconds: seconds() })
    },
  })
}

/** The lower bound of the read and the start of its first span. Without a hint there is only one span. */
function spansOf(from: number, to: number, activity: Activity | undefined) {
  // A week before the first trade, because its longest candle may start there.
  const first = Math.max(from, (activity?.first ?? 0) - WEEK_SECONDS)
  const last = Math.min(to, activity?.last ?? MAX_TIME)
  return { from: first, firstFrom: last === MAX_TIME ? first : Math.max(first, likelyMonth(last)) }
}

/** Time left for the next query of a page. */
function countDown(): () => number {
  const end = performance.now() + MAX_SECONDS * 1_000
  return () => {
    const left = (end - performance.now()) / 1_000
    if (left <= 0) throw new QueryTimeout('ClickHouse took too long to read a page')
    return Math.max(MIN_SECONDS, left)
  }
}
