import { setTimeout as sleep } from 'node:timers/promises'
import type { Candle, ChangeSet, Pair, Token, Windows } from '../domain/change.ts'
import { ChaintapeError } from '../domain/errors.ts'
import type { ChainId } from '../domain/ids.ts'
import type { Interval } from '../domain/interval.ts'
import type { LogPosition } from '../domain/log-position.ts'
import { decodeChangeSet } from '../domain/wire/change-codec.ts'
import { FIRST_LINK } from '../domain/wire/frame.ts'
import type { Logger } from '../lib/logger.ts'
import type { ChainLog, LogMessage } from '../log/chain-log.ts'
import type { HotStore, TokenRank, Versioned } from '../store/redis/hot-store.ts'
import { byTvl, newer, newestCandle, type PairView } from './newest.ts'
import { Overlay, type Version } from './overlay.ts'

/** A document (or its absence) with all change sets up to `seq` taken in. */
export type Reading<T> = { readonly seq: number; readonly record: T | undefined }

export type CandleSeries = { readonly chain: string; readonly pair: string; readonly interval: Interval }

export type WindowsOf = ChainId & { readonly kind: 'pair' | 'token' }

export type BlockHead = { readonly number: number; readonly time: number; readonly finalNumber: number }

/** What REST and WebSocket read; an answer is never behind what was handed to `onChangeSet`. */
export type MarketReader = Pick<
  MarketView,
  | 'pairs'
  | 'tokens'
  | 'windows'
  | 'candles'
  | 'mainPairs'
  | 'topPairs'
  | 'ranked'
  | 'head'
  | 'end'
  | 'chainsBehind'
>

type ChainView = {
  readonly log: Pick<ChainLog, 'epoch' | 'read' | 'lastMessage'>
  readonly overlay: Overlay
  applied: number
  position: LogPosition
  /** Up to this version nothing is in the overlay any more. */
  dropped: number
  head: BlockHead | undefined
  isCaughtUp: boolean
}

/** Where a chain stands in its log, the version of the last set, and the time of the head it made; 0 before the first. */
export type ChainEnd = { readonly after: LogPosition; readonly version: number; readonly time: number }

export type ToldSet = {
  readonly set: ChangeSet
  /** What stands before it in the log, and its message. */
  readonly origin: ChainEnd
  readonly message: LogMessage
}

export type MarketViewOptions = {
  readonly logs: ReadonlyMap<string, ChainView['log']>
  readonly store: Pick<
    HotStore,
    'head' | 'pairs' | 'tokens' | 'windows' | 'candles' | 'topPairs' | 'topTokens'
  >
  /** Called with every set, in order, once reads see it. */
  readonly onChangeSet: (told: ToldSet) => void
  readonly logger: Logger
  readonly signal: AbortSignal
  readonly pruneMs?: number
}

/** A few milliseconds of work; with the pause after it, in which others can read, still more than comes in meanwhile. */
const CHANGES_DROPPED_AT_ONCE = 10_000
const DROP_PAUSE_MS = 50

/**
 * The newest documents of all chains: the hot store's, overlaid with those change sets that the writer has
 * not put there yet.
 */
export class MarketView {
  readonly #options: MarketViewOptions
  readonly #chains: ReadonlyMap<string, ChainView>
  readonly #started = Promise.withResolvers<void>()
  #unstarted: number
  /** Counts the times anything left an overlay. */
  #generation = 0

  constructor(options: MarketViewOptions) {
    this.#options = options
    this.#unstarted = options.logs.size
    this.#chains = new Map(
      [...options.logs].map(([chain, log]) => [
        chain,
        {
          ...{ log, overlay: new Overlay(), head: undefined, isCaughtUp: false },
          ...{ applied: 0, dropped: 0, position: { epoch: log.epoch, seq: 0, link: FIRST_LINK } },
        },
      ]),
    )
  }

  /** Resolves once it is known where each chain's documents stand: before that there is no end to speak of. */
  get started(): Promise<void> {
    return this.#started.promise
  }

  /** Follows all chains until the signal aborts; rejects when one cannot be followed any further. */
  async run(): Promise<void> {
    const loops = [...this.#chains].flatMap(([name, chain]) => [
      this.#follow(name, chain),
      this.#prune(name, chain),
    ])
    await Promise.all(loops)
  }

  /** Chains that have not reached, even once, the end that their log had when the view was started. */
  get chainsBehind(): string[] {
    return [...this.#chains].filter(([, chain]) => !chain.isCaughtUp).map(([name]) => name)
  }

  head(chain: string): BlockHead | undefined {
    return this.#chains.get(chain)?.head
  }

  end(chain: string): ChainEnd {
    return endOf(this.#chain(chain))
  }

  overlaySize(chain: string): number {
    return this.#chain(chain).overlay.size
  }

  pairs(refs: readonly ChainId[]): Promise<Reading<Pair>[]> {
    return this.#read(
      refs,
      () => this.#options.store.pairs([...refs]),
      (chain, ref, stored) => newer(chain.overlay.pair(ref.address), stored),
    )
  }

  tokens(refs: readonly ChainId[]): Promise<Reading<Token>[]> {
    return this.#read(
      refs,
      () => this.#options.store.tokens([...refs]),
      (chain, ref, stored) => newer(chain.overlay.token(ref.address), stored),
    )
  }

  windows(refs: readonly WindowsOf[]): Promise<Reading<Windows>[]> {
    return this.#read(
      refs,
      () => this.#options.store.windows([...refs]),
      ({ overlay }, { kind, address }, stored) =>
        newer(kind === 'pair' ? overlay.pairWindows(address) : overlay.tokenWindows(address), stored),
    )
  }

  /** The newest candle of each series. */
  candles(refs: readonly CandleSeries[]): Promise<Reading<Candle>[]> {
    return this.#read(
      refs,
      () => this.#options.store.candles([...refs]),
      (chain, ref, stored) => newestCandle(chain.overlay.candles(ref.pair, ref.interval), stored),
    )
  }

  /** The main pair of each token, if it has one. */
  async mainPairs(refs: readonly ChainId[]): Promise<Reading<Pair>[]> {
    for (;;) {
      const generation = this.#generation
      const tokens = await this.tokens(refs)
      const pairRefs = refs.flatMap(({ chain }, index) => {
        const address = tokens[index]?.record?.mainPair
        return address === undefined ? [] : [{ chain, address }]
      })
      const pairs = (await this.pairs(pairRefs)).values()
      // A token that switched between the two reads would be answered with the pair it has left.
      const switched = refs.some(({ chain, address }, index) => {
        const now = this.#chain(chain).overlay.token(address)
        const seen = tokens[index]
        return (
          now !== undefined && now.seq > (seen?.seq ?? 0) && now.record?.mainPair !== seen?.record?.mainPair
        )
      })
      if (switched || generation !== this.#generation) continue
      return tokens.map((token) =>
        token.record?.mainPair === undefined
          ? { seq: token.seq, record: undefined }
          : (pairs.next().value ?? { seq: token.seq, record: undefined }),
      )
    }
  }

  /** The pairs of a token with the highest TVL, at a tie with the larger volume. */
  async topPairs(ref: ChainId, limit: number): Promise<PairView[]> {
    const { chain, address } = ref
    const { overlay } = this.#chain(chain)
    const overlaid = [...overlay.pairsOfToken(address)]
    // Whatever the overlay knows better may have to leave the stored ranking: ask for that many more.
    const count = limit + overlaid.length + overlay.removedPairCount
    const stored = await this.#options.store.topPairs(chain, address, count)
    const refs = [...new Set([...stored, ...overlaid])].map((pair) => ({ chain, address: pair }))
    const [pairs, windows] = await Promise.all([
      this.pairs(refs),
      this.windows(refs.map((pair) => ({ ...pair, kind: 'pair' as const }))),
    ])
    const views = pairs.flatMap(({ record }, index): PairView[] =>
      record === undefined ? [] : [{ pair: record, windows: windows[index]?.record }],
    )
    return views.sort(byTvl).slice(0, limit)
  }

  /** The addresses that lead a rank of tokens, highest first, as the writer last left it. */
  ranked(chain: string, by: TokenRank, limit: number): Promise<string[]> {
    return this.#options.store.topTokens(chain, by, limit)
  }

  /**
   * What history can be joined with: it has everything up to `upTo`, the overlay everything since, up to `applied`.
   * What leaves the overlay while history answers is gone from it, so whoever asks remembers it.
   */
  recent(chain: string): { readonly upTo: number; readonly applied: number; readonly overlay: Overlay } {
    const { dropped, applied, overlay } = this.#chain(chain)
    return { upTo: dropped, applied, overlay }
  }

  async #read<Ref extends { readonly chain: string }, T>(
    refs: readonly Ref[],
    fetch: () => Promise<(Versioned<T> | undefined)[]>,
    merge: (chain: ChainView, ref: Ref, stored: Versioned<T> | undefined) => Version<T> | undefined,
  ): Promise<Reading<T>[]> {
    if (refs.length === 0) return []
    for (;;) {
      const generation = this.#generation
      const stored = await fetch()
      // What left the overlay while the store was answering may be in neither of the two: ask again.
      if (generation !== this.#generation) continue
      return refs.map((ref, index) => {
        const chain = this.#chain(ref.chain)
        const found = merge(chain, ref, stored[index])
        return { seq: Math.max(chain.applied, found?.seq ?? 0), record: found?.record }
      })
    }
  }

  async #follow(name: string, chain: ChainView): Promise<void> {
    const { store, signal, onChangeSet } = this.#options
    const stored = await store.head(name)
    const end = (await chain.log.lastMessage())?.position.seq ?? 0
    if (stored !== undefined) {
      chain.applied = stored.seq
      chain.position = stored.position
      chain.dropped = stored.seq
      chain.head = { number: stored.number, time: stored.time, finalNumber: stored.finalNumber }
    }
    chain.isCaughtUp = (stored?.position.seq ?? 0) >= end
    if (--this.#unstarted === 0) this.#started.resolve()
    for await (const { body, position } of chain.log.read({ after: stored?.position, signal })) {
      const set = decodeChangeSet(body)
      const origin = endOf(chain)
      chain.overlay.apply(set)
      chain.applied = set.seq
      chain.position = position
      chain.head = { number: set.head.number, time: set.head.time, finalNumber: set.finalNumber }
      onChangeSet({ set, origin, message: { body, position } })
      if (position.seq >= end) chain.isCaughtUp = true
    }
  }

  async #prune(name: string, chain: ChainView): Promise<void> {
    const { store, signal, logger, pruneMs = 1_000 } = this.#options
    while (await pause(pruneMs, signal)) {
      try {
        const head = await store.head(name)
        if (head === undefined || head.position.epoch !== chain.log.epoch) continue
        await this.#drop(chain, head.seq)
      } catch (error) {
        if (!signal.aborted)
          logger.warn({ err: error, chain: name }, 'Could not read the head of the hot store')
      }
    }
  }

  /** A few at a time: whoever waits for a push, or reads while something is dropped, waits no longer than that. */
  async #drop(chain: ChainView, seq: number): Promise<void> {
    do {
      const dropped = chain.overlay.drop(seq, CHANGES_DROPPED_AT_ONCE)
      if (dropped === undefined) return
      chain.dropped = Math.min(dropped, chain.applied)
      this.#generation++
    } while (await pause(DROP_PAUSE_MS, this.#options.signal))
  }

  #chain(name: string): ChainView {
    const chain = this.#chains.get(name)
    if (chain === undefined) throw new ChaintapeError('internal', `chain ${name} is not followed`)
    return chain
  }
}

function endOf({ position, applied, head }: ChainView): ChainEnd {
  return { after: position, version: applied, time: head?.time ?? 0 }
}

/** False when the wait was ended by the signal. */
async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(ms, undefined, { signal })
    return true
  } catch (error) {
    if (!signal.aborted) throw error
    return false
  }
}
