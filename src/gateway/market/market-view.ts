import type { Candle, Pair, Token, Windows } from '../../domain/change.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import type { ChainAddress } from '../../domain/ids.ts'
import type { HistoryReader } from '../../store/clickhouse/read/history-reader.ts'
import type { DocumentReads, TokenRank, WindowsDocumentRef } from '../../store/document-reads.ts'
import type { HotStore } from '../../store/redis/hot-store.ts'
import type { SeriesRef } from '../../store/redis/keys.ts'
import type { StoreName } from '../../store/store-names.ts'
import type {
  BlockHead,
  ChangeFeedFollower,
  FeedPosition,
  FollowHooks,
  GenerationFeed,
} from './change-feed-follower.ts'
import type { SwitchOptions } from './generation-switch.ts'
import { isUnavailable, type JoinedRead, readJoined } from './joined-reads.ts'
import { byTvl, newest, newestCandle, type PairView } from './newest.ts'
import { createNewestCandles, newestCandleOf } from './newest-candles.ts'
import type { Overlay } from './overlay.ts'
import type { Version } from './overlay-documents.ts'
import { ServedFeeds, type ServedFeedsOptions } from './served-feeds.ts'

/** Reads of REST and WebSocket; they are never behind what was handed to `onChangeSet`. */
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
  | 'readEnd'
  | 'chainsBehind'
  | 'isAvailable'
  | 'generation'
  | 'switches'
>

export type Recent = {
  readonly upTo: number
  readonly end: FeedPosition
  readonly overlay: Overlay
  /** The commit point that reads last went on to, by its `seq`: what came up to there may never have been in the overlay. */
  readonly adopted: number
  /** Whether a store has everything up to `upTo`. */
  isWhole(store: StoreName): boolean
  /** Rejects if ClickHouse does not have everything up to `upTo`. */
  mustHaveHistory(): Promise<void>
}

type HotDocuments = Pick<HotStore, 'pairs' | 'tokens' | 'windows' | 'candles' | 'topPairs' | 'topTokens'>

export type MarketViewOptions = ServedFeedsOptions & {
  readonly store: HotDocuments
  /** Read while Redis cannot be. */
  readonly history: Pick<HistoryReader, 'candles'> & { readonly documents: Omit<DocumentReads, 'contracts'> }
}

/**
 * The newest documents of all chains: those of Redis, or of ClickHouse where Redis cannot be read, overlaid with those
 * change sets that the writer has not put there yet.
 */
export class MarketView {
  readonly #options: MarketViewOptions
  readonly #feeds: ServedFeeds
  readonly #hotCandles: HotStore['candles']

  constructor(options: MarketViewOptions) {
    this.#options = options
    this.#feeds = new ServedFeeds(options)
    this.#hotCandles = createNewestCandles({
      hot: options.store,
      history: options.history,
      isWhole: (chain) => this.#chain(chain).reads.isWhole('clickhouse'),
    })
  }

  /** Follows one chain until the signal aborts; rejects when it cannot be followed any further. Called again, it goes on. */
  follow(name: string, hooks: Omit<FollowHooks, 'onDropped'>): Promise<void> {
    return this.#feeds.follow(name, hooks)
  }

  /** Serves another generation of a chain as soon as it can take the place of the served one. */
  switchTo(name: string, feed: GenerationFeed, options: SwitchOptions): Promise<void> {
    return this.#feeds.switchTo(name, feed, options)
  }

  /** The number of the generation that reads of the chain answer from. */
  generation(chain: string): number {
    return this.#chain(chain).generation.number
  }

  /** Counts the times that another generation of a chain was served: what was read before does not fit to reads after it. */
  get switches(): number {
    return this.#feeds.switches
  }

  /** Whether reads of the chain are answered; if not, they fail with `chain_unavailable`. */
  isAvailable(chain: string): boolean {
    return this.#chain(chain).isAvailable
  }

  /** Chains that have not reached, even once, the end that their log had when the view was started. */
  get chainsBehind(): string[] {
    return [...this.#feeds.names].filter((name) => !this.#chain(name).isCaughtUp)
  }

  head(chain: string): BlockHead | undefined {
    return this.#feeds.find(chain)?.reads.head
  }

  /** The end of the feed: the last set given to `onChangeSet`. */
  end(chain: string): FeedPosition {
    return this.#chain(chain).reads.feed
  }

  /** As of where reads answer: the same, unless the feed is behind the stores. */
  readEnd(chain: string): FeedPosition {
    return this.#chain(chain).reads.end
  }

  /** Resolves once reads answer as of this change set, of which a store holds a document. */
  reach(chain: string, seq: number, store: StoreName): Promise<void> {
    return this.#chain(chain).reads.reach(seq, store)
  }

  overlayBytes(chain: string): number {
    return this.#chain(chain).bytes
  }

  overlaySize(chain: string): number {
    return this.#chain(chain).overlaySize
  }

  pairs(refs: readonly ChainAddress[]): Promise<Version<Pair>[]> {
    const { store, history } = this.#options
    return this.#read(refs, {
      fromRedis: () => store.pairs(refs),
      fromClickhouse: () => history.documents.pairs(refs),
      look: ({ overlay }, { address }) => overlay.pair(address),
      join: newest,
    })
  }

  tokens(refs: readonly ChainAddress[]): Promise<Version<Token>[]> {
    const { store, history } = this.#options
    return this.#read(refs, {
      fromRedis: () => store.tokens(refs),
      fromClickhouse: () => history.documents.tokens(refs),
      look: ({ overlay }, { address }) => overlay.token(address),
      join: newest,
    })
  }

  windows(refs: readonly WindowsDocumentRef[]): Promise<Version<Windows>[]> {
    const { store, history } = this.#options
    return this.#read(refs, {
      fromRedis: () => store.windows(refs),
      fromClickhouse: () => history.documents.windows(refs),
      look: ({ overlay }, { kind, address }) =>
        kind === 'pair' ? overlay.pairWindows(address) : overlay.tokenWindows(address),
      join: newest,
    })
  }

  /** The newest candle of each series. */
  candles(refs: readonly SeriesRef[]): Promise<Version<Candle>[]> {
    const { history } = this.#options
    return this.#read(refs, {
      fromRedis: () => this.#hotCandles(refs),
      fromClickhouse: () => Promise.all(refs.map((ref) => newestCandleOf(ref, history.documents, history))),
      look: ({ overlay }, { pair, interval }) => overlay.candles(pair, interval),
      join: (seen, before, stored) =>
        newestCandle(before === undefined ? seen : new Map([...before, ...seen]), stored),
    })
  }

  /** The main pair of each token, if it has one. */
  async mainPairs(refs: readonly ChainAddress[]): Promise<Version<Pair>[]> {
    for (;;) {
      const { revision } = this.#feeds
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
      if (switched || revision !== this.#feeds.revision) continue
      return tokens.map((token) =>
        token.record?.mainPair === undefined
          ? { seq: token.seq, record: undefined }
          : (pairs.next().value ?? { seq: token.seq, record: undefined }),
      )
    }
  }

  /** The pairs of a token with the highest TVL, at a tie with the larger volume. */
  async topPairs(ref: ChainAddress, limit: number): Promise<PairView[]> {
    const { chain, address } = ref
    const { overlay } = this.#available(chain)
    const overlaid = [...overlay.pairsOfToken(address)]
    // Whatever the overlay knows better may have to leave the stored ranking: ask for that many more.
    const count = limit + overlaid.length + overlay.removedPairCount
    const stored = await this.#ranking(chain, (reads) => reads.topPairs(chain, address, count))
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
  async ranked(chain: string, by: TokenRank, limit: number): Promise<string[]> {
    return this.#ranking(chain, (reads) => reads.topTokens(chain, by, limit))
  }

  /**
   * What history can be joined with: it has everything up to `upTo`, the overlay everything since, up to `end`.
   * The overlay drops entries while history is read, so the caller has to remember what it read from it before.
   */
  recent(name: string): Recent {
    const { dropped: upTo, overlay, reads } = this.#available(name)
    return {
      ...{ upTo, overlay, end: reads.end, adopted: reads.adopted },
      isWhole: (store) => reads.isWhole(store),
      mustHaveHistory: () => reads.mustHaveHistory(),
    }
  }

  /** As one of the stores has it. */
  async #ranking(
    name: string,
    read: (documents: Pick<DocumentReads, 'topPairs' | 'topTokens'>) => Promise<string[]>,
  ): Promise<string[]> {
    const { reads } = this.#available(name)
    const { store, history } = this.#options
    if (reads.isWhole('redis')) {
      try {
        return await read(store)
      } catch (error) {
        if (!isUnavailable(error)) throw error
      }
    }
    await reads.mustHaveHistory()
    return read(history.documents)
  }

  #read<Ref extends { readonly chain: string }, T, Seen>(
    refs: readonly Ref[],
    read: JoinedRead<Ref, T, Seen>,
  ): Promise<Version<T>[]> {
    const chainOf = ({ chain }: Ref): ChangeFeedFollower => this.#available(chain)
    return readJoined(refs, read, { chainOf, revision: () => this.#feeds.revision })
  }

  #available(name: string): ChangeFeedFollower {
    const chain = this.#chain(name)
    if (chain.isAvailable) return chain
    throw new ChaintapeError('chain_unavailable', `chain ${name} is unavailable; retry after the given delay`)
  }

  #chain(name: string): ChangeFeedFollower {
    return this.#feeds.of(name)
  }
}
