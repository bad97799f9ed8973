import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { parse, stringify } from 'yaml'
import { loadConfig } from '../../src/config/load.ts'
import { storedName } from '../../src/domain/generation.ts'
import { connectLogs, type Logs } from '../../src/log/connect.ts'
import type { Generations } from '../../src/log/generations.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { SoakClient } from '../soak/resume/soak-client.ts'
import { Pipeline } from '../support/rigs/pipeline.ts'
import { RestLoad } from '../support/rigs/rest-load.ts'
import { createTestCommon } from '../support/rigs/test-common.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { FreshFold } from './fresh-fold.ts'
import { Scenario } from './scenario.ts'

/**
 * A refold with changed rules under load. By the rules of the new generation the native coin has no price in dollars, so
 * a trade that has a value in dollars is of the former generation.
 */

const NAME = 'refold'
const CHAIN = 'local'
const CLIENTS = Number(process.env['TEST_REFOLD_SOCKETS'] ?? 200)
const KILLS = 10
const BLOCK_MS = 150
/** Between two sockets that are cut. */
const CUT_MS = 100
/** Four roles, two gateways, 200 sockets and the other tests share two cores. */
const PATIENCE_MS = 120_000
const GRACE_SECONDS = 20

type Trades = { readonly txs: readonly { readonly block_number: number; readonly amount_usd: string }[] }

const common = createTestCommon()
let stack: Stack
let scenario: Scenario
let first: Pipeline
/** The second gateway, on another machine. */
let second: Pipeline
let urls: string[]
let logs: Logs
let generations: Generations
let fresh: FreshFold
/** The last block by the former rules. */
let lastPriced: number

before(async () => {
  stack = await startStack({ anvil: ['--no-mining', '--timestamp', '1750000000'] })
  scenario = await Scenario.deploy(stack.rpcUrl)
  const settings = { logs: { blocks: { max_age_seconds: 1 } }, snapshots: { every_seconds: 0 } }
  first = new Pipeline(stack, NAME, { finality_depth: 5 }, settings)
  second = new Pipeline(stack, NAME, { finality_depth: 5 }, settings)
  logs = await connectLogs(loadConfig(first.configFile, {}).nats, common)
  generations = await logs.generations()
  fresh = new FreshFold(stack, loadConfig(first.configFile, {}), logs, CHAIN)
  await first.start('reader', 'engine', 'writer', 'gateway')
  await second.start('gateway')
  urls = [await first.gatewayUrl(), await second.gatewayUrl()]
  for (let block = 0; block < 60; block++) await scenario.tradeBlock()
  await served()
  lastPriced = (await scenario.market.head()).number
  await changeRules()
  await scenario.tradeBlock()
  await served()
})

after(async () => {
  await Promise.all([first?.stop(), second?.stop()])
  await logs?.close()
  await stack?.stop()
})

async function served(): Promise<void> {
  const head = await scenario.market.head()
  await Promise.all(
    [first, second].map((each) => each.reaches(`/v2/pairs/${scenario.tokenPair}-local`, head, PATIENCE_MS)),
  )
}

async function changeRules(): Promise<void> {
  const before = parse(readFileSync(first.configFile, 'utf8')) as { chains: { local: object } }
  await first.role('reader').kill('SIGTERM')
  const chains = { local: { ...before.chains.local, min_depth_usd: 1_000_000_000 } }
  writeFileSync(first.configFile, stringify({ ...before, chains }))
  await first.start('reader')
}

/** Only the command switches, so the refold cannot complete while none runs, nor without an engine. */
async function killOnce(nth: number): Promise<void> {
  const victim = (['engine', 'writer', 'reader'] as const)[nth % 3] ?? 'engine'
  await first.role(victim).kill('SIGKILL')
  if (victim === 'engine') {
    const command = first.spawnCommand('refold', CHAIN)
    await once(command.stderr, 'data')
    await sleep(Math.random() * 500)
    command.kill('SIGKILL')
  }
  first.spawn(victim)
  await sleep(Math.random() * 1_500)
}

/** Transactions of all swaps of a pair, in order, once they are written. */
async function tradesOf(pair: string): Promise<string[]> {
  const { serving } = generations.of(CHAIN)
  await fresh.written(serving, await (await logs.open('BLOCKS', CHAIN)).lastSequence())
  const trades = (await fresh.rowsIn(storedName(CHAIN, serving)))['trades'] as readonly {
    pair: string
    block: string
    log: number
    transaction: string
  }[]
  return trades
    .filter((trade) => trade.pair === pair)
    .sort((a, b) => Number(a.block) - Number(b.block) || a.log - b.log)
    .map(({ transaction }) => transaction)
}

/** Which generation each gateway was last seen to serve. An answer of both, or of the former one after the new one, is a fault. */
class SeenGenerations {
  readonly ofGateway = new Map<string, number>()
  readonly counts = [0, 0]
  /** When each gateway first answered with the new generation. */
  readonly switchedMs: number[] = []

  faultOf({ url, path, body }: { url: string; path: string; body: unknown }): string | undefined {
    if (!path.startsWith('/v2/txs')) return undefined
    const old = (body as Trades).txs.filter((trade) => trade.block_number <= lastPriced)
    const priced = old.filter(({ amount_usd }) => Number(amount_usd) > 0).length
    if (old.length === 0) return 'no trade by the former rules'
    if (priced !== 0 && priced !== old.length) return `${priced} of ${old.length} trades are of generation 1`
    const generation = priced > 0 ? 1 : 2
    this.counts[generation - 1] = (this.counts[generation - 1] ?? 0) + 1
    if (generation < (this.ofGateway.get(url) ?? 0)) return 'the former generation, after the new one'
    if (generation === 2 && this.ofGateway.get(url) !== 2) this.switchedMs.push(performance.now())
    this.ofGateway.set(url, generation)
    return undefined
  }
}

/** What gateways logged about failed requests, by the id in the answer. */
function reasonsOfFailures(): Map<string, string> {
  const lines = [first, second].flatMap((each) =>
    each.role('gateway').linesOf('Request failed: store unavailable'),
  )
  return new Map(lines.map(({ request_id, err }) => [request_id ?? '', err?.message ?? '']))
}

/** A fault with its reason; undefined if a store was too slow, as on a machine that is short of CPU. */
function explained(fault: string, reasons: ReadonlyMap<string, string>): string | undefined {
  const reason = [...reasons].find(([id]) => fault.includes(id))?.[1]
  return reason !== undefined && /took too long|timed out/i.test(reason) ? undefined : `${fault} ${reason}`
}

test('a refold is killed at random points, completes and switches under load', async (t) => {
  const trading = scenario.keepTrading(BLOCK_MS)
  const pair = scenario.tokenPair
  const clients = Array.from(
    { length: CLIENTS },
    (_, nth) =>
      new SoakClient(
        {
          topic: nth % 4 === 0 ? 'multi_tx' : 'tx',
          address: nth % 4 === 0 ? scenario.token : pair,
          reorg: false,
        },
        nth,
        () => urls,
      ),
  )
  const cutting = setInterval(() => clients[Math.floor(Math.random() * CLIENTS)]?.cut(3, 200), CUT_MS)
  const seen = new SeenGenerations()
  const paths = [
    `/v2/txs/${pair}-local?limit=1000`,
    `/v2/pairs/${pair}-local`,
    `/v2/tokens/${scenario.token}-local`,
    `/v2/klines/pair/${pair}-local?interval=k1`,
    '/v2/tokens?keyword=PEP',
    '/v2/tokens/trending?chain=local',
    `/v2/tokens/top100/${scenario.token}-local`,
  ]
  const load = new RestLoad(() => urls, paths, { faultOf: (answer) => seen.faultOf(answer) })
  t.after(async () => {
    clearInterval(cutting)
    for (const client of clients) client.end()
    await Promise.all([load.stop(), trading.stop()])
  })

  for (let kill = 0; kill < KILLS; kill++) await killOnce(kill)
  assert.deepEqual(generations.of(CHAIN).building?.number, 2)
  let recordedMs = 0
  generations.onChange(() => {
    if (generations.of(CHAIN).serving.number === 2 && recordedMs === 0) recordedMs = performance.now()
  })
  const { code, output } = await first.run('refold', CHAIN, '--grace', String(GRACE_SECONDS))
  assert.equal(code, 0, output)
  const hasSwitched = (): true | undefined =>
    [...seen.ofGateway.values()].every((generation) => generation === 2) ? true : undefined
  await waitFor('both gateways to switch', hasSwitched, PATIENCE_MS)
  await waitFor('more answers', () => ((seen.counts[1] ?? 0) > 10 ? true : undefined), PATIENCE_MS)
  await trading.stop()
  await served()
  clearInterval(cutting)
  await load.stop()
  const delays = seen.switchedMs.map((ms) => Math.round(ms - recordedMs))
  t.diagnostic(`first answers of the new generation after ${delays.join(' and ')} ms`)
  t.diagnostic(`${load.answered} answers; trades of generation 1 and 2: ${seen.counts.join(', ')}`)
  const reasons = reasonsOfFailures()
  const faults = load.faults.map((fault) => explained(fault, reasons))
  t.diagnostic(`${faults.filter((fault) => fault === undefined).length} requests timed out`)
  assert.deepEqual([...new Set(faults)].filter((fault) => fault !== undefined).slice(0, 5), [])
  assert.ok(seen.counts.every((count) => count >= 10))
  assert.equal(seen.ofGateway.size, urls.length)

  const sent = await tradesOf(pair)
  const isPushed = ({ received }: SoakClient): boolean =>
    received.at(-1)?.endsWith(`#${sent.at(-1)}`) === true
  await waitFor('the last pushes', () => (clients.every(isPushed) ? true : undefined), PATIENCE_MS)
  for (const client of clients) {
    client.end()
    assert.deepEqual(client.faults, [])
    const received = client.received.map((push) => push.split('#')[1])
    assert.deepEqual(received, sent.slice(-received.length))
  }
  t.diagnostic(`${clients.reduce((sum, { resumed }) => sum + resumed, 0)} subscriptions resumed`)
})

test('rows equal those of a fresh fold', async () => {
  const { serving } = generations.of(CHAIN)
  const until = await (await logs.open('BLOCKS', CHAIN)).lastSequence()
  await fresh.written(serving, until)
  await fresh.fold(serving, until, 'fresh')
  assert.deepEqual(await fresh.rowsIn(storedName(CHAIN, serving)), await fresh.rowsIn('fresh'))
})
