import assert from 'node:assert/strict'
import test from 'node:test'
import {
  ALONE,
  MEME,
  MEME_USDC,
  MEME_WETH,
  pairAlone,
  price,
  sampleCandle,
  sampleLiquidity,
  samplePair,
  sampleSet,
  sampleSwitch,
  sampleToken,
  sampleTrade,
  sampleWindows,
  USDC,
  WETH,
} from '../../../../test/support/builders/market-samples.ts'
import { originOf, readFrames } from '../../../../test/support/rigs/fake-session.ts'
import type { ChangeSet } from '../../../domain/change.ts'
import { klinePush } from '../../shape/kline.ts'
import { liquidityPush } from '../../shape/liquidity-transaction.ts'
import { switchPush } from '../../shape/main-pair-switch.ts'
import { priceEntry, pricePush, quoteEntry } from '../../shape/price-entry.ts'
import { swapPush, tokenSwapPush } from '../../shape/swap-transaction.ts'
import { withUnknown } from '../../shape/unknown-in-push.ts'
import type { PushEvent, Shape } from '../send/push-event.ts'
import {
  klineKey,
  liquidityKey,
  pairPriceKey,
  switchKey,
  tokenPriceKey,
  tokenTxKey,
  txKey,
} from '../topic.ts'
import { Hub, type Listener } from './hub.ts'

const NOW = 1_700_000_123_456
const onEth = (address: string) => ({ chain: 'eth', address })

class Recorder implements Listener {
  readonly id: number
  readonly wantsReorgs: boolean
  readonly offers: { key: string; event: PushEvent }[] = []

  constructor(id: number, wantsReorgs = false) {
    this.id = id
    this.wantsReorgs = wantsReorgs
  }

  offer(key: string, event: PushEvent): void {
    this.offers.push({ key, event })
  }

  get shape(): Shape {
    return this.wantsReorgs ? 'revised' : 'document'
  }

  get shown() {
    return this.offers.map(({ key, event }) => ({
      key,
      topic: event.topic,
      seq: event.place.seq,
      message: JSON.parse(readFrames(event.frame(this.id)).join()),
    }))
  }

  get results() {
    return this.shown.map(({ message }) => message.result)
  }
}

function message(id: number, result: object) {
  return { id, jsonrpc: '2.0', result, sent_time: NOW }
}

function start() {
  const hub = new Hub(() => NOW)
  return { hub, apply: (set: ChangeSet) => hub.apply(set, originOf(set)) }
}

const LAUNCHED = { name: 'fourmeme', createdAt: 1, progressPpm: 1_000_000, graduatedAt: 2 }

test('each topic reaches its listeners only, in order', () => {
  const { hub, apply } = start()
  const [swaps, candles, prices] = [new Recorder(1), new Recorder(2), new Recorder(3)]
  hub.add(txKey(onEth(MEME_WETH)), swaps)
  hub.add(klineKey(onEth(MEME_WETH), 'k1'), candles)
  hub.add(pairPriceKey(onEth(MEME_WETH)), prices)
  hub.watched.watch(onEth(MEME_WETH))
  const [first, second] = [sampleTrade(), sampleTrade({ key: { block: 100, tx: 4, log: 20 }, side: 'sell' })]
  const candle = sampleCandle()
  const pair = samplePair()
  apply(
    sampleSet(5, [
      { type: 'trade', trade: first },
      { type: 'trade', trade: second },
      { type: 'trade', trade: sampleTrade({ pair: MEME_USDC }) },
      { type: 'candle', candle },
      { type: 'candle', candle: sampleCandle({ interval: 'k5' }) },
      { type: 'pair', pair },
      { type: 'pair', pair: samplePair({ address: MEME_USDC }) },
    ]),
  )
  apply(sampleSet(6, [{ type: 'trade', trade: first }], { chain: 'bsc' }))
  assert.deepEqual(swaps.shown, [
    { key: txKey(onEth(MEME_WETH)), topic: 'tx', seq: 5, message: message(1, swapPush('eth', first)) },
    { key: txKey(onEth(MEME_WETH)), topic: 'tx', seq: 5, message: message(1, swapPush('eth', second)) },
  ])
  assert.deepEqual(candles.shown, [
    {
      key: klineKey(onEth(MEME_WETH), 'k1'),
      topic: 'kline',
      seq: 5,
      message: message(2, klinePush('eth', candle, ALONE)),
    },
  ])
  assert.deepEqual(prices.shown, [
    {
      key: pairPriceKey(onEth(MEME_WETH)),
      topic: 'price',
      seq: 5,
      message: message(3, pricePush([priceEntry(pairAlone(pair))])),
    },
  ])
})

test('a token listener follows the main pair, wherever it goes', () => {
  const { hub, apply } = start()
  const listener = new Recorder(9)
  hub.add(tokenPriceKey(onEth(MEME)), listener)
  hub.watched.watchToken(onEth(MEME))
  const former = samplePair()
  const later = samplePair({ address: MEME_USDC })
  apply(sampleSet(1, [{ type: 'pair', pair: former }]))
  apply(sampleSet(2, [{ type: 'pair', pair: { ...later, isMain: false } }]))
  apply(
    sampleSet(3, [
      { type: 'pair', pair: { ...former, isMain: false } },
      { type: 'pair', pair: later },
    ]),
  )
  apply(sampleSet(4, [{ type: 'pair', pair: { ...later, targetToken: undefined } }]))
  const key = tokenPriceKey(onEth(MEME))
  assert.deepEqual(listener.shown, [
    { key, topic: 'price', seq: 1, message: message(9, pricePush([priceEntry(pairAlone(former))])) },
    { key, topic: 'price', seq: 3, message: message(9, pricePush([priceEntry(pairAlone(later))])) },
  ])
})

test('a listener to a pair and to the token whose main pair it is gets one push', () => {
  const { hub, apply } = start()
  const listener = new Recorder(1)
  hub.add(pairPriceKey(onEth(MEME_WETH)), listener)
  hub.add(tokenPriceKey(onEth(MEME)), listener)
  hub.watched.watchToken(onEth(MEME))
  apply(sampleSet(1, [{ type: 'pair', pair: samplePair() }]))
  assert.deepEqual(
    listener.shown.map(({ key }) => key),
    [pairPriceKey(onEth(MEME_WETH))],
  )
})

test('swaps by token: of every pair, whichever side it is on, without what belongs to the pair', () => {
  const { hub, apply } = start()
  const [meme, weth] = [new Recorder(1), new Recorder(2)]
  hub.add(tokenTxKey(onEth(MEME)), meme)
  hub.add(tokenTxKey(onEth(WETH)), weth)
  const other = sampleTrade({ pair: MEME_USDC, sold: { ...sampleTrade().sold, token: USDC } })
  apply(
    sampleSet(
      1,
      [sampleTrade(), other].map((trade) => ({ type: 'trade', trade })),
    ),
  )
  const expected = [sampleTrade(), other].map((trade) => message(1, tokenSwapPush('eth', trade)))
  assert.deepEqual(
    meme.shown.map((shown) => shown.message),
    expected,
  )
  assert.ok(meme.results.every(({ topic, tx }) => topic === 'tx' && !('tx_seq' in tx) && !('profile' in tx)))
  assert.deepEqual(weth.results, [tokenSwapPush('eth', sampleTrade())])
})

test('liquidity, and a switch to candle subscribers of the former main pair', () => {
  const { hub, apply } = start()
  const [liquidity, old, other] = [new Recorder(1), new Recorder(2), new Recorder(3)]
  hub.add(liquidityKey(onEth(MEME_WETH)), liquidity)
  hub.add(switchKey(onEth(MEME_WETH)), old)
  hub.add(switchKey(onEth(MEME_USDC)), other)
  const deeper = samplePair({ address: MEME_USDC })
  apply(
    sampleSet(3, [
      { type: 'liquidity', liquidity: sampleLiquidity() },
      { type: 'pair', pair: deeper },
      { type: 'token', token: sampleToken({ address: sampleSwitch().token, platform: LAUNCHED }) },
      { type: 'switch', switch: sampleSwitch() },
    ]),
  )
  const former = samplePair()
  apply(
    sampleSet(
      4,
      [
        { type: 'pair', pair: former },
        { type: 'switchRemoved', switch: sampleSwitch() },
      ],
      { cause: 'undo' },
    ),
  )
  assert.deepEqual(liquidity.results, [liquidityPush('eth', sampleLiquidity())])
  assert.deepEqual(
    [old, other].map(({ shown }) => shown.map((each) => each.message)),
    [
      [{ id: 2, jsonrpc: '2.0', result: switchPush('eth', sampleSwitch(), deeper, LAUNCHED.name) }],
      [
        {
          id: 3,
          jsonrpc: '2.0',
          result: switchPush('eth', { ...sampleSwitch(), oldPair: MEME_USDC, newPair: MEME_WETH }, former),
        },
      ],
    ],
  )
  assert.ok(old.offers.every(({ event }) => !event.isState))
})

test('a fork: corrected candles for all; retractions and revisions on request', () => {
  const { hub, apply } = start()
  const [plain, asking] = [new Recorder(1), new Recorder(2, true)]
  const candle = sampleCandle()
  for (const listener of [plain, asking]) {
    hub.add(txKey(onEth(MEME_WETH)), listener)
    hub.add(liquidityKey(onEth(MEME_WETH)), listener)
    hub.add(klineKey(onEth(MEME_WETH), 'k1'), listener)
    hub.add(pairPriceKey(onEth(MEME_WETH)), listener)
  }
  hub.watched.watch(onEth(MEME_WETH))
  const { key, time, pair } = sampleTrade()
  const { interval, start: opened } = candle
  apply(
    sampleSet(
      8,
      [
        { type: 'tradeRemoved', trade: { key, time, pair } },
        { type: 'liquidityRemoved', liquidity: { ...sampleLiquidity(), pair } },
        { type: 'candleRemoved', candle: { pair, interval, start: opened + 60 } },
        { type: 'candle', candle },
        { type: 'pairRemoved', pair },
        { type: 'tokenRemoved', token: MEME },
      ],
      { cause: 'undo' },
    ),
  )
  assert.deepEqual(plain.results, [klinePush('eth', candle, ALONE)])
  assert.deepEqual(asking.results, [
    { id: pair, ids: ['100-17'], topic: 'revert' },
    { id: pair, ids: ['100-31'], topic: 'revert' },
    { id: `${pair}-eth`, interval: '1', time: opened + 60, topic: 'revert' },
    withUnknown({ ...klinePush('eth', candle, ALONE), revision: 8 }),
  ])
  assert.deepEqual(
    asking.offers.map(({ event }) => event.isState),
    [false, false, false, true],
  )
})

test('a token subscriber gets the retraction of a swap, even if the fork removed the pair too', () => {
  const { hub, apply } = start()
  const [listener, plain] = [new Recorder(1, true), new Recorder(2)]
  hub.add(tokenTxKey(onEth(MEME)), listener)
  hub.add(tokenTxKey(onEth(MEME)), plain)
  const { key, time, pair } = sampleTrade()
  const removal = { type: 'tradeRemoved', trade: { key, time, pair } } as const
  apply(sampleSet(1, [{ type: 'pair', pair: samplePair() }, removal], { cause: 'undo' }))
  apply(sampleSet(2, [{ type: 'trade', trade: sampleTrade() }]))
  apply(sampleSet(3, [{ type: 'pairRemoved', pair }, removal], { cause: 'undo' }))
  assert.deepEqual(
    listener.results.map(({ topic, ids }) => [topic, ids]),
    [
      ['revert', ['100-17']],
      ['tx', undefined],
      ['revert', ['100-17']],
    ],
  )
  assert.equal(plain.offers.length, 1)
})

test('each push has its place: the log before its set, and its part of the set', () => {
  const { hub, apply } = start()
  const listener = new Recorder(1)
  hub.add(txKey(onEth(MEME_WETH)), listener)
  const trade = sampleTrade()
  apply(
    sampleSet(4, [
      { type: 'trade', trade },
      { type: 'token', token: sampleToken() },
      { type: 'trade', trade },
    ]),
  )
  assert.deepEqual(
    listener.offers.map(({ event }) => event.place),
    [1, 3].map((published) => ({
      ...{ chain: 'eth', seq: 4, origin: originOf({ seq: 4 }), published },
      event: { time: trade.time, key: trade.key },
    })),
  )
})

test('a push is built once, and framed once for all subscribers with the same id', () => {
  const { hub, apply } = start()
  const listeners = [1, 1, 2, 1].map((id) => new Recorder(id))
  for (const listener of listeners) hub.add(txKey(onEth(MEME_WETH)), listener)
  apply(sampleSet(1, [{ type: 'trade', trade: sampleTrade() }]))
  const events = listeners.map(({ offers }) => offers[0]?.event)
  assert.equal(new Set(events).size, 1)
  const [a, b, c, d] = listeners.map(({ id }) => events[0]?.frame(id))
  assert.ok(a !== undefined && a === b && a === d && c !== undefined && c !== a)
})

test('a push is encoded once for each shape that has subscribers', () => {
  const { hub, apply } = start()
  const listeners = [false, true, false, true].map((wantsReorgs) => new Recorder(1, wantsReorgs))
  for (const listener of listeners) hub.add(txKey(onEth(MEME_WETH)), listener)
  apply(sampleSet(1, [{ type: 'trade', trade: sampleTrade() }]))
  const events = listeners.map(({ offers }) => offers[0]?.event)
  assert.deepEqual(
    events.map((event) => event?.shape),
    ['document', 'revised', 'document', 'revised'],
  )
  assert.equal(new Set(events).size, 2)
})

test('a push that waits for one client does not retain the frames of the others', async () => {
  const { hub, apply } = start()
  const late = new Recorder(1)
  hub.add(txKey(onEth(MEME_WETH)), late)
  apply(sampleSet(1, [{ type: 'trade', trade: sampleTrade() }]))
  const event = late.offers[0]?.event
  const atOnce = event?.frame(2)
  assert.equal(event?.frame(2), atOnce)
  await new Promise((resolve) => setImmediate(resolve))
  const later = event?.frame(2)
  assert.notEqual(later, atOnce)
  assert.deepEqual(later, atOnce)
})

test('a removed subscriber gets nothing, and leaves nothing behind', () => {
  const { hub, apply } = start()
  const [stays, goes] = [new Recorder(1), new Recorder(2)]
  const key = txKey(onEth(MEME_WETH))
  for (const listener of [stays, goes, goes]) hub.add(key, listener)
  hub.remove(key, goes)
  hub.remove('tx/eth/never-added', goes)
  apply(sampleSet(1, [{ type: 'trade', trade: sampleTrade() }]))
  assert.deepEqual([stays.offers.length, goes.offers.length, hub.size], [1, 0, 1])
  hub.remove(key, stays)
  assert.equal(hub.size, 0)
})

test('a listener to a quote asset hears of the token itself, seen from its side of the main pair', () => {
  const { hub, apply } = start()
  const listener = new Recorder(4)
  const key = tokenPriceKey(onEth(WETH))
  hub.add(key, listener)
  hub.watched.watchToken(onEth(WETH))
  const pair = samplePair()
  const token = sampleToken({ address: WETH, symbol: 'WETH', decimals: 18, priceUsd: price('2000') })
  const windows = sampleWindows({ pair: undefined, token: WETH })
  apply(
    sampleSet(1, [
      { type: 'pair', pair },
      { type: 'token', token },
      { type: 'windows', windows },
    ]),
  )
  const times = sampleSet(1, []).head
  const entry = quoteEntry({ chain: 'eth', pair, token, windows, times })
  assert.deepEqual(listener.shown, [{ key, topic: 'price', seq: 1, message: message(4, pricePush([entry])) }])
  assert.deepEqual(
    [entry.target_token, entry.uprice, entry.last_price, entry.is_main_pair, entry.tvl],
    [WETH, '2000', '2000', true, '12500.75'],
  )
  assert.equal(entry.direction, pair.lastSide === 'buy' ? 'sell' : 'buy')
  apply(sampleSet(2, [{ type: 'tokenRemoved', token: WETH }]))
  apply(sampleSet(3, [{ type: 'pair', pair }]))
  assert.equal(listener.shown.length, 1, 'a token that a fork took away has no price')
})
