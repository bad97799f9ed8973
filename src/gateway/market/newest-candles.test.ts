import assert from 'node:assert/strict'
import test from 'node:test'
import { MEME_WETH, sampleCandle, samplePair } from '../../../test/support/builders/market-samples.ts'
import type { Candle } from '../../domain/change.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import type { Versioned } from '../../store/versioned.ts'
import { createNewestCandles } from './newest-candles.ts'

const SERIES = [{ chain: 'eth', pair: MEME_WETH, interval: 'k1' }] as const
const OLD: Versioned<Candle> = { seq: 1, record: sampleCandle() }

function startReads(history: () => Promise<Versioned<Candle>[]>) {
  const counts = { history: 0 }
  const stored: { candle: Versioned<Candle> | undefined } = { candle: undefined }
  const read = createNewestCandles({
    hot: {
      candles: async () => [stored.candle],
      pairs: async () => [{ seq: 1, record: samplePair({ lastTradeAt: 1 }) }],
    },
    history: {
      candles: () => {
        counts.history++
        return history()
      },
    },
    isWhole: () => true,
  })
  return { read, counts, stored }
}

test('a repeated read does not wait for ClickHouse again', async () => {
  const { read, counts, stored } = startReads(async () => [OLD])
  assert.deepEqual(await read(SERIES), [OLD])
  assert.deepEqual(await read(SERIES), [OLD])
  assert.equal(counts.history, 1)
  const traded = { seq: 2, record: sampleCandle({ start: 60 }) }
  stored.candle = traded
  assert.deepEqual(await read(SERIES), [traded])
})

test('a failure of ClickHouse is not cached', async () => {
  const answers = [Promise.reject(new ChaintapeError('store_unavailable', 'down')), Promise.resolve([OLD])]
  for (const answer of answers) answer.catch(() => undefined)
  const { read } = startReads(() => answers.shift() ?? Promise.resolve([]))
  assert.deepEqual(await read(SERIES), [undefined])
  assert.deepEqual(await read(SERIES), [OLD])
})
