import assert from 'node:assert/strict'
import { type Behaviour, mixedCase } from './behaviour.ts'
import type { Given } from './requests.ts'

type Txs = {
  readonly txs: { readonly id: string }[]
  readonly next_cursor?: string
  readonly cursor?: string
}
type Kline = Readonly<Record<'open' | 'high' | 'low' | 'close' | 'volume', string>> & {
  readonly time: number
  readonly count: number
}

/** Operations on pairs: details, candles, events. */
export const PAIR_BEHAVIOURS: readonly Behaviour[] = [
  {
    operation: 'token klines',
    name: "a quote asset that is no pair's target has no candles",
    given: { 'token-id': '$stable' },
    check: (rows: Kline[]) => assert.deepEqual(rows, []),
  },
  {
    operation: 'pair detail',
    name: 'in any case; fields of a pair that was never traded are left out',
    given: { 'pair-id': '$pair' },
    check: async (body, names, again) => {
      assert.deepEqual(await again({ 'pair-id': `${mixedCase(names.pair)}-local` }), body)
      const idle = (await again({ 'pair-id': '$idlePair' })) as object
      assert.deepEqual(
        Object.keys(idle).filter((name) => /trade|volume|makers|_ath_/.test(name)),
        [],
      )
    },
  },
  ...(['pair klines', 'token klines'] as const).map(
    (operation): Behaviour => ({
      operation,
      name: '300 by default, oldest first; fill adds the empty ones; eth is another unit',
      given: { ...of(operation), interval: 's1', fill: 'true' },
      check: async (filled: Kline[], _names, again) => {
        assert.equal(filled.length, 300)
        assert.ok(filled.every(({ time }, index) => time === (filled[0] as Kline).time + index))
        const more = (await again({
          ...of(operation),
          interval: 's1',
          fill: 'true',
          limit: 1_000,
        })) as Kline[]
        assert.equal(more.length, 1_000)
        const traded = (await again({ ...of(operation), interval: 's1', limit: 1_000 })) as Kline[]
        assert.ok(traded.every(({ count }) => count > 0))
        const inFill = more.filter(({ count }) => count > 0)
        assert.deepEqual(traded.slice(-inFill.length), inFill)
        const inEth = (await again({
          ...of(operation),
          interval: 's1',
          limit: 1_000,
          unit: 'eth',
        })) as Kline[]
        assert.deepEqual(
          inEth.map(({ time }) => time),
          traded.map(({ time }) => time),
        )
        assert.ok(inEth.every(({ close }, index) => Number(close) < Number(traded[index]?.close)))
      },
    }),
  ),
  {
    operation: 'pair klines',
    name: 'quote is the other token of the pair: here the native coin, so it says what eth says',
    given: { 'pair-id': '$pair', unit: 'quote' },
    check: async (inQuote: Kline[], _names, again) => {
      assert.ok(inQuote.length > 0)
      assert.deepEqual(inQuote, await again({ 'pair-id': '$pair', unit: 'eth' }))
    },
  },
  {
    operation: 'token klines',
    name: "quote is the other token of the main pair: the native coin's is a stablecoin, so it says what usd says",
    given: { 'token-id': '$native', unit: 'quote' },
    check: async (inQuote: Kline[], _names, again) => {
      assert.ok(inQuote.length > 0)
      assert.deepEqual(inQuote, await again({ 'token-id': '$native', unit: 'usd' }))
      assert.notDeepEqual(inQuote, await again({ 'token-id': '$native', unit: 'eth' }))
    },
  },
  {
    operation: 'pair klines',
    name: 'from and to, both included; limit keeps the newest',
    given: { 'pair-id': '$pair', limit: 1_000 },
    check: async (all: Kline[], _names, again) => {
      const [from, to] = [all[2]?.time, all[6]?.time]
      assert.deepEqual(await again({ 'pair-id': '$pair', from, to }), all.slice(2, 7))
      assert.deepEqual(await again({ 'pair-id': '$pair', from, to, limit: 2 }), all.slice(5, 7))
      assert.deepEqual(await again({ 'pair-id': '$pair', to: 1 }), [])
    },
  },
  {
    operation: 'pair klines',
    name: 'fill begins with the last close before from, if nothing was traded since',
    given: { 'pair-id': '$pair', interval: 's1', limit: 1_000 },
    check: async (all: Kline[], _names, again) => {
      const after = all.findIndex(({ time }, index) => time > (all[index - 1]?.time ?? time) + 4)
      const close = all[after - 1]?.close
      const [from, to] = [Number(all[after]?.time) - 3, all[after]?.time]
      const empty = { open: close, high: close, low: close, close, volume: '0', count: 0 }
      assert.deepEqual(await again({ 'pair-id': '$pair', interval: 's1', from, to, fill: 'true' }), [
        ...[0, 1, 2].map((offset) => ({ time: from + offset, ...empty })),
        all[after],
      ])
      const untraded = { from, to: from + 1, fill: 'true' }
      assert.deepEqual(await again({ 'pair-id': '$pair', interval: 's1', ...untraded }), [
        { time: from, ...empty },
        { time: from + 1, ...empty },
      ])
    },
  },
  {
    operation: 'swaps',
    name: '100 by default, newest first, page by page without gap or repetition',
    given: { 'pair-id': '$pair' },
    knowledge: 'full',
    check: async (first: Txs, _names, again) => {
      assert.equal(first.txs.length, 100)
      const all = (await again({ 'pair-id': '$pair', limit: 1_000 })) as Txs
      const rest = (await again({ 'pair-id': '$pair', cursor: first.next_cursor })) as Txs
      assert.deepEqual([...first.txs, ...rest.txs], all.txs)
      assert.deepEqual([all.next_cursor, rest.next_cursor], [undefined, undefined])
      // Where live data goes on is known of the newest page only.
      assert.deepEqual([typeof first.cursor, rest.cursor], ['string', undefined])
    },
  },
  {
    operation: 'liquidity',
    name: 'newest first, page by page',
    given: { 'pair-id': '$pair', limit: 1 },
    check: async (first: Txs, _names, again) => {
      const rest = (await again({ 'pair-id': '$pair', limit: 1, cursor: first.next_cursor })) as Txs
      const types = [...first.txs, ...rest.txs].map((tx) => (tx as unknown as { type: string }).type)
      assert.deepEqual([types, rest.next_cursor], [['addLiquidity', 'createPair'], undefined])
    },
  },
]

function of(operation: 'pair klines' | 'token klines'): Given {
  return operation === 'pair klines' ? { 'pair-id': '$pair' } : { 'token-id': '$token' }
}
