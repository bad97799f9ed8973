import type { ChainHead } from '../../../domain/chain-head.ts'
import type { Candle, EventRef, LiquidityEvent, MainPairSwitch, Trade } from '../../../domain/change.ts'
import type { Interval } from '../../../domain/interval.ts'
import type { TermKind } from '../../../domain/search-text.ts'
import type { LatestPage, Versioned } from '../../versioned.ts'
import { type ClickhouseOptions, connectClickhouse } from '../connect.ts'
import { type Ask, createAsk } from './ask.ts'
import { type LatestQuestion, readLatest } from './latest.ts'
import { readMarker } from './marker.ts'
import { candleOf, eventRefOf, liquidityOf, number, type Row, switchOf, text, tradeOf } from './records.ts'
import { type Holder, type HoldersQuestion, readTopHolders } from './top-holders.ts'

/**
 * Up to which version to read. Rows above the marker belong to a batch that is not written whole; everything up to
 * the marker is there, and so is everything up to the hot store's head, which follows the rows.
 */
type Bound = { readonly chain: string; readonly upTo: number }

export type CandlesQuestion = Bound & {
  readonly pair: string
  readonly interval: Interval
  /** Starts from and to these, both included. */
  readonly from: number
  readonly to: number
  readonly limit: number
}

/** An event's place: who has read a page asks for what comes before its last event. */
export type EventPlace = Pick<EventRef, 'time' | 'key'>

export type EventsQuestion = Bound & {
  readonly pair: string
  readonly before: EventPlace | undefined
  readonly limit: number
}

export type SinceQuestion = Bound & {
  readonly pair: string
  /** Only what has a newer version than this. */
  readonly since: number
  readonly after: EventPlace
  readonly limit: number
}

/** Without a record it was removed. */
export type EventVersion<T> = {
  readonly seq: number
  readonly ref: EventRef
  readonly record: T | undefined
}

export type SwitchesQuestion = Bound & { readonly token: string; readonly limit: number }

export type MatchesQuestion = {
  readonly chains: readonly string[]
  /** As `skeletonOf` makes it. */
  readonly skeleton: string
  /** Beside symbols names are looked through up to this kind. */
  readonly lastKind: TermKind
  readonly limit: number
}

/** What ClickHouse knows, newest first. */
export type HistoryReader = {
  marker(chain: string): Promise<ChainHead | undefined>
  candles(question: CandlesQuestion): Promise<Versioned<Candle>[]>
  trades(question: EventsQuestion): Promise<Versioned<Trade>[]>
  liquidity(question: EventsQuestion): Promise<Versioned<LiquidityEvent>[]>
  /** Oldest first. */
  tradesSince(question: SinceQuestion): Promise<EventVersion<Trade>[]>
  liquiditySince(question: SinceQuestion): Promise<EventVersion<LiquidityEvent>[]>
  switches(question: SwitchesQuestion): Promise<Versioned<MainPairSwitch>[]>
  /** Tokens that are called something like a text, and those that were: the best matches, of them those that stand highest. */
  tokenMatches(question: MatchesQuestion): Promise<{ chain: string; address: string }[]>
  /** Largest first. */
  topHolders(question: HoldersQuestion): Promise<Holder[]>
  /** The newest version of every document of a chain, and of each series of candles the newest few. */
  latest(question: LatestQuestion): AsyncGenerator<LatestPage, void, undefined>
  close(): Promise<void>
}

const MAX_SECONDS = 5
/** Whoever types the next letter does not wait for the last one. */
const MAX_SEARCH_SECONDS = 2
/** After everything there is. */
const NO_PLACE: EventPlace = {
  time: 2 ** 32 - 1,
  key: { block: Number.MAX_SAFE_INTEGER, tx: 2 ** 32 - 1, log: 2 ** 32 - 1 },
}

export function openHistoryReader(options: ClickhouseOptions): HistoryReader {
  const client = connectClickhouse(options)
  const ask = createAsk(client)
  return {
    marker: (chain) => readMarker(ask, chain),
    candles: async ({ chain, upTo, pair, interval, from, to, limit }) => {
      const params = { chain, up_to: upTo, pair, interval, from, to, limit }
      return versions(await ask('candles', { params, maxRows: limit, maxSeconds: MAX_SECONDS }), candleOf)
    },
    trades: async (question) => versions(await readEvents(ask, 'trades', question), tradeOf),
    liquidity: async (question) => versions(await readEvents(ask, 'liquidity', question), liquidityOf),
    tradesSince: (question) => readSince(ask, 'trades-since', question, tradeOf),
    liquiditySince: (question) => readSince(ask, 'liquidity-since', question, liquidityOf),
    switches: async ({ chain, upTo, token, limit }) => {
      const params = { chain, up_to: upTo, token, limit }
      return versions(await ask('switches', { params, maxRows: limit, maxSeconds: MAX_SECONDS }), switchOf)
    },
    tokenMatches: async ({ chains, skeleton, lastKind, limit }) => {
      const params = { chains: [...chains], skeleton, last_kind: lastKind, limit }
      const rows = await ask('token-matches', { params, maxRows: limit, maxSeconds: MAX_SEARCH_SECONDS })
      return rows.map((row) => ({ chain: text(row, 'chain'), address: text(row, 'address') }))
    },
    topHolders: (question) => readTopHolders(ask, question),
    latest: (question) => readLatest(ask, question),
    close: () => client.close(),
  }
}

function versions<T>(rows: readonly Row[], read: (row: Row) => T): Versioned<T>[] {
  return rows.map((row) => ({ seq: number(row, 'seq'), record: read(row) }))
}

function readEvents(ask: Ask, file: 'trades' | 'liquidity', question: EventsQuestion): Promise<Row[]> {
  const { chain, upTo, pair, limit, before = NO_PLACE } = question
  const params = {
    chain,
    up_to: upTo,
    pair,
    before_time: before.time,
    before_block: before.key.block,
    before_tx: before.key.tx,
    before_log: before.key.log,
    limit,
  }
  return ask(file, { params, maxRows: limit, maxSeconds: MAX_SECONDS })
}

async function readSince<T>(
  ask: Ask,
  file: 'trades-since' | 'liquidity-since',
  { chain, upTo, pair, since, after, limit }: SinceQuestion,
  read: (row: Row) => T,
): Promise<EventVersion<T>[]> {
  const params = {
    ...{ chain, up_to: upTo, pair, since, limit },
    ...{
      after_time: after.time,
      after_block: after.key.block,
      after_tx: after.key.tx,
      after_log: after.key.log,
    },
  }
  const rows = await ask(file, { params, maxRows: limit, maxSeconds: MAX_SECONDS })
  return rows.map((row) => ({
    seq: number(row, 'seq'),
    ref: eventRefOf(row),
    record: number(row, 'is_deleted') === 1 ? undefined : read(row),
  }))
}
