import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { MAIN_ARGS } from '../../dev/main-args.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { ExpectedMarket } from '../e2e/expected-market.ts'
import { Scenario } from '../e2e/scenario.ts'
import { SoakClient } from '../soak/resume/soak-client.ts'
import { withoutHoldings } from '../support/reference/same-facts.ts'
import { storedRows } from '../support/reference/store-dump.ts'
import { Corpus } from '../support/releases/corpus.ts'
import type { RecordedTable } from '../support/releases/recorded-clickhouse.ts'
import { Pipeline, type RoleName } from '../support/rigs/pipeline.ts'
import { RestLoad } from '../support/rigs/rest-load.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { type ReleasedBuild, releasedBuild } from './released-build.ts'

/** From the last release to this build, one role at a time, in the order of docs/operations.md. */
const NAME = 'rolling'
const BLOCKS_BETWEEN = 3
const BLOCK_MS = 100

const version = Corpus.versions().at(-1) as string
const corpus = new Corpus(version)

let stack: Stack
let scenario: Scenario
let release: ReleasedBuild | undefined
let first: Pipeline
/** The second gateway, on another machine. */
let second: Pipeline
let reference: Pipeline | undefined

before(async () => {
  release = releasedBuild(version)
  if (release === undefined) return
  stack = await startStack({ anvil: ['--no-mining', '--timestamp', '1750000000'] })
  scenario = await Scenario.deploy(stack.rpcUrl)
  // The release does not know settings of later versions.
  const settings = { admin: { reader_port: 0, engine_port: 0, writer_port: 0, gateway_port: 0 } }
  first = new Pipeline(stack, NAME, {}, settings)
  second = new Pipeline(stack, NAME, {}, settings)
})

after(async () => {
  await Promise.all([first?.stop('SIGKILL'), second?.stop('SIGKILL'), reference?.stop('SIGKILL')])
  await stack?.stop()
  release?.remove()
})

test(`roles of ${version} are replaced one by one under load, and nothing is lost`, async (t) => {
  if (release === undefined) {
    t.skip(`this clone does not have the commit of release ${version}`)
    return
  }
  for (const pipeline of [first, second]) pipeline.mainArgs = release.mainArgs
  await first.start('reader', 'engine', 'writer', 'gateway')
  await second.start('gateway')
  const urls = [await first.gatewayUrl(), await second.gatewayUrl()]
  await scenario.tradeBlock()
  await reached(first)

  const trading = scenario.keepTrading(BLOCK_MS)
  const pair = scenario.tokenPair
  const client = new SoakClient({ topic: 'tx', address: pair, reorg: false }, 0, () => urls)
  await waitFor('the subscription', () => (client.isSubscribed ? true : undefined))
  const paths = [
    `/v2/pairs/${pair}-local`,
    `/v2/tokens/${scenario.token}-local`,
    `/v2/txs/${pair}-local?limit=20`,
    `/v2/klines/pair/${pair}-local?interval=k1`,
  ]
  const load = new RestLoad(() => urls, paths, { released: [...urls] })
  t.after(async () => {
    client.end()
    await Promise.all([load.stop(), trading.stop()])
  })
  for (const pipeline of [first, second]) pipeline.mainArgs = MAIN_ARGS

  const { code, output } = await first.run('migrate')
  assert.equal(code, 0, output)
  const steps: readonly (readonly [Pipeline, RoleName])[] = [
    [first, 'gateway'],
    [second, 'gateway'],
    [first, 'writer'],
    [first, 'engine'],
    [first, 'reader'],
  ]
  for (const [pipeline, role] of steps) {
    await pipeline.role(role).kill('SIGTERM')
    assert.equal(pipeline.role(role).exitCode, 0, role)
    await pipeline.start(role)
    if (role === 'gateway') urls[pipeline === first ? 0 : 1] = await pipeline.gatewayUrl()
    await sleep(BLOCKS_BETWEEN * BLOCK_MS)
    await reached(first)
  }
  await trading.stop()
  await Promise.all([reached(first), reached(second)])
  await load.stop()
  t.diagnostic(`${load.answered} answers, ${load.passedOver} passed over to the other gateway`)
  assert.deepEqual(load.faults, [])
  assert.ok(load.answered > 100)

  const rows = await settledRows(NAME)
  const trades = rows['trades'] as { pair: string; transaction: string; block: string; log: number }[]
  const sent = trades.filter((trade) => trade.pair === pair).map(({ transaction }) => transaction)
  await waitFor('the last push', () =>
    client.received.at(-1)?.endsWith(`#${sent.at(-1)}`) ? true : undefined,
  )
  client.end()
  assert.deepEqual(client.faults, [])
  assert.ok(client.resumed >= 1)
  const received = client.received.map((push) => push.split('#')[1])
  assert.deepEqual(received, sent.slice(-received.length))

  const expected = await ExpectedMarket.read(scenario, (await scenario.market.head()).number)
  const ids = expected.pools.trades.map(({ block, log }) => `${block}-${log}`)
  assert.deepEqual(trades.map(({ block, log }) => `${block}-${log}`).sort(), ids.sort())
})

test('rows equal those that this build folds from the beginning', async (t) => {
  if (release === undefined) {
    t.skip('as above')
    return
  }
  reference = new Pipeline(stack, 'reference')
  await reference.start('reader', 'engine', 'writer', 'gateway')
  await reached(reference)
  const rolled = await settledRows(NAME)
  const folded = await waitFor('the rows of the reference', async () => {
    const rows = await storedRows(stack, 'reference')
    return rows['trades']?.length === rolled['trades']?.length ? settledRows('reference') : undefined
  })
  for (const table of ['trades', 'liquidity', 'candles', 'pairs', 'switches', 'windows'])
    assert.deepEqual(ofRelease(table, rolled), ofRelease(table, folded), table)
})

/** The columns that the release has. A sequence also counts messages of other kinds, which depend on the time. */
function ofRelease(table: string, rows: Record<string, unknown[]>): unknown[] {
  const recorded = corpus.read<{ tables: RecordedTable[] }>('clickhouse').tables
  const columns = recorded.find(({ name }) => name === table)?.columns ?? []
  return (rows[table] as Record<string, unknown>[])
    .map(withoutHoldings)
    .map((row) =>
      Object.fromEntries(columns.filter((name) => name !== 'seq').map((name) => [name, row[name]])),
    )
}

/** Its gateway serves a block that was mined after this call. */
async function reached(pipeline: Pipeline): Promise<void> {
  const { number } = await scenario.market.head()
  await waitFor(`${pipeline.name} to reach block ${number}`, async () => {
    const { headers } = await pipeline.get(`/v2/pairs/${scenario.tokenPair}-local`)
    return Number(headers.get('X-Block')) >= number ? true : undefined
  })
}

/** The rows once the writer has written everything. */
async function settledRows(name: string): Promise<Record<string, unknown[]>> {
  let before = ''
  return waitFor('the writer to come to rest', async () => {
    const rows = await storedRows(stack, name)
    const text = JSON.stringify(rows)
    const isSettled = text === before
    before = text
    if (!isSettled) await sleep(1_000)
    return isSettled ? rows : undefined
  })
}
