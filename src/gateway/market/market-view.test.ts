import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { pino } from 'pino'
import {
  MEME,
  MEME_USDC,
  MEME_WETH,
  sampleCandle,
  samplePair,
  sampleSet,
  sampleToken,
  sampleWindows,
  value,
  WETH,
} from '../../../test/support/builders/market-samples.ts'
import type { ChainHead } from '../../domain/chain-head.ts'
import type { Candle, ChangeSet, Pair, Token, Windows } from '../../domain/change.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import type { DocumentReads } from '../../store/document-reads.ts'
import type { Versioned } from '../../store/redis/hot-store.ts'
import type { StoreName } from '../../store/store-names.ts'
import { encodeChangeSet } from '../../wire/change-codec.ts'
import { MarketView } from './market-view.ts'

const REF = { chain: 'eth', address: MEME_WETH }
const TOKEN = { chain: 'eth', address: MEME }
const SERIES = { chain: 'eth', pair: MEME_WETH, interval: 'k1' } as const

/** A log that is appended to by hand, and a store that holds what the test says, when the test says. */
class World {
  readonly controller = new AbortController()
  readonly received: number[] = []
  readonly stored = {
    pairs: new Map<string, Versioned<Pair>>(),
    tokens: new Map<string, Versioned<Token>>(),
    windows: new Map<string, Versioned<Windows>>(),
    candle: undefined as Versioned<Candle> | undefined,
    top: [] as string[],
    head: undefined as ChainHead | undefined,
    /** What ClickHouse says of itself, if it is not as far as Redis. */
    marker: undefined as ChainHead | undefined,
  }
  /** Stores that do not answer. */
  readonly away = new Set<StoreName>()
  readonly answeredBy: StoreName[] = []
  readonly topLimits: number[] = []
  /** Runs while the store is answering: after it looked, before the answer is here. */
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
      read: (options: { after: { seq: number } | undefined }) => this.#read(options.after?.seq ?? 0),
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

  /** The writer has come this far. */
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
      // What it came in may be used again.
      body.fill(0)
    }
  }

  #position(seq: number) {
    return { epoch: 'e', seq, link: 0 }
  }
}

function headAt(seq: number): ChainHead {
  const position = { epoch: 'e', seq, link: 0 }
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

async function withWorld(run: (world: World) => Promise<void>, ...args: ConstructorParameters<typeof World>) {
  const world = new World(...args)
  try {
    await run(world)
  } finally {
    await world.stop()
  }
}

/** One set, which both stores have. */
const STORED = [[sampleSet(1, [])], headAt(1)] as const

const pairAt = (updatedAt: number, overrides: Partial<Pair> = {}) => samplePair({ updatedAt, ...overrides })

test('the newer of overlay and store is answered, and a tombstone hides what is stored', () =>
  withWorld(
    async (world) => {
      const { view, stored } = world
      stored.pairs.set(MEME_WETH, { seq: 1, record: pairAt(1) })
      assert.deepEqual(await view.pairs([REF]), [{ seq: 1, record: pairAt(1) }])
      await world.append(sampleSet(2, [{ type: 'pair', pair: pairAt(2) }]))
      assert.deepEqual(await view.pairs([REF]), [{ seq: 2, record: pairAt(2) }])
      await world.append(sampleSet(3, [{ type: 'pairRemoved', pair: MEME_WETH }]))
      assert.deepEqual(await view.pairs([REF, { ...REF, address: MEME_USDC }]), [
        { seq: 3, record: undefined },
        { seq: 3, record: undefined },
      ])
      assert.deepEqual(world.received, [2, 3])
      assert.deepEqual(view.head('eth'), { number: 103, time: 1_700_000_003, finalNumber: 90 })
    },
    ...STORED,
  ))

test('a document of a block that the feed does not bring is stated as of the commit point of its store', () =>
  withWorld(
    async (world) => {
      const { view, stored } = world
      await world.append(sampleSet(2, [{ type: 'pairRemoved', pair: MEME_WETH }]))
      stored.pairs.set(MEME_WETH, { seq: 5, record: pairAt(5) })
      stored.head = headAt(5)
      assert.deepEqual(await view.pairs([REF]), [{ seq: 5, record: pairAt(5) }])
      assert.equal(view.head('eth')?.number, 105)
      assert.deepEqual([view.end('eth').version, view.readEnd('eth').version], [2, 5])
      const { upTo, end, overlay } = view.recent('eth')
      assert.deepEqual([upTo, end.after.seq, overlay.size], [5, 5, 0])
      await world.append(sampleSet(3, [{ type: 'pairRemoved', pair: MEME_WETH }]))
      assert.deepEqual(await view.pairs([REF]), [{ seq: 5, record: pairAt(5) }])
      assert.equal(view.head('eth')?.number, 105)
      await world.append(
        sampleSet(4, []),
        sampleSet(5, []),
        sampleSet(6, [{ type: 'pair', pair: pairAt(6) }]),
      )
      assert.deepEqual(await view.pairs([REF]), [{ seq: 6, record: pairAt(6) }])
      assert.equal(view.head('eth')?.number, 106)
      assert.deepEqual(world.received, [2, 3, 4, 5, 6])
    },
    ...STORED,
  ))

test('a document that no commit point covers is refused until one does', () =>
  withWorld(
    async (world) => {
      const { view, stored } = world
      stored.pairs.set(MEME_WETH, { seq: 2, record: pairAt(2) })
      await assert.rejects(view.pairs([REF]), { code: 'store_unavailable' })
      assert.equal(view.head('eth')?.number, 101)
      stored.head = headAt(2)
      assert.deepEqual(await view.pairs([REF]), [{ seq: 2, record: pairAt(2) }])
      assert.equal(view.head('eth')?.number, 102)
    },
    ...STORED,
  ))

test('following starts after the head of the store, and only what is newer counts as behind', async () => {
  const sets = [1, 2, 3].map((seq) => sampleSet(seq, [{ type: 'pair', pair: pairAt(seq) }]))
  await withWorld(
    async (world) => {
      while (world.received.length < 1) await turn()
      assert.deepEqual(world.received, [3])
      assert.deepEqual(world.view.chainsBehind, [])
    },
    sets,
    headAt(2),
  )
  await withWorld(
    async (world) => {
      assert.deepEqual(world.view.chainsBehind, ['eth'])
      while (world.view.chainsBehind.length > 0) await turn()
      assert.deepEqual(world.received, [])
      assert.deepEqual(world.view.head('eth'), { number: 103, time: 1_700_000_003, finalNumber: 0 })
    },
    sets,
    headAt(3),
  )
})

test('following starts with the log while a store holds nothing of it, so that both can be read', async () => {
  const sets = [1, 2, 3].map((seq) => sampleSet(seq, [{ type: 'pair', pair: pairAt(seq) }]))
  const start = async (world: World): Promise<void> => {
    while (world.received.length < 3) await turn()
    assert.deepEqual(world.received, [1, 2, 3])
    assert.equal(world.view.recent('eth').isWhole('clickhouse'), true)
  }
  await withWorld(start, sets, headAt(2), undefined, true)
})

test('what the store has is dropped, what was said anew since is kept', () =>
  withWorld(async (world) => {
    const { view } = world
    await world.append(
      sampleSet(1, [
        { type: 'pair', pair: pairAt(1) },
        { type: 'token', token: sampleToken() },
        { type: 'candle', candle: sampleCandle() },
      ]),
      sampleSet(2, [
        { type: 'pair', pair: pairAt(2) },
        { type: 'candle', candle: sampleCandle({ tradeCount: 2 }) },
      ]),
    )
    assert.equal(view.overlaySize('eth'), 3)
    await world.advance(1)
    assert.equal(view.overlaySize('eth'), 2)
    assert.deepEqual(await view.pairs([REF]), [{ seq: 2, record: pairAt(2) }])
    assert.deepEqual(await view.candles([SERIES]), [{ seq: 2, record: sampleCandle({ tradeCount: 2 }) }])
    assert.deepEqual(await view.tokens([TOKEN]), [{ seq: 2, record: undefined }])
    await world.advance(2)
    assert.equal(view.overlaySize('eth'), 0)
  }))

test('what was looked up stays as it was, whatever comes after it has left the overlay', () =>
  withWorld(async (world) => {
    const { overlay } = world.view.recent('eth')
    const say = (seq: number, tradeCount: number) =>
      world.append(
        // Nothing of it is held, but it is remembered in its turn.
        sampleSet(seq - 1, []),
        sampleSet(seq, [
          { type: 'candle', candle: sampleCandle({ tradeCount }) },
          { type: 'pair', pair: pairAt(seq) },
          { type: 'token', token: sampleToken({ supplyRaw: BigInt(seq) }) },
        ]),
      )
    const lookUp = () => {
      const { pair, interval, start } = sampleCandle()
      return [overlay.candles(pair, interval).get(start), overlay.pair(MEME_WETH), overlay.token(MEME)]
    }
    await say(2, 1)
    const seen = lookUp()
    await world.advance(2)
    assert.deepEqual(lookUp(), [undefined, undefined, undefined])
    for (let seq = 4; seq < 20; seq += 2) {
      await say(seq, seq)
      assert.equal(overlay.token(MEME)?.record?.supplyRaw, BigInt(seq))
      await world.advance(seq)
    }
    assert.deepEqual(seen, [
      { seq: 2, record: sampleCandle({ tradeCount: 1 }) },
      { seq: 2, record: pairAt(2) },
      { seq: 2, record: sampleToken({ supplyRaw: 2n }) },
    ])
  }))

test('a document that comes, is stored and leaves the overlay while the store answers is not missed', () =>
  withWorld(async (world) => {
    const { view, stored } = world
    stored.pairs.set(MEME_WETH, { seq: 1, record: pairAt(1) })
    world.meanwhile = async () => {
      await world.append(sampleSet(2, [{ type: 'pair', pair: pairAt(2) }]))
      stored.pairs.set(MEME_WETH, { seq: 2, record: pairAt(2) })
      await world.advance(2)
    }
    assert.deepEqual(await view.pairs([REF]), [{ seq: 2, record: pairAt(2) }])
  }))

test('the newest candle: later starts win, removed ones give the one before back', () =>
  withWorld(
    async (world) => {
      const { view, stored } = world
      const at = (start: number, tradeCount = 1) => sampleCandle({ start, tradeCount })
      const removed = (start: number) =>
        ({ type: 'candleRemoved', candle: { pair: MEME_WETH, interval: 'k1', start } }) as const
      const newest = async () => (await view.candles([SERIES]))[0]
      stored.candle = { seq: 1, record: at(60) }
      assert.deepEqual(await newest(), { seq: 1, record: at(60) })
      await world.append(sampleSet(2, [{ type: 'candle', candle: at(120) }]))
      assert.deepEqual(await newest(), { seq: 2, record: at(120) })
      await world.append(sampleSet(3, [{ type: 'candle', candle: at(180) }]))
      assert.deepEqual(await newest(), { seq: 3, record: at(180) })
      await world.append(sampleSet(4, [removed(180)]))
      assert.deepEqual(await newest(), { seq: 4, record: at(120) })
      await world.append(sampleSet(5, [removed(120)]))
      assert.deepEqual(await newest(), { seq: 5, record: at(60) })
      await world.append(sampleSet(6, [{ type: 'candle', candle: at(60, 9) }]))
      assert.deepEqual(await newest(), { seq: 6, record: at(60, 9) })
      await world.append(sampleSet(7, [removed(60)]))
      assert.deepEqual(await newest(), { seq: 7, record: undefined })
    },
    ...STORED,
  ))

test('main pairs follow a switch that happens between the two reads', () =>
  withWorld(
    async (world) => {
      const { view, stored } = world
      stored.tokens.set(MEME, { seq: 1, record: sampleToken() })
      stored.pairs.set(MEME_WETH, { seq: 1, record: pairAt(1) })
      assert.deepEqual(await view.mainPairs([TOKEN]), [{ seq: 1, record: pairAt(1) }])
      const later = pairAt(2, { address: MEME_USDC })
      // The token is answered first; the switch comes while the pair is asked for.
      world.meanwhile = async () => {
        world.meanwhile = () =>
          world.append(
            sampleSet(2, [
              { type: 'pair', pair: later },
              { type: 'token', token: sampleToken({ mainPair: MEME_USDC }) },
            ]),
          )
      }
      assert.deepEqual(await view.mainPairs([{ chain: 'eth', address: WETH }, TOKEN]), [
        { seq: 2, record: undefined },
        { seq: 2, record: later },
      ])
    },
    ...STORED,
  ))

test('top pairs mix the stored ranking with what is newer', () =>
  withWorld(
    async (world) => {
      const { view, stored } = world
      const address = (digit: string) => `0x${digit.repeat(40)}`
      const ranked = (digit: string, tvl: string | undefined) =>
        samplePair({ address: address(digit), tvlUsd: tvl === undefined ? undefined : value(tvl) })
      const known = [ranked('1', '500'), ranked('2', '400'), ranked('3', '300'), ranked('4', '200')]
      const top = async (limit: number) => (await view.topPairs(TOKEN, limit)).map(({ pair }) => pair)
      for (const pair of known) stored.pairs.set(pair.address, { seq: 1, record: pair })
      stored.top = known.map((pair) => pair.address)
      assert.deepEqual(await top(2), [known[0], known[1]])
      await world.append(
        sampleSet(2, [
          { type: 'pair', pair: ranked('1', '250') },
          { type: 'pair', pair: ranked('5', '400') },
          { type: 'pair', pair: ranked('6', undefined) },
          { type: 'pairRemoved', pair: address('2') },
        ]),
      )
      assert.deepEqual(await top(3), [ranked('5', '400'), known[2], ranked('1', '250')])
      assert.deepEqual(await top(9), [
        ranked('5', '400'),
        known[2],
        ranked('1', '250'),
        known[3],
        ranked('6', undefined),
      ])
      await world.advance(2)
      await view.topPairs(TOKEN, 3)
      // Asked for as many more as the overlay may take out of the ranking, and not for more than that.
      assert.deepEqual(world.topLimits, [2, 7, 13, 3])
    },
    ...STORED,
  ))

test('of two pairs with equal TVL, the one with more volume comes first', () =>
  withWorld(
    async ({ view, stored }) => {
      const pairs = [MEME_USDC, MEME_WETH].map((address) => samplePair({ address, tvlUsd: value('500') }))
      for (const pair of pairs) stored.pairs.set(pair.address, { seq: 1, record: pair })
      stored.top = pairs.map(({ address }) => address)
      stored.windows.set(`pair ${MEME_WETH}`, { seq: 1, record: sampleWindows() })
      const [first, second] = await view.topPairs(TOKEN, 2)
      assert.deepEqual([first?.pair.address, first?.windows], [MEME_WETH, sampleWindows()])
      assert.deepEqual([second?.pair.address, second?.windows], [MEME_USDC, undefined])
    },
    ...STORED,
  ))

test('windows are read for what they are of', () =>
  withWorld(
    async (world) => {
      const { view } = world
      const refs = [
        { ...REF, kind: 'pair' as const },
        { ...TOKEN, kind: 'token' as const },
      ]
      const days = async () => (await view.windows(refs)).map(({ record }) => record?.day)
      world.stored.windows.set(`token ${MEME}`, { seq: 1, record: sampleWindows({ day: 7 }) })
      assert.deepEqual(await days(), [undefined, 7])
      await world.append(sampleSet(2, [{ type: 'windows', windows: sampleWindows({ day: 8 }) }]))
      assert.deepEqual(await days(), [8, 8])
      const own = { pair: undefined, token: MEME }
      await world.append(sampleSet(3, [{ type: 'windows', windows: sampleWindows({ ...own, day: 9 }) }]))
      assert.deepEqual(await days(), [8, 9])
      await world.append(sampleSet(4, [{ type: 'windowsRemoved', windows: own }]))
      assert.deepEqual(await days(), [8, undefined])
    },
    ...STORED,
  ))

test('a full overlay drops its oldest sets; reads are refused until the store has them', async () => {
  const world = new World([sampleSet(1, [])], headAt(1), 1_000)
  try {
    for (let seq = 2; seq < 12; seq++) {
      await world.append(sampleSet(seq, [{ type: 'pair', pair: samplePair() }]))
      assert.ok(world.view.overlayBytes('eth') <= 1_000)
    }
    assert.equal(world.view.isAvailable('eth'), false)
    await assert.rejects(world.view.pairs([REF]), { code: 'chain_unavailable' })
    assert.throws(() => world.view.recent('eth'), { code: 'chain_unavailable' })
    world.stored.head = headAt(11)
    while (!world.view.isAvailable('eth')) await turn()
    world.stored.pairs.set(MEME_WETH, { seq: 11, record: samplePair() })
    assert.equal((await world.view.pairs([REF]))[0]?.seq, 11)
  } finally {
    await world.stop()
  }
})

test('without Redis documents, ranks and candles come from ClickHouse, overlaid as ever', () =>
  withWorld(
    async (world) => {
      const { view, stored, away } = world
      stored.tokens.set(MEME, { seq: 1, record: sampleToken() })
      stored.pairs.set(MEME_WETH, { seq: 1, record: pairAt(1) })
      stored.windows.set(`pair ${MEME_WETH}`, { seq: 1, record: sampleWindows({ day: 7 }) })
      stored.candle = { seq: 1, record: sampleCandle({ start: 60 }) }
      stored.top = [MEME_WETH]
      away.add('redis')
      assert.deepEqual(await view.pairs([REF]), [{ seq: 1, record: pairAt(1) }])
      assert.deepEqual(await view.mainPairs([TOKEN]), [{ seq: 1, record: pairAt(1) }])
      assert.deepEqual(
        (await view.topPairs(TOKEN, 5)).map(({ pair, windows }) => [pair.address, windows?.day]),
        [[MEME_WETH, 7]],
      )
      assert.deepEqual(await view.ranked('eth', 'fdv', 5), [MEME_WETH])
      assert.deepEqual(await view.candles([SERIES]), [{ seq: 1, record: sampleCandle({ start: 60 }) }])
      await world.append(
        sampleSet(2, [
          { type: 'pair', pair: pairAt(2) },
          { type: 'tokenRemoved', token: MEME },
          { type: 'candle', candle: sampleCandle({ start: 120 }) },
        ]),
      )
      assert.deepEqual(await view.pairs([REF]), [{ seq: 2, record: pairAt(2) }])
      assert.deepEqual(await view.tokens([TOKEN]), [{ seq: 2, record: undefined }])
      assert.deepEqual(await view.candles([SERIES]), [{ seq: 2, record: sampleCandle({ start: 120 }) }])
      assert.ok(world.answeredBy.every((store) => store === 'clickhouse'))
      away.add('clickhouse')
      await assert.rejects(view.pairs([REF]), { code: 'store_unavailable' })
      await assert.rejects(view.ranked('eth', 'fdv', 5), { code: 'store_unavailable' })
    },
    ...STORED,
  ))

test('what comes, is stored and leaves the overlay while ClickHouse answers is not missed', () =>
  withWorld(async (world) => {
    const { view, stored, away } = world
    away.add('redis')
    stored.pairs.set(MEME_WETH, { seq: 1, record: pairAt(1) })
    // ClickHouse has looked before this one was stored.
    await world.append(sampleSet(2, [{ type: 'pair', pair: pairAt(2) }]))
    world.meanwhile = async () => {
      stored.pairs.set(MEME_WETH, { seq: 2, record: pairAt(2) })
      await world.advance(2)
    }
    assert.deepEqual(await view.pairs([REF]), [{ seq: 2, record: pairAt(2) }])
    assert.equal(world.answeredBy.length, 1)
    world.meanwhile = async () => {
      await world.append(sampleSet(3, [{ type: 'pair', pair: pairAt(3) }]))
      stored.pairs.set(MEME_WETH, { seq: 3, record: pairAt(3) })
      await world.advance(3)
    }
    assert.deepEqual(await view.pairs([REF]), [{ seq: 3, record: pairAt(3) }])
    assert.equal(world.answeredBy.length, 3)
  }))

test('a full overlay leaves what one store has; the other is not read until it has it, too', async () => {
  const world = new World([sampleSet(1, [])], headAt(1), 1_000)
  const { view, stored } = world
  try {
    for (let seq = 2; seq < 12; seq++) {
      stored.marker = headAt(seq)
      await world.append(sampleSet(seq, [{ type: 'pair', pair: samplePair() }]))
      await waitForMarker(world)
      stored.pairs.set(MEME_WETH, { seq, record: samplePair() })
      assert.deepEqual(await view.pairs([{ ...REF, address: MEME_USDC }]), [{ seq, record: undefined }])
    }
    assert.equal(world.answeredBy.at(-1), 'clickhouse')
    assert.equal(view.recent('eth').isWhole('redis'), false)
    stored.head = headAt(11)
    while (!view.recent('eth').isWhole('redis')) await turn()
    assert.equal((await view.pairs([REF]))[0]?.seq, 11)
    assert.equal(world.answeredBy.at(-1), 'redis')
  } finally {
    await world.stop()
  }
})

/** Until the view has seen how far ClickHouse is. */
async function waitForMarker({ view }: World): Promise<void> {
  while (!view.isAvailable('eth')) await turn()
}
