import assert from 'node:assert/strict'
import test from 'node:test'
import {
  ALONE,
  MEME,
  MEME_USDC,
  MEME_WETH,
  pairAlone,
  sampleCandle,
  samplePair,
  sampleSet,
  sampleTrade,
} from '../../../test/support/market-samples.ts'
import { klinePush } from '../shape/kline.ts'
import { priceEntry, pricePush } from '../shape/price-entry.ts'
import { swapPush } from '../shape/swap-transaction.ts'
import { Hub, type Listener, type Push } from './hub.ts'
import { klineKey, pairPriceKey, tokenPriceKey, txKey } from './topic.ts'

const NOW = 1_700_000_123_456
const onEth = (address: string) => ({ chain: 'eth', address })

class Recorder implements Listener {
  readonly id: number
  readonly offers: { key: string; push: Push }[] = []

  constructor(id: number) {
    this.id = id
  }

  offer(key: string, push: Push): void {
    this.offers.push({ key, push })
  }

  get shown() {
    return this.offers.map(({ key, push: { topic, seq, frame } }) => ({
      key,
      topic,
      seq,
      message: JSON.parse(frame.toString()),
    }))
  }
}

function message(id: number, result: object) {
  return { id, jsonrpc: '2.0', result, sent_time: NOW }
}

test('each topic reaches its listeners only, in order', () => {
  const hub = new Hub(() => NOW)
  const [swaps, candles, prices] = [new Recorder(1), new Recorder(2), new Recorder(3)]
  hub.add(txKey(onEth(MEME_WETH)), swaps)
  hub.add(klineKey(onEth(MEME_WETH), 'k1'), candles)
  hub.add(pairPriceKey(onEth(MEME_WETH)), prices)
  const [first, second] = [sampleTrade(), sampleTrade({ key: { block: 100, tx: 4, log: 20 }, side: 'sell' })]
  const candle = sampleCandle()
  const pair = samplePair()
  hub.apply(
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
  hub.apply(sampleSet(6, [{ type: 'trade', trade: first }], { chain: 'bsc' }))
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
  const hub = new Hub(() => NOW)
  const listener = new Recorder(9)
  hub.add(tokenPriceKey(onEth(MEME)), listener)
  const former = samplePair()
  const later = samplePair({ address: MEME_USDC })
  hub.apply(sampleSet(1, [{ type: 'pair', pair: former }]))
  hub.apply(sampleSet(2, [{ type: 'pair', pair: { ...later, isMain: false } }]))
  hub.apply(
    sampleSet(3, [
      { type: 'pair', pair: { ...former, isMain: false } },
      { type: 'pair', pair: later },
    ]),
  )
  hub.apply(sampleSet(4, [{ type: 'pair', pair: { ...later, targetToken: undefined } }]))
  const key = tokenPriceKey(onEth(MEME))
  assert.deepEqual(listener.shown, [
    { key, topic: 'price', seq: 1, message: message(9, pricePush([priceEntry(pairAlone(former))])) },
    { key, topic: 'price', seq: 3, message: message(9, pricePush([priceEntry(pairAlone(later))])) },
  ])
})

test('a listener to a pair and to the token whose main pair it is gets one push', () => {
  const hub = new Hub(() => NOW)
  const listener = new Recorder(1)
  hub.add(pairPriceKey(onEth(MEME_WETH)), listener)
  hub.add(tokenPriceKey(onEth(MEME)), listener)
  hub.apply(sampleSet(1, [{ type: 'pair', pair: samplePair() }]))
  assert.deepEqual(
    listener.shown.map(({ key }) => key),
    [pairPriceKey(onEth(MEME_WETH))],
  )
})

test('removals are not pushed; a corrected candle is', () => {
  const hub = new Hub(() => NOW)
  const listener = new Recorder(1)
  const candle = sampleCandle()
  for (const key of [
    txKey(onEth(MEME_WETH)),
    klineKey(onEth(MEME_WETH), 'k1'),
    pairPriceKey(onEth(MEME_WETH)),
  ]) {
    hub.add(key, listener)
  }
  const { key, time, pair } = sampleTrade()
  const { interval, start } = candle
  hub.apply(
    sampleSet(
      8,
      [
        { type: 'tradeRemoved', trade: { key, time, pair } },
        { type: 'candleRemoved', candle: { pair, interval, start: start + 60 } },
        { type: 'candle', candle },
        { type: 'pairRemoved', pair },
        { type: 'tokenRemoved', token: MEME },
      ],
      { cause: 'undo' },
    ),
  )
  assert.deepEqual(listener.shown, [
    {
      key: klineKey(onEth(MEME_WETH), 'k1'),
      topic: 'kline',
      seq: 8,
      message: message(1, klinePush('eth', candle, ALONE)),
    },
  ])
})

test('one frame per event and request id is shared by all who have that id', () => {
  let clockReads = 0
  const hub = new Hub(() => {
    clockReads++
    return NOW
  })
  const listeners = [1, 1, 2, 1].map((id) => new Recorder(id))
  for (const listener of listeners) hub.add(txKey(onEth(MEME_WETH)), listener)
  hub.apply(sampleSet(1, [{ type: 'trade', trade: sampleTrade() }]))
  const [a, b, c, d] = listeners.map(({ offers }) => offers[0]?.push.frame)
  assert.ok(a !== undefined && a === b && a === d && c !== undefined && c !== a)
  assert.equal(clockReads, 2)
})

test('who was removed gets nothing, and leaves nothing behind', () => {
  const hub = new Hub(() => NOW)
  const [stays, goes] = [new Recorder(1), new Recorder(2)]
  const key = txKey(onEth(MEME_WETH))
  for (const listener of [stays, goes, goes]) hub.add(key, listener)
  hub.remove(key, goes)
  hub.remove('tx/eth/never-added', goes)
  hub.apply(sampleSet(1, [{ type: 'trade', trade: sampleTrade() }]))
  assert.deepEqual([stays.offers.length, goes.offers.length, hub.size], [1, 0, 1])
  hub.remove(key, stays)
  assert.equal(hub.size, 0)
})
