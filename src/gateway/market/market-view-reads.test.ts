import assert from 'node:assert/strict'
import test from 'node:test'
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
import {
  pairAt,
  REF,
  SERIES,
  STORED,
  TOKEN,
  withMarketView,
} from '../../../test/support/rigs/market-view-world.ts'

test('the latest candle: a later start wins, and a removal restores the one before', () =>
  withMarketView(
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
  withMarketView(
    async (world) => {
      const { view, stored } = world
      stored.tokens.set(MEME, { seq: 1, record: sampleToken() })
      stored.pairs.set(MEME_WETH, { seq: 1, record: pairAt(1) })
      assert.deepEqual(await view.mainPairs([TOKEN]), [{ seq: 1, record: pairAt(1) }])
      const later = pairAt(2, { address: MEME_USDC })
      // The token is read first; the switch happens while the pair is read.
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

test('top pairs merge the stored ranking with the overlay', () =>
  withMarketView(
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
      // The store is asked for as many more as the overlay may remove from the ranking.
      assert.deepEqual(world.topLimits, [2, 7, 13, 3])
    },
    ...STORED,
  ))

test('of two pairs with equal TVL, the one with more volume comes first', () =>
  withMarketView(
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

test('windows are read by their owner, a pair or a token', () =>
  withMarketView(
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
