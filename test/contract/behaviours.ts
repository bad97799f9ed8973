import assert from 'node:assert/strict'
import type { Knowledge } from './faults.ts'
import type { Given } from './requests.ts'
import type { Names } from './world.ts'

/** What the inputs of an operation do, one row for each thing that the document or the decisions say. */

type Behaviour = {
  readonly operation: string
  readonly name: string
  readonly given: Given
  readonly knowledge?: Knowledge
  /** `again` asks the same operation once more. */
  readonly check: (
    body: never,
    names: Names,
    again: (given: Given) => Promise<unknown>,
  ) => void | Promise<void>
}

type TokenRow = Readonly<Record<string, string | number>>
type Page = { readonly current_page_size: number; readonly next_page: number; readonly tokens: TokenRow[] }
type Pages = Page & { readonly total: number }
type Detail = {
  readonly data: { readonly is_audited: boolean; readonly token: { readonly logo_url: string } }
}
type Explanation = { readonly score: number; readonly factors: { readonly points: number }[] }
type Txs = {
  readonly txs: { readonly id: string }[]
  readonly next_cursor?: string
  readonly cursor?: string
}
type Kline = Readonly<Record<'open' | 'high' | 'low' | 'close' | 'volume', string>> & {
  readonly time: number
  readonly count: number
}

const CONTRACT_FLAGS = [
  ...['is_honeypot', 'is_proxy', 'has_mint_method', 'has_black_method', 'transfer_pausable'],
  ...['slippage_modifiable', 'can_take_back_ownership', 'hidden_owner', 'selfdestruct', 'external_call'],
]

const UNKNOWN = `0x${'1'.repeat(40)}-local`
const NOT_SERVED = `0x${'1'.repeat(40)}-tron`

export const BEHAVIOURS: readonly Behaviour[] = [
  {
    operation: 'token prices',
    name: 'by default a token below 1000 dollars of TVL is left out; so is one that is unknown, or of a chain that is not served',
    given: { token_ids: ['$token', NOT_SERVED, '$idle', '$tiny', UNKNOWN] },
    check: (body, names) => hasKeys(body, names, ['token', 'idle']),
  },
  {
    operation: 'token prices',
    name: 'tvl_min 0 is no threshold',
    given: { token_ids: ['$token', '$idle', '$tiny', UNKNOWN], tvl_min: 0 },
    check: (body, names) => hasKeys(body, names, ['token', 'idle', 'tiny']),
  },
  {
    operation: 'token prices',
    name: 'tvl_min in dollars',
    given: { token_ids: ['$token', '$idle'], tvl_min: 100_000 },
    check: (body, names) => hasKeys(body, names, ['token']),
  },
  {
    operation: 'token prices',
    name: 'tx_24h_volume_min leaves out what was not traded for as much',
    given: { token_ids: ['$token', '$idle', '$beans/3'], tx_24h_volume_min: 1_000 },
    check: (body, names) => hasKeys(body, names, ['token']),
  },
  {
    operation: 'token prices',
    name: 'quote assets have TVL and volume over all their pools, so the default thresholds keep them',
    given: { token_ids: ['$stable', '$native'] },
    check: (body: Record<string, { tvl: string; tx_volume_u_24h: string }>, names) => {
      hasKeys(body, names, ['stable', 'native'])
      for (const { tvl, tx_volume_u_24h } of Object.values(body)) {
        assert.ok(Number(tvl) > 1_000)
        assert.ok(Number(tx_volume_u_24h) > 0)
      }
    },
  },
  {
    operation: 'token klines',
    name: "a quote asset that is no pair's target has no candles",
    given: { 'token-id': '$stable' },
    check: (rows: Kline[]) => assert.deepEqual(rows, []),
  },
  {
    operation: 'token prices',
    name: 'an id in any case, and twice, is answered once, in lower case',
    given: { token_ids: ['$token', '$native'] },
    check: async (body, names, again) => {
      const mixed = [names.token, names.native].map((address) => `${mixedCase(address)}-local`)
      assert.deepEqual(await again({ token_ids: [...mixed, ...mixed] }), body)
    },
  },
  ...['token prices', 'token batch'].map(
    (operation): Behaviour => ({
      operation,
      name: 'of chains that are not served alone, nothing is left',
      given: { token_ids: [NOT_SERVED] },
      check: (body) => assert.deepEqual(body, {}),
    }),
  ),
  {
    operation: 'token batch',
    name: 'a row for each known id; unknown ones, and those of chains that are not served, are left out',
    given: { token_ids: [NOT_SERVED, '$token', '$idle', '$tiny', '$native', '$stable', UNKNOWN] },
    check: (body, names) => hasKeys(body, names, ['token', 'idle', 'tiny', 'native', 'stable']),
  },
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
    operation: 'token detail',
    name: 'the five pairs with the highest TVL',
    given: { 'token-id': '$native' },
    check: ({ data: { pairs } }: { data: { pairs: TokenRow[] } }) => {
      assert.equal(pairs.length, 5)
      isDescending(pairs, 'tvl')
    },
  },
  {
    operation: 'token detail',
    name: 'in any case',
    given: { 'token-id': '$token' },
    check: async (body, names, again) =>
      assert.deepEqual(await again({ 'token-id': `${mixedCase(names.token)}-local` }), body),
  },
  {
    operation: 'token detail',
    name: 'logo and audit, as the configured list says',
    given: { 'token-id': '$token' },
    check: async ({ data }: Detail, names, again) => {
      const { data: other } = (await again({ 'token-id': '$idle' })) as Detail
      const logo = (address: string): string => `https://pictures.example/${address}.png`
      assert.deepEqual([data.is_audited, data.token.logo_url], [true, logo(names.token)])
      assert.deepEqual([other.is_audited, other.token.logo_url], [false, logo(names.idle)])
    },
  },
  {
    operation: 'token detail',
    name: 'one that was never traded',
    given: { 'token-id': '$idle' },
    check: ({ data }: { data: { pairs: TokenRow[] } }) => {
      assert.deepEqual(
        data.pairs.map(({ price_change, volume_u }) => [price_change, volume_u]),
        [['', '']],
      )
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
    name: 'explain tells the score, highest first, and the points that it is the sum of',
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
  {
    operation: 'contract',
    name: 'a plain token raises no alarm; being on a token list is told',
    given: { 'token-id': '$token' },
    knowledge: 'full',
    check: (body: TokenRow & { token_holders_rank: TokenRow[] }, names) => {
      const raised = CONTRACT_FLAGS.filter((name) => body[name] !== 0)
      assert.deepEqual(raised, [])
      assert.deepEqual([body['buy_tax'], body['sell_tax'], body['transfer_tax']], ['0', '0', '0'])
      assert.equal(body['risk_level'], 1)
      const pools = body.token_holders_rank.filter(({ is_lp }) => is_lp === 1)
      assert.deepEqual(
        pools.map(({ address, mark, is_contract }) => [address, mark, is_contract]),
        [[names.pair, 'pool', 1]],
      )
    },
  },
  {
    operation: 'top holders',
    name: 'largest first, each with its part of the supply',
    given: { 'token-id': '$token' },
    knowledge: 'full',
    check: async (all: TokenRow[], _names, again) => {
      isDescending(all, 'amount_cur')
      isDescending(all, 'balance_ratio')
      isDescending(all, 'balance_usd')
      assert.ok(all.every(({ holder, address }) => holder === address))
      const parts = all.reduce((sum, { balance_ratio }) => sum + Number(balance_ratio), 0)
      assert.ok(Math.abs(parts - 1) < 1e-9, `all of them hold ${parts} of it`)
      assert.deepEqual(await again({ 'token-id': '$token', limit: 1 }), all.slice(0, 1))
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

function of(operation: 'pair klines' | 'token klines'): Given {
  return operation === 'pair klines' ? { 'pair-id': '$pair' } : { 'token-id': '$token' }
}

function hasKeys(body: object, names: Names, wanted: readonly (keyof Names)[]): void {
  assert.deepEqual(Object.keys(body).sort(), wanted.map((name) => `${names[name]}-local`).sort())
}

function isDescending(rows: readonly TokenRow[], field: string): void {
  // A token's volume is unknown until its first transfer is read; it is ranked by the part that is known.
  const values = rows.flatMap((row) => (row[field] === undefined ? [] : [Number(row[field])]))
  assert.ok(values.length > 1 && values.every((value) => value > 0), `${field}: ${values}`)
  assert.deepEqual(
    values,
    [...values].sort((a, b) => b - a),
  )
}

function mixedCase(address: string): string {
  return `0x${address
    .slice(2)
    .split('')
    .map((digit, index) => (index % 2 === 0 ? digit.toUpperCase() : digit))
    .join('')}`
}
