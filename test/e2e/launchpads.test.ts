import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { formatUnits } from 'viem'
import { storedRows } from '../support/reference/store-dump.ts'
import type { Pipeline } from '../support/rigs/pipeline.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { ether, GOAL, type Launch, LaunchpadsRun, type Row } from './launchpads-run.ts'

const WHOLE_PPM = 1_000_000n

let run: LaunchpadsRun
let pipeline: Pipeline
let alpha: Launch
let bravo: Launch
let dollar: Launch
let fake: Launch
let flappy: Launch
/** Graduated before the block that a late reader starts at. */
let early: Launch
let earlyFlap: Launch
/** The first block in which each curve has been traded before. */
let lateStart: number

before(async () => {
  run = await LaunchpadsRun.deploy()
  pipeline = await run.startPipeline('launchpads')
})

after(() => run?.stop())

async function pairOf(id: string, from = pipeline): Promise<Row> {
  const { status, body } = await from.get(`/v2/pairs/${id}-local`)
  assert.equal(status, 200, JSON.stringify(body))
  return body as Row
}

/** A curve holds what its platform says, and its token has come as far as that is. */
async function checkCurve(launch: Launch, rows: readonly Row[], goal = GOAL, decimals = 18): Promise<void> {
  const { left, raised } = await run.stateOf(launch)
  const row = rows.find(({ token }) => token === launch.token)
  const progress = formatUnits((raised * WHOLE_PPM) / goal, 6)
  assert.deepEqual([row?.['platform_progress'], row?.['main_pair']], [progress, launch.curve])
  const { reserve0, reserve1, amm } = await pairOf(launch.curve)
  assert.deepEqual([reserve0, reserve1], [formatUnits(left, 18), formatUnits(raised, decimals)])
  assert.equal(row?.['issue_platform'], amm)
}

test('tokens of the platform are new; tokens that another contract announces are not', async () => {
  alpha = await run.launch(run.manager, 'ALPHA')
  bravo = await run.launch(run.manager, 'BRAVO')
  dollar = await run.launch(run.manager, 'DOLLAR', run.scenario.stable, 12_000n * 10n ** 6n)
  fake = await run.launch(run.impostor, 'FAKE')
  flappy = await run.launch(run.portal, 'FLAPPY')
  const [row] = await run.tokensBecome(pipeline, 'fourmeme_in_new', [dollar, bravo, alpha])
  assert.deepEqual(
    [row?.['symbol'], row?.['issue_platform'], row?.['platform_progress']],
    ['DOLLAR', 'fourmeme', '0'],
  )
  assert.ok(!('main_pair' in (row ?? {})), 'nobody has paid anything for it')
  await run.tokensBecome(pipeline, 'flap_in_new', [flappy])
  const { amm, target_token, token1_symbol, created_at, ...rest } = await pairOf(alpha.curve)
  assert.deepEqual([amm, target_token, token1_symbol], ['fourmeme', alpha.token, 'ETH'])
  assert.ok(Number(created_at) > 1_750_000_000 && !('reserve0' in rest) && !('tvl' in rest))
  for (const tag of ['fourmeme_out_new', 'fourmeme_in_almost', 'fourmeme_in_hot', 'meme']) {
    await run.tokensBecome(pipeline, tag, [])
  }
})

test('curves trade like pairs, and have a progress', async () => {
  await run.buy(alpha, ether(3_333n))
  await run.buy(bravo, ether(1_234n))
  await run.buy(dollar, 100n * 10n ** 6n, false)
  await run.buy(fake, ether(9_999n))
  await run.buy(flappy, ether(777n))
  await run.mine()
  await run.sell(alpha, 12_345_678_901_234_567_890_123_456n)
  await run.sell(flappy, 1_111_111_111_111_111_111_111_111n)
  await run.sell(dollar, 99n * 10n ** 22n)
  await run.mine()
  lateStart = (await run.market.head()).number + 1
  // So that the native coin has a price for later trades.
  await run.market.buyWithNative(run.scenario.stable, ether(1n))
  await run.mine()
  await run.buy(bravo, ether(6_000n))
  await run.buy(flappy, ether(5n))
  await run.mine()
  // About 7,200, 3,600 and 100 ETH, at some 2,000 dollars each, and some 100 dollars.
  const rows = await run.tokensBecome(pipeline, 'fourmeme_in_hot', [bravo, alpha, dollar])
  await checkCurve(alpha, rows)
  await checkCurve(bravo, rows)
  await checkCurve(dollar, rows, 12_000n * 10n ** 6n, 6)
  await checkCurve(flappy, await run.tokensBecome(pipeline, 'flap_in_hot', [flappy]))
  await run.tokensBecome(pipeline, 'meme', [bravo, alpha, flappy, dollar])
  const { body } = await pipeline.get('/v2/tokens/platform?tag=meme&orderby=main_pair_tvl&limit=2')
  const byTvl = (body as Row[]).map((row) => Number(row['main_pair_tvl']))
  assert.ok(byTvl.length === 2 && (byTvl[0] ?? 0) > (byTvl[1] ?? 0), `${byTvl}`)
})

test('trades of a curve have the price that was paid, without the fee of the platform', async () => {
  // The writer of a new installation may still be creating its tables.
  const { txs } = await waitFor('the tables', async () => {
    const { status, body } = await pipeline.get(`/v2/txs/${alpha.curve}-local`)
    return status === 200 ? (body as { txs: Row[] }) : undefined
  })
  assert.deepEqual(
    txs.map((tx) => [tx['amm'], tx['from_address'], tx['from_amount']]),
    [
      ['fourmeme', alpha.token, '12345678.901234567890123456'],
      ['fourmeme', `0x${'0'.repeat(40)}`, '3.333'],
    ],
  )
})

test('a tag that is none is refused, with those that there are', async () => {
  for (const tag of [
    'pump_in_hot',
    'fourmeme_out_almost',
    'fourmeme',
    'fourmeme_in_',
    'MEME',
    'uniswap_v2_in_hot',
  ]) {
    const { status, body } = await pipeline.get(`/v2/tokens/platform?tag=${tag}`)
    const { code, errors } = body as { code: string; errors: { pointer: string; detail: string }[] }
    assert.deepEqual([status, code, errors[0]?.pointer], [400, 'unknown_tag', '#/tag'])
    assert.match(errors[0]?.detail ?? '', /fourmeme, flap$/)
  }
})

test('a token that has come far is almost there', async () => {
  await run.tokensBecome(pipeline, 'fourmeme_in_almost', [])
  await run.buy(bravo, ether(13_000n))
  await run.buy(alpha, ether(16_800n))
  await run.mine()
  const rows = await run.tokensBecome(pipeline, 'fourmeme_in_almost', [bravo, alpha])
  await checkCurve(alpha, rows)
  await checkCurve(bravo, rows)
})

/** Everything that a graduation changes, and nothing that it does not. */
async function checkGraduated(): Promise<void> {
  const [row] = await run.tokensBecome(pipeline, 'fourmeme_out_new', [alpha])
  const pool = await run.poolOf(alpha)
  assert.deepEqual([row?.['main_pair'], row?.['platform_progress']], [pool, '1'])
  await run.tokensBecome(pipeline, 'fourmeme_out_hot', [alpha])
  await run.tokensBecome(pipeline, 'fourmeme_in_almost', [bravo])
  await run.tokensBecome(pipeline, 'fourmeme_in_new', [dollar, bravo])
  const [curve, real] = [await pairOf(alpha.curve), await pairOf(pool)]
  assert.deepEqual([curve['reserve0'], curve['reserve1'], curve['is_main_pair']], ['0', '0', false])
  assert.deepEqual([real['amm'], real['is_main_pair']], ['uniswap_v2', true])
}

async function switches(): Promise<Row[]> {
  return ((await storedRows(run.stack, 'launchpads'))['switches'] as Row[]).filter(
    ({ token }) => token === alpha.token,
  )
}

test('a curve that reaches its goal is left for the pool, all in one transaction', async () => {
  const { raised } = await run.stateOf(alpha)
  await run.buy(alpha, GOAL - raised + 1n)
  await run.mine()
  assert.equal((await run.stateOf(alpha)).isOpen, false)
  await checkGraduated()
  const { number } = await run.market.head()
  const stored = await waitFor('the switch', async () => {
    const found = await switches()
    return found.length > 0 ? found : undefined
  })
  assert.deepEqual(
    stored.map(({ block, old_pair, new_pair, reason }) => [block, old_pair, new_pair, reason]),
    [[String(number), alpha.curve, await run.poolOf(alpha), 'graduated']],
  )
})

test('a fork that undoes it brings the token back to its curve', async () => {
  const pool = await run.poolOf(alpha)
  await run.market.reorganise(1)
  await run.mine()
  const rows = await run.tokensBecome(pipeline, 'fourmeme_in_almost', [bravo, alpha])
  await checkCurve(alpha, rows)
  await run.tokensBecome(pipeline, 'fourmeme_out_new', [])
  await run.tokensBecome(pipeline, 'fourmeme_in_new', [dollar, bravo, alpha])
  assert.equal((await pipeline.get(`/v2/pairs/${pool}-local`)).status, 400)
  await waitFor('the switch to be gone', async () => ((await switches()).length === 0 ? true : undefined))
})

test('it may graduate again, and so may one of the other platform', async () => {
  const { raised } = await run.stateOf(alpha)
  await run.buy(alpha, GOAL - raised + 77n)
  await run.mine()
  await checkGraduated()
  const flapped = await run.stateOf(flappy)
  await run.buy(flappy, GOAL - flapped.raised)
  await run.mine()
  const [row] = await run.tokensBecome(pipeline, 'flap_out_new', [flappy])
  assert.equal(row?.['main_pair'], await run.poolOf(flappy))
  await run.tokensBecome(pipeline, 'flap_in_hot', [])
})

test('a reader that starts later knows what was raised', async () => {
  const late = await run.startPipeline('late', lateStart)
  await run.tokensBecome(late, 'fourmeme_in_almost', [bravo])
  await run.tokensBecome(late, 'fourmeme_out_new', [alpha])
  await run.tokensBecome(late, 'flap_out_new', [flappy])
  for (const { curve } of [alpha, bravo, flappy]) {
    const [seen, known] = [await pairOf(curve, late), await pairOf(curve)]
    for (const name of ['amm', 'reserve0', 'reserve1', 'target_token', 'is_main_pair', 'tvl']) {
      assert.equal(seen[name], known[name], name)
    }
  }
  assert.equal((await late.get(`/v2/tokens/${fake.token}-local`)).status, 400)
})

/** As ClickHouse writes it. */
function storedTime(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().slice(0, 19).replace('T', ' ')
}

/** Started after these tokens had graduated. */
let older: Pipeline
let firstBlock: number

/** A request for an unknown token waits for the look-up, which is a part of the next block. */
async function askFor({ token }: Launch): Promise<void> {
  await waitFor(`the look-up of ${token}`, async () => {
    const { status } = await older.get(`/v2/tokens/${token}-local`)
    if (status === 200) return true
    await run.mine()
    return undefined
  })
}

test('tokens that graduated before the start have their platform once they trade or are asked for', async () => {
  early = await run.launch(run.manager, 'EARLY')
  earlyFlap = await run.launch(run.portal, 'EARLYFLAP')
  const earlyFake = await run.launch(run.impostor, 'EARLYFAKE')
  for (const launch of [early, earlyFlap, earlyFake]) await run.buy(launch, GOAL)
  await run.mine()
  const { number, time: graduatedAt } = await run.market.head()
  firstBlock = number + 1
  older = await run.startPipeline('after', firstBlock)
  await run.market.buyWithNative(run.scenario.stable, ether(1n))
  await run.mine()
  await older.role('all').logged('Creation events scanned')
  await askFor(early)
  await askFor(earlyFake)
  await run.market.buyWithNative(earlyFlap.token, ether(1n))
  await run.mine()
  const [row] = await run.tokensBecome(older, 'fourmeme_out_new', [early])
  assert.deepEqual(
    [row?.['issue_platform'], row?.['platform_progress'], row?.['main_pair']],
    ['fourmeme', '1', await run.poolOf(early)],
  )
  await run.tokensBecome(older, 'flap_out_new', [earlyFlap])
  await run.tokensBecome(older, 'fourmeme_in_new', [])
  const launches = [early, earlyFlap, earlyFake]
  const stored = await waitFor('the tokens to be stored', async () => {
    const rows = (await storedRows(run.stack, 'after'))['tokens'] as Row[]
    const found = launches.map(({ token }) => rows.find(({ address }) => address === token))
    return found.every((row) => row !== undefined) ? found : undefined
  })
  assert.deepEqual(
    stored.map((row) => [row['platform'], row['platform_graduated_at']]),
    [
      ['fourmeme', storedTime(graduatedAt)],
      ['flap', storedTime(graduatedAt)],
      // A contract that is not listed announced it.
      [null, null],
    ],
  )
})

test('a fork that undoes the look-up does not lose the platform', async () => {
  const { number } = await run.market.head()
  await run.market.reorganise(number - firstBlock)
  await run.mine()
  await older.reaches('/v2/tokens/main?chain=local', await run.market.head())
  await askFor(early)
  await run.tokensBecome(older, 'fourmeme_out_new', [early])
  await run.tokensBecome(older, 'flap_out_new', [])
})
