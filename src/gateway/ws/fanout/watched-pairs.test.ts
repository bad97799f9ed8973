import assert from 'node:assert/strict'
import test from 'node:test'
import {
  MEME,
  MEME_USDC,
  MEME_WETH,
  price,
  samplePair,
  sampleSet,
  sampleToken,
  sampleWindows,
} from '../../../../test/support/builders/market-samples.ts'
import { WatchedPairs } from './watched-pairs.ts'

const onEth = (address: string) => ({ chain: 'eth', address })
const priced = (watched: WatchedPairs, pair = MEME_WETH) => {
  const found = watched.priced('eth', pair, { time: 1 })
  return (
    found && { pair: found.pair.updatedAt, target: found.target?.priceUsd, windows: found.windows?.amountRaw }
  )
}

test('each document is as of the last set that changed it, whatever a snapshot reads meanwhile', () => {
  const watched = new WatchedPairs()
  watched.watch(onEth(MEME_WETH))
  assert.equal(priced(watched), undefined)
  watched.apply(sampleSet(5, [{ type: 'pair', pair: samplePair({ updatedAt: 5 }) }]))
  watched.offer(onEth(MEME_WETH), {
    pair: { seq: 4, record: samplePair({ updatedAt: 4 }) },
    windows: { seq: 4, record: sampleWindows({ amountRaw: 4n }) },
    target: { seq: 6, record: sampleToken({ priceUsd: price('6') }) },
  })
  assert.deepEqual(priced(watched), { pair: 5, target: price('6'), windows: 4n })
  watched.apply(sampleSet(7, [{ type: 'windows', windows: sampleWindows({ amountRaw: 7n }) }]))
  assert.deepEqual(priced(watched), { pair: 5, target: price('6'), windows: 7n })
})

test('an entry changes with the pair, and with what its target counts for', () => {
  const watched = new WatchedPairs()
  watched.watch(onEth(MEME_WETH))
  const apply = (seq: number, token: Parameters<typeof sampleToken>[0]) =>
    watched.apply(sampleSet(seq, [{ type: 'token', token: sampleToken(token) }]))
  assert.deepEqual(watched.apply(sampleSet(1, [{ type: 'pair', pair: samplePair() }])), [MEME_WETH])
  assert.deepEqual(apply(2, { priceUsd: price('2') }), [MEME_WETH])
  assert.deepEqual(apply(3, { priceUsd: price('2'), updatedAt: 3 }), [])
  assert.deepEqual(apply(4, { priceUsd: price('3') }), [MEME_WETH])
  assert.deepEqual(apply(5, { address: MEME_USDC }), [])
  assert.deepEqual(
    watched.apply(sampleSet(6, [{ type: 'pair', pair: samplePair({ address: MEME_USDC }) }])),
    [],
  )
})

test('documents that a reorg removes become unknown', () => {
  const watched = new WatchedPairs()
  watched.watch(onEth(MEME_WETH))
  watched.apply(
    sampleSet(1, [
      { type: 'pair', pair: samplePair({ updatedAt: 1 }) },
      { type: 'token', token: sampleToken() },
      { type: 'windows', windows: sampleWindows() },
    ]),
  )
  watched.apply(
    sampleSet(2, [
      { type: 'tokenRemoved', token: MEME },
      { type: 'windowsRemoved', windows: { pair: MEME_WETH, token: MEME } },
    ]),
  )
  assert.deepEqual(priced(watched), { pair: 1, target: undefined, windows: undefined })
  watched.apply(sampleSet(3, [{ type: 'pairRemoved', pair: MEME_WETH }]))
  assert.equal(priced(watched), undefined)
  assert.deepEqual(watched.apply(sampleSet(4, [{ type: 'token', token: sampleToken() }])), [])
})

test('a followed token leads from one main pair to the next, and its pairs are released with it', () => {
  const watched = new WatchedPairs()
  watched.watchToken(onEth(MEME))
  watched.watchToken(onEth(MEME))
  const documents = { pair: { seq: 1, record: samplePair() }, windows: undefined, target: undefined }
  watched.offerMain(onEth(MEME), onEth(MEME_WETH), documents)
  watched.offerMain(onEth(MEME), onEth(MEME_WETH), documents)
  assert.equal(watched.size, 1)
  const next = samplePair({ address: MEME_USDC })
  assert.deepEqual(watched.apply(sampleSet(2, [{ type: 'pair', pair: { ...next, isMain: false } }])), [])
  assert.deepEqual(watched.apply(sampleSet(3, [{ type: 'pair', pair: next }])), [MEME_USDC])
  assert.equal(watched.size, 2)
  watched.watch(onEth(MEME_USDC))
  watched.unwatchToken(onEth(MEME))
  assert.equal(watched.size, 2)
  watched.unwatchToken(onEth(MEME))
  assert.equal(watched.size, 1)
  watched.unwatch(onEth(MEME_USDC))
  assert.equal(watched.size, 0)
})
