import type { ChainHead } from '../../../domain/chain-head.ts'
import type { EventRef } from '../../../domain/change.ts'
import type { ChainAddress } from '../../../domain/ids.ts'
import { compareOrderKeys } from '../../../domain/order-key.ts'
import type { ChainLog } from '../../../log/chain-log.ts'
import type {
  EventPlace,
  EventVersion,
  HistoryReader,
} from '../../../store/clickhouse/read/history-reader.ts'
import { liquidityPush } from '../../shape/liquidity-transaction.ts'
import { swapPush } from '../../shape/swap-transaction.ts'
import type { ChainPlace } from '../cursor.ts'
import { revertPush } from '../fanout/set-pushes.ts'
import type { PushParts } from '../send/push-event.ts'

/** What history can be asked about: the events of one pair. */
export type EventSubject = { readonly topic: 'tx' | 'liq'; readonly pair: ChainAddress }

export type HistoryReplayOptions = {
  readonly history: Pick<HistoryReader, 'marker' | 'tradesSince' | 'liquiditySince'>
  readonly logs: { get(chain: string): Pick<ChainLog, 'holds'> | undefined }
  /** Days after which rows are dropped; undefined: never. */
  readonly retentionDays: { readonly tx: number | undefined; readonly liq: number | undefined }
  readonly now: () => number
  readonly pageRows?: number
}

/** Without a way to build it, it was taken back. */
type ReplayedEvent = {
  readonly seq: number
  readonly ref: EventRef
  readonly build: (() => object) | undefined
}

const DAY_SECONDS = 86_400
/** No fork reaches further back: what is newer than a change set happened after its time, less this. */
const DEEPEST_FORK_SECONDS = DAY_SECONDS
const PAGE_ROWS = 500

/** What a client missed that the log does not have any more: the events of a pair, from ClickHouse. */
export class HistoryReplay {
  readonly #options: HistoryReplayOptions

  constructor(options: HistoryReplayOptions) {
    this.#options = options
  }

  /** The head up to which history covers everything after a place, if it does; the log continues from there. */
  async reach({ topic, pair }: EventSubject, place: ChainPlace): Promise<ChainHead | undefined> {
    const { history, logs, retentionDays, now } = this.#options
    const days = retentionDays[topic]
    const oldest = days === undefined ? 0 : now() / 1_000 - days * DAY_SECONDS
    if (Math.max(0, place.time - DEEPEST_FORK_SECONDS) < oldest) return undefined
    const marker = await history.marker(pair.chain)
    // Versions of another log do not compare.
    if (marker === undefined || marker.position.epoch !== place.after.epoch) return undefined
    if (marker.seq < Math.max(place.seq, place.last?.upTo ?? 0)) return undefined
    return (await logs.get(pair.chain)?.holds(marker.position)) ? marker : undefined
  }

  /** The pushes that follow on a place, oldest first, in pages; `events` counts the rows a page was made from. */
  async *read(
    subject: EventSubject,
    place: ChainPlace,
    upTo: number,
    wantsReorgs: boolean,
  ): AsyncGenerator<{ readonly events: number; readonly pushes: PushParts[] }, void, undefined> {
    const { now, pageRows = PAGE_ROWS } = this.#options
    const { topic, pair } = subject
    const { last } = place
    const wasSent = ({ seq, ref }: ReplayedEvent): boolean =>
      last !== undefined && seq <= last.upTo && compareOrderKeys(ref.key, last.key) <= 0
    const time = Math.max(0, place.time - DEEPEST_FORK_SECONDS)
    let after: EventPlace | undefined = { time, key: { block: 0, tx: 0, log: 0 } }
    while (after !== undefined) {
      const rows: readonly ReplayedEvent[] = await this.#rows(subject, place.seq, upTo, after)
      after = rows.length < pageRows ? undefined : rows.at(-1)?.ref
      const pushes = rows
        .filter((row) => !wasSent(row) && (wantsReorgs || row.build !== undefined))
        .map(({ ref, build = () => revertPush(ref.pair, ref.key) }) => {
          const event = { time: ref.time, key: ref.key }
          const at = { chain: pair.chain, seq: upTo, origin: place, published: 0, event }
          return { topic, place: at, isState: false, sentTime: now(), build }
        })
      yield { events: rows.length, pushes }
    }
  }

  async #rows(
    { topic, pair: { chain, address } }: EventSubject,
    since: number,
    upTo: number,
    after: EventPlace,
  ): Promise<ReplayedEvent[]> {
    const { history, pageRows = PAGE_ROWS } = this.#options
    const question = { chain, pair: address, since, upTo, after, limit: pageRows }
    const eventsOf = <T>(
      rows: readonly EventVersion<T>[],
      push: (chain: string, record: T) => object,
    ): ReplayedEvent[] =>
      rows.map(({ seq, ref, record }) => ({ seq, ref, build: record && (() => push(chain, record)) }))
    return topic === 'tx'
      ? eventsOf(await history.tradesSince(question), swapPush)
      : eventsOf(await history.liquiditySince(question), liquidityPush)
  }
}
