import type { ChainHead } from '../../../domain/chain-head.ts'
import type { Candle, EventRef, LiquidityEvent, MainPairSwitch, Trade } from '../../../domain/change.ts'
import type { TermKind } from '../../../domain/search-text.ts'
import type { DocumentReads } from '../../document-reads.ts'
import type { LatestPage, Versioned } from '../../versioned.ts'
import { type ClickhouseOptions, connectClickhouse } from '../connect.ts'
import { type Ask, createAsk } from './ask.ts'
import { createDocuments } from './documents.ts'
import { failFast } from './fail-fast.ts'
import { type LatestQuestion, readLatest } from './latest.ts'
import { readMarker } from './marker.ts'
import {
  type Activity,
  type Bound,
  type CandlesQuestion,
  type EventPlace,
  type EventsQuestion,
  readCandles,
  readEvents,
} from './pages.ts'
import { candleOf, eventRefOf, liquidityOf, number, type Row, switchOf, text, tradeOf } from './records.ts'
import { type Holder, type HoldersQuestion, readTopHolders } from './top-holders.ts'

export type { Activity, CandlesQuestion, EventPlace, EventsQuestion }

export type SinceQuestion = Bound & {
  readonly pair: string
  /** Only events with a later version than this. */
  readonly since: number
  readonly after: EventPlace
  readonly limit: number
}

/** Without a record, the event was removed. */
export type EventVersion<T> = {
  readonly seq: number
  readonly ref: EventRef
  readonly record: T | undefined
}

export type SwitchesQuestion = Bound & { readonly token: string; readonly limit: number }

export type MatchesQuestion = {
  readonly chains: readonly string[]
  /** As returned by `skeletonOf`. */
  readonly skeleton: string
  /** Symbols always match; names match up to this kind. */
  readonly lastKind: TermKind
  readonly limit: number
}

/** Reads ClickHouse, latest first. */
export type HistoryReader = {
  marker(chain: string): Promise<ChainHead | undefined>
  /** How often the server has found corrupted data since it was started. */
  corruptions(): Promise<number>
  /** The copy of a chain's entry in GENERATIONS. */
  generations(chain: string): Promise<string | undefined>
  candles(question: CandlesQuestion): Promise<Versioned<Candle>[]>
  trades(question: EventsQuestion): Promise<Versioned<Trade>[]>
  liquidity(question: EventsQuestion): Promise<Versioned<LiquidityEvent>[]>
  /** Oldest first. */
  tradesSince(question: SinceQuestion): Promise<EventVersion<Trade>[]>
  liquiditySince(question: SinceQuestion): Promise<EventVersion<LiquidityEvent>[]>
  switches(question: SwitchesQuestion): Promise<Versioned<MainPairSwitch>[]>
  /** Tokens whose current or former names match a text: the best matches, highest ranked first. */
  tokenMatches(question: MatchesQuestion): Promise<{ chain: string; address: string }[]>
  /** Largest first. */
  topHolders(question: HoldersQuestion): Promise<Holder[]>
  /** Documents by id, as far as they are written. */
  readonly documents: DocumentReads
  /** The latest version of every document of a chain, and the latest few candles of each series. */
  latest(question: LatestQuestion): AsyncGenerator<LatestPage, void, undefined>
  close(): Promise<void>
}

const MAX_SECONDS = 5
/** Short: a search-as-you-type client has sent the next keyword by then. */
const MAX_SEARCH_SECONDS = 2

/** With `onAway`, reads fail at once while `marker` gets no response; it is called when that changes. */
export function openHistoryReader(
  options: ClickhouseOptions,
  onAway?: (isAway: boolean, reason: unknown) => void,
): HistoryReader {
  const client = connectClickhouse(options)
  const patientAsk = createAsk(client)
  const { ask, checked } = failFast(patientAsk, onAway)
  return {
    marker: (chain) => checked(() => readMarker(patientAsk, chain)),
    corruptions: async () => {
      const [row] = await ask('corruptions', { params: {}, maxRows: 1, maxSeconds: MAX_SECONDS })
      return row === undefined ? 0 : number(row, 'count')
    },
    generations: async (chain) => {
      const [row] = await ask('generations', { params: { chain }, maxRows: 1, maxSeconds: MAX_SECONDS })
      return row && text(row, 'entry')
    },
    candles: async (question) => versions(await readCandles(ask, question), candleOf),
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
    documents: createDocuments(ask),
    latest: (question) => readLatest(ask, question),
    close: () => client.close(),
  }
}

function versions<T>(rows: readonly Row[], read: (row: Row) => T): Versioned<T>[] {
  return rows.map((row) => ({ seq: number(row, 'seq'), record: read(row) }))
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
