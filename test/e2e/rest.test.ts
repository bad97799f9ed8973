import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { zeroAddress } from 'viem'
import { storedRows } from '../support/reference/store-dump.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { ExpectedAnswers } from './expected-answers.ts'
import { INTERVAL_NAMES, type IntervalName, type Unit } from './expected-candles.ts'
import { switchColumns } from './expected-columns.ts'
import { assertHoldersRank } from './expected-holder-rows.ts'
import { targetOf } from './expected-pools.ts'
import { filledRows, klineRows, type Row } from './expected-rows.ts'
import { withoutProfile } from './expected-wallets.ts'
import { pick } from './protocols-run.ts'
import { RestRun } from './rest-run.ts'
import { withoutUnknown } from './without-unknown.ts'

type Kline = Row & { readonly revision?: number }

let run: RestRun
let answers: ExpectedAnswers
/** Each candle as first returned: it must not depend on where it comes from. */
const revisions = new Map<string, unknown>()

before(async () => {
  run = await RestRun.deploy()
  await run.play()
  answers = new ExpectedAnswers(run.expected, run.holdings)
  for (const [id, row] of Object.entries(await rowsOf(tokens()))) {
    const address = id.replace('-local', '')
    answers.examined(address, row)
    // Plain tokens, of which none can be made: the native coin is no contract, wrapping it makes no more of it.
    if (address === zeroAddress) assert.equal(row['risk_score'], undefined)
    else assert.ok(Number(row['risk_score']) < 60, `${row['symbol']} scores ${row['risk_score']}`)
    assert.ok([0, -1].includes(Number(row['is_honeypot'])), `${row['symbol']}: ${row['is_honeypot']}`)
    assert.notEqual(row['is_mintable'], 1)
  }
})

after(() => run?.stop())

const MOMENTS = [
  { name: 'while the writer is down', prepare: async () => undefined, isWritten: false },
  { name: 'once all is written, of a new gateway', prepare: () => run.writeAndRestart(), isWritten: true },
  { name: 'after Redis was lost and rebuilt', prepare: () => run.rebuildRedis(), isWritten: true },
]

const pairs = (): string[] => [...run.expected.pools.all.keys()]
const tokens = (): string[] => [...run.expected.tokens.all.keys()]
const idsOf = (addresses: readonly string[]): string[] => addresses.map((address) => `${address}-local`)

async function get<T = unknown>(path: string): Promise<T> {
  const { status, body, headers } = await run.pipeline.get(path)
  assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`)
  if (headers.has('X-Block')) assert.equal(headers.get('X-Block'), String(run.expected.head.number))
  return withoutUnknown(body as T)
}

async function post(path: string, question: object): Promise<unknown> {
  const { status, body } = await run.pipeline.post(path, question)
  assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`)
  return withoutUnknown(body)
}

async function rowsOf(addresses: readonly string[]): Promise<Record<string, Row>> {
  return (await post('/v2/tokens/search', { token_ids: idsOf(addresses) })) as Record<string, Row>
}

test('the script is what it should be', () => {
  const { pools, tokens: ofMarket, head } = run.expected
  assert.equal(pools.all.size, 20)
  assert.equal(new Set([...pools.all.values()].map(({ amm }) => amm)).size, 3)
  assert.ok(pools.trades.length >= 2_000, `${pools.trades.length} swaps`)
  assert.ok(new Set(pools.trades.map(({ wallet }) => wallet)).size > 4)
  assert.ok(ofMarket.switches.length > 2)
  const times = pools.trades.map(({ time }) => time)
  assert.ok(head.time - (times[0] ?? 0) > 86_400, 'some trades are older than a day')
  assert.equal(new Set(times.map((time) => Math.floor(time / 86_400))).size, 3, 'on three days')
  // Each window of the deepest pool holds something else, and one token has only old trades.
  const volumes = Object.values(run.expected.pairWindows(pairs()[0] ?? '')?.sums ?? {}).map(
    ({ buyUsd }) => buyUsd,
  )
  assert.ok(new Set(volumes).size >= 5, `${volumes}`)
  assert.ok(
    tokens().some((token) => {
      const day = run.expected.tokenWindows(token)?.sums['24h']
      return day !== undefined && day.buys + day.sells === 0
    }),
  )
})

for (const { name, prepare, isWritten } of MOMENTS) {
  describe(name, () => {
    before(prepare)

    test('every pair in full', async () => {
      for (const id of pairs()) assert.deepEqual(await get(`/v2/pairs/${id}-local`), answers.pairDetail(id))
    })

    test('every token, its top five pairs, and what is known of its contract', async () => {
      for (const address of tokens()) {
        assert.deepEqual(await get(`/v2/tokens/${address}-local`), answers.tokenDetail(address))
        await compareContract(address, isWritten)
      }
    })

    test('the largest holders of every token', async () => {
      for (const address of tokens()) {
        const path = `/v2/tokens/top100/${address}-local`
        const { headers, body } = await run.pipeline.get(path)
        const isKnown = run.holdings.of(address) !== undefined
        assert.equal(headers.get('X-Holders-Complete'), String(isKnown))
        assert.equal(headers.get('X-Native-Balances'), null)
        // Holders are as old as the writer's last batch.
        if (!isWritten) assert.equal((body as Row[]).length > 8, isKnown)
        else {
          assert.deepEqual(body, answers.topHolders(address))
          assert.deepEqual(await get(`${path}?limit=3`), answers.topHolders(address, 3))
        }
      }
    })

    test('prices of all tokens at once, and of those above a threshold', async () => {
      const token_ids = idsOf(tokens())
      const expected = (isKept: (row: Row) => boolean): unknown =>
        Object.fromEntries(
          tokens().flatMap((address) => {
            const row = answers.tokenPrice(address)
            return isKept(row) ? [[`${address}-local`, row]] : []
          }),
        )
      assert.deepEqual(
        await post('/v2/tokens/price', { token_ids, tvl_min: 0 }),
        expected(() => true),
      )
      const reaches = (field: unknown, dollars: number): boolean => Number(field ?? -1) >= dollars
      assert.deepEqual(
        await post('/v2/tokens/price', { token_ids }),
        expected(({ tvl }) => reaches(tvl, 1_000)),
      )
      const thresholds = { tvl_min: 100_000, tx_24h_volume_min: 30_000 }
      const some = expected(
        ({ tvl, tx_volume_u_24h }) => reaches(tvl, 100_000) && reaches(tx_volume_u_24h, 30_000),
      )
      assert.ok(Object.keys(some as object).length > 2)
      assert.deepEqual(await post('/v2/tokens/price', { token_ids, ...thresholds }), some)
    })

    test('rows of all tokens at once, and of the main ones', async () => {
      assert.deepEqual(
        await post('/v2/tokens/search', { token_ids: [...idsOf(tokens()), `0x${'1'.repeat(40)}-local`] }),
        Object.fromEntries(tokens().map((address) => [`${address}-local`, answers.tokenRow(address)])),
      )
      const { stable, natives } = run.expected.prices
      assert.deepEqual(
        await get('/v2/tokens/main?chain=local'),
        [stable, ...natives].map((address) => answers.mainTokenRow(address)),
      )
    })

    test('trending tokens, page by page', async () => {
      if (!isWritten) return compareStaleRows('/v2/tokens/trending?chain=local')
      const rows = await rowsOf(tokens())
      const expected = answers.trending((address) => rows[`${address}-local`] ?? {})
      assert.ok(expected.length > 4 && expected.length < tokens().length, `${expected.length} are ranked`)
      await rankedAnew(expected.length)
      for (const size of [1, 3, expected.length, 50]) {
        const found: unknown[] = []
        for (let page = 0; page !== -1; ) {
          const answer = await get<{
            current_page_size: number
            next_page: number
            total: number
            tokens: Row[]
          }>(`/v2/tokens/trending?chain=local&page_size=${size}&current_page=${page}`)
          assert.equal(answer.total, expected.length)
          assert.equal(answer.current_page_size, answer.tokens.length)
          assert.equal(answer.next_page, (page + 1) * size < expected.length ? page + 1 : -1)
          found.push(...answer.tokens)
          page = answer.next_page
        }
        assert.deepEqual(
          found,
          expected.map(({ address }) => rows[`${address}-local`]),
        )
      }
      const path = '/v2/tokens/trending?chain=local&explain=true'
      const explained = await get<{ tokens: (Row & { trending: { score: number } })[] }>(path)
      assert.deepEqual(
        explained.tokens.map(({ token, trending }) => ({ address: token, score: trending.score })),
        expected,
      )
    })

    test('tokens by keyword', async () => {
      if (!isWritten) return compareStaleRows('/v2/tokens?keyword=a')
      for (const keyword of ['alfa', 'ALFAX', 'a', 'E', 'weth', 'nothing']) {
        for (const order of ['tx_volume_u_24h', 'main_pair_tvl', 'fdv'] as const) {
          const rows = answers.byKeyword(keyword, order).map((address) => {
            return { ...answers.tokenRow(address), is_impostor: answers.isImpostor(address) }
          })
          const path = `/v2/tokens?keyword=${keyword}&chain=local&orderby=${order}`
          assert.deepEqual(await get(path), rows)
          assert.deepEqual(await get(`${path}&limit=2`), rows.slice(0, 2))
        }
      }
      assert.equal(answers.byKeyword('alfa', 'fdv').length, 3)
      for (const address of tokens())
        assert.deepEqual(await get(`/v2/tokens?keyword=${address.toUpperCase().replace('0X', '0x')}`), [
          answers.tokenRow(address),
        ])
    })

    test('candles of every pair and interval', async () => {
      for (const pair of pairs()) for (const interval of INTERVAL_NAMES) await compareCandles(pair, interval)
    })

    test('candles between times, at most so many, and filled up', async () => {
      for (const pair of pairs().slice(0, 3))
        for (const interval of ['s1', 'k1', 'k15', 'k60', 'k10080'] as const)
          await compareRanges(pair, interval)
      for (const address of tokens()) {
        const main = answers.token(address).mainPair
        const own = await get<Kline[]>(`/v2/klines/token/${address}-local?interval=k15`)
        assert.deepEqual(
          own,
          main === undefined || targetOf(main)?.address !== address
            ? []
            : await get(`/v2/klines/pair/${main.id}-local?interval=k15`),
        )
      }
    })

    test('every swap once, newest first, and liquidity likewise', async () => {
      for (const id of pairs()) {
        assert.deepEqual(await allPages(`/v2/txs/${id}-local`, 50), answers.swaps(id))
        assert.deepEqual(await allPages(`/v2/txs/liq/${id}-local`, 1), answers.liquidity(id))
      }
      const busiest = pairs()[0] ?? ''
      for (const limit of [7, answers.swaps(busiest).length, 1_000])
        assert.deepEqual(await allPages(`/v2/txs/${busiest}-local`, limit), answers.swaps(busiest))
    })

    test('the chart datafeed has the same candles', async () => {
      const pair = pairs()[1] ?? ''
      const rows = klineRows(answers.candles(pair, 'k60'), 'usd')
      const { time } = run.expected.head
      const bars = await get<Record<string, unknown>>(
        `/udf/history?symbol=${pair}-local&resolution=60&from=0&to=${time + 1}`,
      )
      const column = (name: string): number[] => rows.map((row) => Number(row[name]))
      assert.deepEqual(bars, {
        s: 'ok',
        ...{ t: column('time'), o: column('open'), h: column('high'), l: column('low'), c: column('close') },
        v: column('volume'),
      })
    })
  })
}

test('every change of main pair is stored, and none of those that were undone', async () => {
  const { switches } = await storedRows(run.stack, run.pipeline.name)
  const expected = run.expected.tokens.switches.map(switchColumns)
  const inOrder = (rows: readonly Row[]): Row[] =>
    rows.toSorted(
      (a, b) => Number(a['block']) - Number(b['block']) || (String(a['token']) < String(b['token']) ? -1 : 1),
    )
  assert.deepEqual(
    inOrder((switches as Row[]).map((row) => pick(row, Object.keys(expected[0] ?? {})))),
    inOrder(expected),
  )
})

/** The contract report must agree with the token's row. */
async function compareContract(address: string, isWritten: boolean): Promise<void> {
  const row = await get<Row>(`/v2/contracts/${address}-local`)
  const expected = answers.contract(address)
  assert.deepEqual(pick(row, Object.keys(expected)), expected)
  if (!isWritten) return
  const { risk_score, is_honeypot, has_mint_method: is_mintable } = row
  const own = answers.tokenRow(address)
  assert.deepEqual(
    { risk_score, is_honeypot, is_mintable },
    { risk_score: own['risk_score'], is_honeypot: own['is_honeypot'], is_mintable: own['is_mintable'] },
  )
  const holding = run.holdings.of(address)
  if (row['creator_address'] !== undefined) assert.equal(row['creator_address'], holding?.creator)
  const rank = row['token_holders_rank'] as Row[]
  if (holding === undefined) assert.deepEqual(rank, [])
  else assertHoldersRank(rank, answers.token(address), holding, (holder) => pairs().includes(holder))
}

/** A ranking may be some seconds old. */
async function rankedAnew(total: number): Promise<void> {
  const path = '/v2/tokens/trending?chain=local'
  await waitFor(`${total} ranked tokens`, async () => {
    return (await get<{ total: number }>(path)).total === total ? true : undefined
  })
}

/** The writer determines which tokens are listed and in what order; their values must be right. */
async function compareStaleRows(path: string): Promise<void> {
  const answer = await get<Row[] | { tokens: Row[] }>(path)
  const rows = 'tokens' in answer ? answer.tokens : answer
  assert.ok(rows.length > 2)
  for (const { is_impostor: _, ...row } of rows) assert.deepEqual(row, answers.tokenRow(String(row['token'])))
}

/** Without values that the model cannot know: revisions, which must be present, and stay as first returned. */
function withoutRevisions(series: string, rows: readonly Kline[]): Row[] {
  return rows.map(({ revision, ...row }: Kline): Row => {
    const key = `${series}/${row['time']}`
    if (row['count'] !== 0) {
      assert.ok(Number.isInteger(revision) && Number(revision) > 0)
      assert.equal(revision, revisions.get(key) ?? revision, `revision of ${key}`)
      revisions.set(key, revision)
    } else assert.equal(revision, undefined)
    return row
  })
}

function expectedRows(pair: string, interval: IntervalName, unit: Unit): Row[] {
  return klineRows(answers.candles(pair, interval), unit)
}

async function compareCandles(pair: string, interval: IntervalName): Promise<void> {
  for (const unit of ['usd', 'eth', 'quote'] as const) {
    const path = `/v2/klines/pair/${pair}-local?interval=${interval}&unit=${unit}&limit=1000`
    const found = withoutRevisions(`${pair}/${interval}`, await get<Kline[]>(path))
    assert.deepEqual(found, expectedRows(pair, interval, unit), path)
  }
}

async function compareRanges(pair: string, interval: IntervalName): Promise<void> {
  const all = expectedRows(pair, interval, 'usd')
  const starts = all.map(({ time }) => Number(time))
  const middle = starts[Math.floor(starts.length / 2)] ?? 0
  const last = starts.at(-1) ?? 0
  for (const { from = 0, to = 2 ** 32 - 1, limit } of [
    { limit: 1 },
    { limit: 3 },
    { from: middle, limit: 1_000 },
    { from: middle + 1, limit: 2 },
    { to: middle, limit: 1_000 },
    { to: middle - 1, limit: 2 },
    { from: middle, to: middle, limit: 5 },
    { from: last + 1, limit: 5 },
    { from: starts[0] ?? 0, to: last, limit: 1_000 },
  ]) {
    const path = `/v2/klines/pair/${pair}-local?interval=${interval}&from=${from}&to=${to}&limit=${limit}`
    const inside = all.filter(({ time }) => Number(time) >= from && Number(time) <= to)
    assert.deepEqual(withoutRevisions(`${pair}/${interval}`, await get(path)), inside.slice(-limit), path)
    const until = Math.min(to, run.expected.head.time)
    const filled = filledRows(all, interval, { from, until, limit })
    assert.deepEqual(
      withoutRevisions(`${pair}/${interval}`, await get(`${path}&fill=true`)),
      filled,
      `${path} filled`,
    )
  }
}

async function allPages(path: string, limit: number): Promise<Row[]> {
  const found: Row[] = []
  for (let cursor = ''; ; ) {
    const page = await get<{ txs: Row[]; next_cursor?: string }>(`${path}?limit=${limit}${cursor}`)
    assert.ok(page.txs.length <= limit)
    found.push(...page.txs.map(withoutProfile))
    if (page.next_cursor === undefined) return found
    assert.equal(page.txs.length, limit)
    cursor = `&cursor=${page.next_cursor}`
  }
}
