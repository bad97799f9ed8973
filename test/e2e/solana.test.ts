import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { storedRows } from '../support/reference/store-dump.ts'
import { API_KEY } from '../support/rigs/pipeline.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { WsClient } from '../support/rigs/ws-client.ts'
import { ExpectedAnswers } from './expected-answers.ts'
import { decimal } from './expected-numbers.ts'
import { klineRows, type Row } from './expected-rows.ts'
import type { ExpectedSolana } from './expected-solana.ts'
import { FINAL_BELOW_HEAD, PATIENCE_MS, ROLES, SolanaRun } from './solana-run.ts'
import { NAMES } from './solana-scenario.ts'
import { withoutUnknown } from './without-unknown.ts'
import { foldEvents } from './ws-fold.ts'

const FORKS = [1, 2, 5, 13, 32]
const KILLS = 20
/** Which log of its block an event is depends on the programs around it; everything else of a trade is expected. */
const PLACES = ['id', 'tx_seq']
const UNKNOWN_OF_RECORDED = [
  ...['from_reserve', 'to_reserve', 'from_symbol', 'to_symbol', 'to'],
  ...['pair_liquidity_usd', 'pair_liquidity_eth'],
]
/** A pair without a quote asset may be priced by a route through recorded pools, whose depth is not expected. */
const UNKNOWN_BY_ROUTE = [
  ...['amount_eth', 'amount_usd', 'from_price_eth', 'from_price_usd', 'to_price_eth', 'to_price_usd'],
  ...['target_token', 'tx_swap_type'],
]

let run: SolanaRun
let expected: ExpectedSolana
let answers: ExpectedAnswers
let kills = 0

before(async () => {
  run = await SolanaRun.start()
  run.scenario.open()
  await run.pipeline.start(...ROLES)
  run.scenario.trade(36)
  await run.caughtUp()
})

after(() => run?.stop())

function look(): void {
  expected = run.expected()
  answers = new ExpectedAnswers(expected, expected)
}

/** The reference model calls its chain `local`. */
function onSolana<T>(row: T): T {
  const text = JSON.stringify(row).replaceAll('"local"', '"solana"').replaceAll('-local"', '-solana"')
  return JSON.parse(text) as T
}

function without(row: Row, names: readonly string[]): Row {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)))
}

/** The profile is JSON in a string. */
function parsed(row: Row): Row {
  return { ...row, profile: JSON.parse(String(row['profile'])) }
}

async function swapsOf(pair: string): Promise<Row[]> {
  const { txs } = await run.get<{ txs: Row[] }>(`/v2/txs/${pair}-solana?limit=1000`)
  return withoutUnknown(txs).map(parsed)
}

function expectedSwaps(pair: string): Row[] {
  return onSolana(answers.swaps(pair)).map((row) => expected.withProfile(row))
}

/** Everything that REST returns of the market. */
async function compare(): Promise<void> {
  look()
  for (const id of expected.pools.all.keys()) {
    if (expected.recorded.has(id)) await compareRecorded(id)
    else await comparePair(id)
  }
  for (const { token } of expected.launches.values()) await compareToken(token)
}

async function comparePair(id: string): Promise<void> {
  const swaps = (await swapsOf(id)).map((row) => without(row, PLACES))
  const wanted = expectedSwaps(id).map((row) => without(row, PLACES))
  assert.deepEqual(swaps, wanted, `swaps of ${id}`)
  const pair = withoutUnknown(await run.get(`/v2/pairs/${id}-solana`))
  assert.deepEqual(pair, onSolana(answers.pairDetail(id)), `pair ${id}`)
  const { txs: liquidity } = await run.get<{ txs: Row[] }>(`/v2/txs/liq/${id}-solana`)
  assert.deepEqual(
    withoutUnknown(liquidity).map((row) => without(row, PLACES)),
    onSolana(answers.liquidity(id)).map((row) => without(row, PLACES)),
    `liquidity of ${id}`,
  )
  for (const interval of ['s1', 'k1', 'k15'] as const) {
    const path = `/v2/klines/pair/${id}-solana?interval=${interval}&limit=1000`
    const klines = await run.get<Row[]>(path)
    assert.deepEqual(
      klines.map((row) => without(row, ['revision'])),
      klineRows(answers.candles(id, interval), 'usd'),
      `${interval} of ${id}`,
    )
  }
}

/** Which token of a recorded pool is the first is not expected, so the profile is keyed by token. */
function withoutOrder({ profile, ...row }: Row): Row {
  const fields = profile as Row
  const tokens = ['token0', 'token1'].map((name) => {
    const own = Object.entries(fields).filter(([field]) => field.startsWith(name))
    return [fields[`${name}Address`], own.map(([field, value]) => [field.slice(name.length), value]).sort()]
  })
  return { ...row, tokens: tokens.sort(), sol: fields['solTotalHolding'] }
}

/** A recorded pool: what was traded, when and by whom, and what that was worth. Its reserves are from another time. */
async function compareRecorded(id: string): Promise<void> {
  const wanted = expectedSwaps(id)
  const isPriced = wanted.every((row) => row['target_token'] !== '')
  const unknown = [...PLACES, ...UNKNOWN_OF_RECORDED, ...(isPriced ? [] : UNKNOWN_BY_ROUTE)]
  const rows = (swaps: readonly Row[]) => swaps.map((row) => withoutOrder(without(row, unknown)))
  assert.deepEqual(rows(await swapsOf(id)), rows(wanted), `recorded swaps of ${id}`)
}

async function compareToken(token: string): Promise<void> {
  const detail = withoutUnknown(await run.get(`/v2/tokens/${token}-solana`))
  assert.deepEqual(detail, onSolana(answers.tokenDetail(token)), `token ${token}`)
  const amounts = (rows: readonly Row[]) =>
    rows.map(({ holder, amount_cur, balance_ratio }) => [holder, amount_cur, balance_ratio])
  const wanted = amounts(answers.topHolders(token))
  // A gateway returns the ranks that it has read before while it reads them again.
  const end = Date.now() + PATIENCE_MS
  for (;;) {
    const holders = amounts(await run.get<Row[]>(`/v2/tokens/top100/${token}-solana`))
    if (isDeepStrictEqual(holders, wanted)) return
    if (Date.now() > end) assert.deepEqual(holders, wanted, `holders of ${token}`)
    await sleep(50)
  }
}

/** The tokens with a tag, in order. */
async function tagged(tag: string): Promise<unknown[]> {
  const rows = await run.get<Row[]>(`/v2/tokens/platform?tag=${tag}`)
  return rows.map(({ token }) => token)
}

async function launchOf(token: string): Promise<Row> {
  const { body } = await run.pipeline.post('/v2/tokens/search', { token_ids: [`${token}-solana`] })
  return (body as Record<string, Row>)[`${token}-solana`] ?? {}
}

/** Progress and platform of each launch, and its main pair. */
async function compareLaunches(): Promise<void> {
  look()
  for (const { token, curve, amm, raised, goal, graduatedAt } of expected.launches.values()) {
    const { issue_platform, platform_progress, main_pair } = await launchOf(token)
    const ppm = graduatedAt === undefined ? (raised * 1_000_000n) / goal : 1_000_000n
    const pool = [...expected.pools.all.values()].find(
      ({ id, token0 }) => token0.address === token && id !== curve,
    )
    assert.deepEqual(
      [issue_platform, platform_progress, main_pair],
      [amm, decimal(ppm, 6), (graduatedAt === undefined ? undefined : pool?.id) ?? curve],
    )
  }
}

test('trades, pairs, candles, tokens and holders by owner are as the programs left them', compare)

test('launches have their platform, progress and tags', async () => {
  await compareLaunches()
  assert.deepEqual(await tagged('pump_in_new'), [NAMES.bravo, NAMES.alfa])
  assert.deepEqual(await tagged('launchlab_in_new'), [NAMES.letsgo])
  assert.deepEqual(await tagged('pump_out_new'), [])
  const hot = await tagged('pump_in_hot')
  for (const token of [NAMES.alfa, NAMES.bravo]) assert.ok(hot.includes(token), 'traded within a day')
})

test('a completed curve is left for the pool of its migration, and a fork undoes it', async () => {
  const { market, scenario, pipeline } = run
  scenario.graduate()
  await run.caughtUp()
  await compareLaunches()
  assert.deepEqual(await tagged('pump_out_new'), [NAMES.alfa])
  assert.deepEqual(await tagged('pump_in_new'), [NAMES.bravo])
  market.fork(2)
  scenario.trade(3)
  await run.caughtUp()
  await compareLaunches()
  assert.deepEqual(await tagged('pump_out_new'), [])
  assert.deepEqual(await tagged('pump_in_new'), [NAMES.bravo, NAMES.alfa])
  assert.equal((await pipeline.get(`/v2/pairs/${NAMES.alfaPool}-solana`)).status, 400)
  scenario.graduate()
  scenario.trade(3)
  await run.caughtUp()
  await compareLaunches()
  assert.deepEqual(await tagged('pump_out_new'), [NAMES.alfa])
  const { switches = [] } = (await storedRows(run.stack, pipeline.name)) as Record<string, Row[]>
  assert.deepEqual(
    switches
      .filter(({ token }) => token === NAMES.alfa)
      .map(({ old_pair, new_pair, reason }) => [old_pair, new_pair, reason]),
    [[NAMES.alfaCurve, NAMES.alfaPool, 'graduated']],
  )
  await compare()
})

test('forks up to 32 deep are followed, also on WebSocket', async () => {
  const client = await WsClient.connect(await run.pipeline.gatewayUrl(), API_KEY)
  const pairs = [NAMES.dollarPool, NAMES.bravoCurve, NAMES.letsgoCurve, NAMES.alfaPool]
  const ids = await Promise.all(
    pairs.map((pair) => client.subscribe(['tx', pair, 'solana', { cursor: true, reorg: true }])),
  )
  const from = run.market.tip.number
  for (const depth of FORKS) {
    run.scenario.trade(depth, 1)
    await run.caughtUp()
    run.market.fork(depth)
    run.scenario.trade(depth + 1, 1)
    await run.caughtUp()
  }
  await compare()
  for (const [index, pair] of pairs.entries()) {
    const wanted = expectedSwaps(pair)
      .filter((row) => Number(row['block_number']) > from)
      .map((row) => without(row, PLACES))
      .reverse()
    const rows = await waitFor(
      `the swaps of ${pair}`,
      () => {
        const folded = foldEvents(client.pushes(ids[index] as number), 'tx')
        return folded.length === wanted.length ? folded : undefined
      },
      PATIENCE_MS,
    )
    assert.deepEqual(
      rows.map(({ row }) => without(parsed(row), PLACES)),
      wanted,
    )
  }
  client.close()
})

test('a stream that lags, ends and comes back loses nothing', async () => {
  const { market, scenario, stream } = run
  assert.equal(stream.connections, 1)
  stream.lagBlocks = 6
  scenario.trade(8, 1)
  stream.kill()
  scenario.trade(4, 1)
  market.fork(3)
  scenario.trade(6, 1)
  stream.lagBlocks = 0
  await stream.listen()
  await waitFor('the stream to be followed again', () => stream.connections > 0 || undefined, PATIENCE_MS)
  scenario.trade(3, 1)
  await run.caughtUp()
  await compare()
  // What was missed is more than the server can replay.
  stream.kill()
  stream.replayBlocks = 5
  scenario.trade(20, 1)
  await stream.listen()
  await run.caughtUp()
  await compare()
})

test('roles that are killed twenty times go on where they were', async () => {
  const { market, scenario, pipeline } = run
  for (let round = 0; round < KILLS / ROLES.length; round++) {
    for (const role of ROLES) {
      scenario.tradeBlock(1)
      await pipeline.role(role).kill('SIGKILL')
      kills += 1
      scenario.tradeBlock(1)
      // A fork that the killed role has not seen.
      if (role === 'reader') market.fork(round + 1)
      scenario.tradeBlock(1)
      pipeline.spawn(role)
    }
    await Promise.all(ROLES.map((role) => pipeline.role(role).ready()))
    await run.caughtUp()
    market.ledger.chain.finalise(market.tip.number - FINAL_BELOW_HEAD)
  }
  assert.equal(kills, KILLS)
  await compare()
  await compareLaunches()
})

test('no swap of the market is stored twice, and none is missing', async () => {
  const { trades = [] } = (await storedRows(run.stack, run.pipeline.name)) as Record<string, Row[]>
  const places = trades.map(({ block, tx, log }) => `${block} ${tx} ${log}`)
  assert.equal(new Set(places).size, places.length)
  const inOrder = (pairs: readonly (readonly unknown[])[]) => pairs.map(String).sort()
  assert.deepEqual(
    inOrder(trades.map(({ transaction, pair }) => [transaction, pair])),
    inOrder(expected.pools.trades.map(({ transaction, pool }) => [transaction, pool.id])),
  )
  assert.equal(run.market.recordedLeft, 0, 'all recorded transactions were replayed')
})
