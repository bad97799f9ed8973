import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import {
  MEME,
  MEME_USDC,
  MEME_WETH,
  sampleCandle,
  sampleSet,
  sampleToken,
} from '../../../test/support/builders/market-samples.ts'
import {
  headAt,
  type MarketViewWorld,
  pairAt,
  REF,
  SERIES,
  STORED,
  TOKEN,
  withMarketView,
} from '../../../test/support/rigs/market-view-world.ts'

test('the newer of overlay and store is returned, and a tombstone hides the stored record', () =>
  withMarketView(
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

test('a stored document that is ahead of the change feed is returned as of the commit point of its store', () =>
  withMarketView(
    async (world) => {
      const { view, stored } = world
      await world.append(sampleSet(2, [{ type: 'pairRemoved', pair: MEME_WETH }]))
      stored.pairs.set(MEME_WETH, { seq: 5, record: pairAt(5) })
      stored.head = headAt(5)
      assert.deepEqual(await view.pairs([REF]), [{ seq: 5, record: pairAt(5) }])
      assert.equal(view.head('eth')?.number, 105)
      assert.deepEqual([view.end('eth').seq, view.readEnd('eth').seq], [2, 5])
      const { upTo, end, overlay } = view.recent('eth')
      assert.deepEqual([upTo, end.after.sequence, overlay.size], [5, 5, 0])
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
  withMarketView(
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

test('following starts after the head of the store, and only newer sets count as lag', async () => {
  const sets = [1, 2, 3].map((seq) => sampleSet(seq, [{ type: 'pair', pair: pairAt(seq) }]))
  await withMarketView(
    async (world) => {
      while (world.received.length < 1) await turn()
      assert.deepEqual(world.received, [3])
      assert.deepEqual(world.view.chainsBehind, [])
    },
    sets,
    headAt(2),
  )
  await withMarketView(
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

test('following starts at the beginning of the log while a store is empty, so that both can be read', async () => {
  const sets = [1, 2, 3].map((seq) => sampleSet(seq, [{ type: 'pair', pair: pairAt(seq) }]))
  const start = async (world: MarketViewWorld): Promise<void> => {
    while (world.received.length < 3) await turn()
    assert.deepEqual(world.received, [1, 2, 3])
    assert.equal(world.view.recent('eth').isWhole('clickhouse'), true)
  }
  await withMarketView(start, sets, headAt(2), undefined, true)
})

test('stored documents leave the overlay, unless they changed since', () =>
  withMarketView(async (world) => {
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

test('a record that was read stays as it was after it left the overlay', () =>
  withMarketView(async (world) => {
    const { overlay } = world.view.recent('eth')
    const publish = (seq: number, tradeCount: number) =>
      world.append(
        // An empty set adds nothing to the overlay, but has its place in the order of pruning.
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
    await publish(2, 1)
    const seen = lookUp()
    await world.advance(2)
    assert.deepEqual(lookUp(), [undefined, undefined, undefined])
    for (let seq = 4; seq < 20; seq += 2) {
      await publish(seq, seq)
      assert.equal(overlay.token(MEME)?.record?.supplyRaw, BigInt(seq))
      await world.advance(seq)
    }
    assert.deepEqual(seen, [
      { seq: 2, record: sampleCandle({ tradeCount: 1 }) },
      { seq: 2, record: pairAt(2) },
      { seq: 2, record: sampleToken({ supplyRaw: 2n }) },
    ])
  }))

test('a document that arrives, is stored and leaves the overlay during a read is not missed', () =>
  withMarketView(async (world) => {
    const { view, stored } = world
    stored.pairs.set(MEME_WETH, { seq: 1, record: pairAt(1) })
    world.meanwhile = async () => {
      await world.append(sampleSet(2, [{ type: 'pair', pair: pairAt(2) }]))
      stored.pairs.set(MEME_WETH, { seq: 2, record: pairAt(2) })
      await world.advance(2)
    }
    assert.deepEqual(await view.pairs([REF]), [{ seq: 2, record: pairAt(2) }])
  }))
