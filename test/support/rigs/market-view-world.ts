import { setImmediate as turn } from 'node:timers/promises'
import { pino } from 'pino'
import type { ChainHead } from '../../../src/domain/chain-head.ts'
import type { Candle, ChangeSet, Pair, Token, Windows } from '../../../src/domain/change.ts'
import { ChaintapeError } from '../../../src/domain/errors.ts'
import { MarketView } from '../../../src/gateway/market/market-view.ts'
import type { DocumentReads } from '../../../src/store/document-reads.ts'
import type { Versioned } from '../../../src/store/redis/hot-store.ts'
import type { StoreName } from '../../../src/store/store-names.ts'
import { encodeChangeSet } from '../../../src/wire/change-codec.ts'
import { MEME, MEME_WETH, samplePair, sampleSet } from '../builders/market-samples.ts'

export const REF = { chain: 'eth', address: MEME_WETH }
export const TOKEN = { chain: 'eth', address: MEME }
export const SERIES = { chain: 'eth', pair: MEME_WETH, interval: 'k1' } as const

/** A market view over a log and stores in memory, which the test controls. */
export class MarketViewWorld {
  readonly controller = new AbortController()
  readonly received: number[] = []
  readonly stored = {
    pairs: new Map<string, Versioned<Pair>>(),
    tokens: new Map<string, Versioned<Token>>(),
    windows: new Map<string, Versioned<Windows>>(),
    candle: undefined as Versioned<Candle> | undefined,
    top: [] as string[],
    head: undefined as ChainHead | undefined,
    /** The marker of ClickHouse, if it differs from the head in Redis. */
    marker: undefined as ChainHead | undefined,
  }
  /** Stores that are unavailable. */
  readonly away = new Set<StoreName>()
  readonly answeredBy: StoreName[] = []
  readonly topLimits: number[] = []
  /** Runs during a read: after the store was read, before its response arrives. */
  meanwhile: (() => Promise<void>) | undefined
  readonly view: MarketView
  readonly #bodies: Uint8Array[] = []
  #wake: () => void = () => undefined
  readonly #running: Promise<void>

  constructor(
    sets: readonly ChangeSet[] = [],
    head?: ChainHead,
    maxBytes = 1_000_000_000,
    isHistoryEmpty = false,
  ) {
    this.#bodies.push(...sets.map(encodeChangeSet))
    this.stored.head = head
    const answer = async <T>(store: StoreName, values: T): Promise<T> => {
      if (this.away.has(store)) throw new ChaintapeError('store_unavailable', `${store} does not answer`)
      this.answeredBy.push(store)
      const { meanwhile } = this
      this.meanwhile = undefined
      await meanwhile?.()
      return values
    }
    const log = {
      epoch: 'e',
      read: (options: { after: { sequence: number } | undefined }) =>
        this.#read(options.after?.sequence ?? 0),
      locate: async () => 'held',
      bytesAfter: async () => 0,
      lastMessage: async () => {
        const body = this.#bodies.at(-1)
        return body === undefined ? undefined : { body, position: this.#position(this.#bodies.length) }
      },
    }
    const { stored } = this
    const readsOf = (store: StoreName): Omit<DocumentReads, 'contracts'> => ({
      pairs: (refs) =>
        answer(
          store,
          refs.map(({ address }) => stored.pairs.get(address)),
        ),
      tokens: (refs) =>
        answer(
          store,
          refs.map(({ address }) => stored.tokens.get(address)),
        ),
      windows: (refs) =>
        answer(
          store,
          refs.map(({ kind, address }) => stored.windows.get(`${kind} ${address}`)),
        ),
      topTokens: (_chain, _by, limit) => answer(store, stored.top.slice(0, limit)),
      topPairs: (_chain, _token, limit) => {
        this.topLimits.push(limit)
        return answer(store, stored.top.slice(0, limit))
      },
    })
    this.view = new MarketView({
      logs: new Map([['eth', log as never]]),
      heads: {
        redis: async () => stored.head,
        clickhouse: async () => stored.marker ?? (isHistoryEmpty ? undefined : stored.head),
      },
      store: {
        ...readsOf('redis'),
        candles: (refs) =>
          answer(
            'redis',
            refs.map(() => stored.candle),
          ),
      },
      history: {
        documents: readsOf('clickhouse'),
        candles: () => answer('clickhouse', stored.candle === undefined ? [] : [stored.candle]),
      },
      onChangeSet: ({ set }) => this.received.push(set.seq),
      logger: pino({ level: 'silent' }),
      pruneMs: 1,
      maxBytes,
    })
    this.#running = this.view.follow('eth', {
      signal: this.controller.signal,
      onStarted: () => undefined,
      onCaughtUp: () => undefined,
    })
  }

  async append(...sets: ChangeSet[]): Promise<void> {
    const expected = this.received.length + sets.length
    this.#bodies.push(...sets.map(encodeChangeSet))
    this.#wake()
    while (this.received.length < expected) await turn()
  }

  /** Moves the head of the stores, and waits until the overlay is pruned. */
  async advance(seq: number): Promise<void> {
    const before = this.view.overlaySize('eth')
    this.stored.head = headAt(seq)
    while (this.view.overlaySize('eth') === before) await turn()
  }

  async stop(): Promise<void> {
    this.controller.abort()
    this.#wake()
    await this.#running
  }

  async *#read(after: number) {
    for (let seq = after + 1; ; seq++) {
      while (this.#bodies.length < seq && !this.controller.signal.aborted) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
      if (this.controller.signal.aborted) return
      const body = Buffer.from(this.#bodies[seq - 1] as Uint8Array)
      yield { body, position: this.#position(seq) }
      // The log may reuse the buffer of a message.
      body.fill(0)
    }
  }

  #position(seq: number) {
    return { epoch: 'e', sequence: seq, link: 0 }
  }
}

export function headAt(seq: number): ChainHead {
  const position = { epoch: 'e', sequence: seq, link: 0 }
  return {
    chain: 'eth',
    seq,
    number: 100 + seq,
    hash: '0x',
    time: 1_700_000_000 + seq,
    finalNumber: 0,
    position,
  }
}

export async function withMarketView(
  run: (world: MarketViewWorld) => Promise<void>,
  ...args: ConstructorParameters<typeof MarketViewWorld>
) {
  const world = new MarketViewWorld(...args)
  try {
    await run(world)
  } finally {
    await world.stop()
  }
}

/** One change set, which both stores have. */
export const STORED = [[sampleSet(1, [])], headAt(1)] as const

export const pairAt = (updatedAt: number, overrides: Partial<Pair> = {}) =>
  samplePair({ updatedAt, ...overrides })
