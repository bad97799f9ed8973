import assert from 'node:assert/strict'
import { type Behaviour, isDescending, mixedCase, type TokenRow } from './behaviour.ts'

type Page = { readonly current_page_size: number; readonly next_page: number; readonly tokens: TokenRow[] }
type Pages = Page & { readonly total: number }
type Explanation = { readonly score: number; readonly factors: { readonly points: number }[] }

/** Operations that find tokens, rank them or list what is known. */
export const LIST_BEHAVIOURS: readonly Behaviour[] = [
  {
    operation: 'keyword search',
    name: 'by symbol: 100 rows by default, ordered by volume',
    given: { keyword: 'BEAN' },
    check: (rows: TokenRow[]) => {
      assert.equal(rows.length, 100)
      isDescending(rows, 'tx_volume_u_24h')
    },
  },
  ...(['tx_volume_u_24h', 'main_pair_tvl', 'fdv'] as const).map(
    (orderby): Behaviour => ({
      operation: 'keyword search',
      name: `ordered by ${orderby}`,
      given: { keyword: 'bean', orderby, limit: 300 },
      check: (rows: TokenRow[], names) => {
        assert.equal(rows.length, names.beans.length)
        isDescending(rows, orderby)
      },
    }),
  ),
  {
    operation: 'keyword search',
    name: 'market_cap orders by fdv until it is known',
    given: { keyword: 'bean', orderby: 'market_cap' },
    check: (rows: TokenRow[]) => isDescending(rows, 'fdv'),
  },
  {
    operation: 'keyword search',
    name: 'limit',
    given: { keyword: 'BEAN', limit: 7, chain: 'local' },
    check: (rows: TokenRow[]) => assert.equal(rows.length, 7),
  },
  {
    operation: 'keyword search',
    name: 'by address, in any case; an unknown one finds nothing',
    given: { keyword: 'PEP' },
    knowledge: 'full',
    check: async (rows: TokenRow[], names, again) => {
      const [{ is_impostor: isImpostor, ...row } = {}, ...others] = rows
      assert.deepEqual([row['token'], isImpostor, others], [names.token, false, []])
      assert.deepEqual(await again({ keyword: mixedCase(names.token) }), [row])
      assert.deepEqual(await again({ keyword: 'pepper' }), [row])
      assert.deepEqual(await again({ keyword: `0x${'1'.repeat(40)}` }), [])
      for (const keyword of ['no such symbol', '%', '_EP', "' OR 1=1 --", '\u0000', '\\']) {
        assert.deepEqual(await again({ keyword }), [], keyword)
      }
    },
  },
  {
    operation: 'platform',
    name: 'none where no launch platform is read',
    given: { tag: 'meme', orderby: 'main_pair_tvl' },
    check: (body) => assert.deepEqual(body, []),
  },
  {
    operation: 'main tokens',
    name: 'the quote assets, highest rank first',
    given: { chain: 'local' },
    check: (rows: TokenRow[], { stable, native }) =>
      assert.deepEqual(
        rows.map(({ token }) => token),
        [stable, native],
      ),
  },
  {
    operation: 'trending',
    name: '50 rows by default; next_page is -1 on the last page',
    given: { chain: 'local' },
    check: async (first: Pages, names, again) => {
      const { tokens: _, ...about } = first
      const total = names.beans.length + 1
      assert.deepEqual(about, { current_page_size: 50, next_page: 1, total })
      const second = (await again({ chain: 'local', current_page: 1 })) as Pages
      const last = (await again({ chain: 'local', current_page: 2 })) as Pages
      assert.deepEqual([second.next_page, last.next_page, last.current_page_size], [2, -1, total - 100])
      const seen = [first, second, last].flatMap((page) => page.tokens.map(({ token }) => token))
      assert.deepEqual(seen.toSorted(), [names.token, ...names.beans].toSorted(), 'main tokens are left out')
      const beyond = (await again({ chain: 'local', current_page: 9 })) as Pages
      assert.deepEqual(beyond, { current_page_size: 0, next_page: -1, total, tokens: [] })
    },
  },
  {
    operation: 'trending',
    name: 'page_size',
    given: { chain: 'local', page_size: 100, current_page: 1 },
    check: ({ tokens, next_page }: Page, { beans }) => {
      assert.deepEqual([tokens.length, next_page], [beans.length + 1 - 100, -1])
    },
  },
  {
    operation: 'trending',
    name: 'explain returns the score, highest first, and the points that add up to it',
    given: { chain: 'local', page_size: 100, explain: 'true' },
    check: ({ tokens }: { tokens: { trending: Explanation }[] }) => {
      const scores = tokens.map(({ trending }) => trending.score)
      assert.ok(scores.length === 100 && scores.every((score) => score > 0))
      assert.deepEqual(
        scores,
        scores.toSorted((a, b) => b - a),
      )
      assert.ok(new Set(scores).size > 50, 'most differ')
      for (const { trending } of tokens) {
        assert.equal(trending.factors.length, 9)
        const sum = trending.factors.reduce((points, factor) => points + factor.points, 0)
        assert.equal(sum, trending.score)
      }
    },
  },
  {
    operation: 'usage',
    name: 'of this month unless another is named',
    given: {},
    check: async (body: { month: string; plan: string; cu_used: number }, _names, again) => {
      assert.deepEqual([body.month, body.plan], [new Date().toISOString().slice(0, 7), 'default'])
      assert.ok(body.cu_used > 0)
      const before = (await again({ month: '2020-01' })) as { cu_used: number; days: unknown[] }
      assert.deepEqual([before.cu_used, before.days], [0, []])
    },
  },
]
