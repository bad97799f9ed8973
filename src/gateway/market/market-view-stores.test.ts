import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import {
  MEME,
  MEME_USDC,
  MEME_WETH,
  sampleCandle,
  samplePair,
  sampleSet,
  sampleToken,
  sampleWindows,
} from '../../../test/support/builders/market-samples.ts'
import {
  headAt,
  MarketViewWorld,
  pairAt,
  REF,
  SERIES,
  STORED,
  TOKEN,
  withMarketView,
} from '../../../test/support/rigs/market-view-world.ts'
import { waitFor } from '../../../test/support/rigs/wait-for.ts'

test('a full overlay drops its oldest sets; reads are refused until the store has them', async () => {
  const world = new MarketViewWorld([sampleSet(1, [])], headAt(1), 1_000)
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

test('without Redis, documents, ranks and candles come from ClickHouse and the overlay', () =>
  withMarketView(
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

test('a document that arrives, is stored and leaves the overlay during a ClickHouse read is not missed', () =>
  withMarketView(async (world) => {
    const { view, stored, away } = world
    away.add('redis')
    stored.pairs.set(MEME_WETH, { seq: 1, record: pairAt(1) })
    // The ClickHouse read began before this set was stored.
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

test('a full overlay drops sets that one store has; the other is not read until it has them, too', async () => {
  const world = new MarketViewWorld([sampleSet(1, [])], headAt(1), 1_000)
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

test('history is read up to a set of balances alone, once both stores have it', () =>
  withMarketView(
    async (world) => {
      const { view, stored } = world
      const balance = { token: MEME, holder: '0xaa', amountRaw: 2n, beforeRaw: 1n }
      await world.append(sampleSet(2, [{ type: 'balance', balance }]), sampleSet(3, []))
      assert.equal(view.recent('eth').upTo, 1)
      stored.marker = headAt(3)
      stored.head = headAt(2)
      await waitFor('the set of balances', () => (view.recent('eth').upTo === 2 ? true : undefined))
      stored.head = headAt(3)
      await waitFor('the empty set', () => (view.recent('eth').upTo === 3 ? true : undefined))
    },
    ...STORED,
  ))

/** Waits until the view has read the marker of ClickHouse. */
async function waitForMarker({ view }: MarketViewWorld): Promise<void> {
  while (!view.isAvailable('eth')) await turn()
}
