import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MEME_USDC, MEME_WETH, samplePair } from '../../../../test/support/builders/market-samples.ts'
import type { MarketReader } from '../../market/market-view.ts'
import { resolveTopic } from './sources.ts'

test('a pair without a quote asset never has candles, so a subscription to them is rejected', async () => {
  const records = new Map([
    [MEME_WETH, samplePair()],
    [MEME_USDC, samplePair({ address: MEME_USDC, targetToken: undefined })],
  ])
  const pairs: MarketReader['pairs'] = async (refs) =>
    refs.map(({ address }) => ({ seq: 1, record: records.get(address) }))
  const series = [MEME_WETH, MEME_USDC, '0x00'].map((address) => ({
    pair: { address, chain: 'eth' },
    interval: 'k1' as const,
  }))
  const topic = { name: 'multi_kline', series, rejected: [] } as const
  const { sources, rejected } = await resolveTopic(topic, { pairs } as MarketReader)
  assert.deepEqual(
    sources.map(({ kind }) => kind),
    ['kline', 'event'],
  )
  assert.deepEqual(rejected, [
    { item: `${MEME_USDC}-eth`, reason: 'unpriced_pair' },
    { item: '0x00-eth', reason: 'unknown_pair' },
  ])
})
