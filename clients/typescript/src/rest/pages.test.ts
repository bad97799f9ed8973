import assert from 'node:assert/strict'
import test from 'node:test'
import type { RestMethods } from '../generated/operations.ts'
import type { Candle, Swap } from '../generated/schemas.ts'
import { answerOf, readMeta } from './answer.ts'
import { allCandles, allSwaps, allTrending } from './pages.ts'

const meta = readMeta(200, new Headers())
const answer = <T>(data: T) => answerOf(Promise.resolve({ data, meta }))

test('swaps are read page by page, and only as far as they are consumed', async () => {
  const asked: unknown[] = []
  const pages: Record<string, { txs: { id: string }[]; next_cursor?: string }> = {
    first: { txs: [{ id: '3' }, { id: '2' }], next_cursor: 'second' },
    second: { txs: [{ id: '1' }] },
  }
  const rest = {
    pairSwaps: (_pair: string, query: { cursor?: string }) => {
      asked.push(query.cursor)
      return answer(pages[query.cursor ?? 'first'])
    },
  } as unknown as Pick<RestMethods, 'pairSwaps'>
  const ids: string[] = []
  for await (const { id } of allSwaps(rest, 'p-eth')) ids.push(id)
  assert.deepEqual(
    [ids, asked],
    [
      ['3', '2', '1'],
      [undefined, 'second'],
    ],
  )
  asked.length = 0
  const first: Swap[] = []
  for await (const swap of allSwaps(rest, 'p-eth')) {
    first.push(swap)
    break
  }
  assert.deepEqual([first.length, asked], [1, [undefined]])
})

test('candles are read back to the start, each once', async () => {
  const all = Array.from({ length: 2_500 }, (_, index) => ({ time: 60 * index }))
  const rest = {
    pairKlines: (_pair: string, { from = 0, to = 2 ** 32, limit = 300 }) =>
      answer(all.filter(({ time }) => time >= from && time <= to).slice(-limit)),
  } as unknown as Pick<RestMethods, 'pairKlines'>
  const times: number[] = []
  for await (const { time } of allCandles(rest, 'p-eth', { from: 6_000 })) times.push(time)
  const expected: Pick<Candle, 'time'>[] = all.slice(100).reverse()
  assert.deepEqual(
    times,
    expected.map(({ time }) => time),
  )
})

test('trending pages end at -1', async () => {
  const rest = {
    trendingTokens: ({ current_page = 0 }) =>
      answer({
        tokens: [{ token: `t${current_page}` }],
        next_page: current_page === 2 ? -1 : current_page + 1,
      }),
  } as unknown as Pick<RestMethods, 'trendingTokens'>
  const tokens: string[] = []
  for await (const { token } of allTrending(rest, { chain: 'eth' })) tokens.push(token)
  assert.deepEqual(tokens, ['t0', 't1', 't2'])
})
