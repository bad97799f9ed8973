import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { API_KEY, Pipeline, type RoleName } from '../support/rigs/pipeline.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { type Message, WsClient } from '../support/rigs/ws-client.ts'
import { Scenario } from './scenario.ts'

const ROLES = ['reader', 'engine', 'writer', 'gateway'] as const satisfies readonly RoleName[]
const BLOCKS = 6
/** Histograms add seconds as floating-point numbers. */
const ROUNDING_MS = 0.001

type Histogram = { readonly count: number; readonly sumMs: number }
type Quantiles = { readonly p50: number; readonly p99: number }
type Freshness = {
  readonly window_seconds: number
  readonly block_to_push_ms: Quantiles
  readonly announcement_to_push_ms: Quantiles
}

/** What the client saw of one block, in Unix milliseconds. */
type Observed = {
  readonly blockAt: number
  readonly minedAt: number
  readonly sentAt: number
  readonly arrivedAt: number
}

let stack: Stack
let scenario: Scenario
let pipeline: Pipeline

before(async () => {
  stack = await startStack({ anvil: ['--no-mining', '--timestamp', '1750000000'] })
  scenario = await Scenario.deploy(stack.rpcUrl)
  // Blocks that are in the chain before the reader starts: a backfill.
  for (let block = 0; block < 3; block++) await scenario.tradeBlock()
  pipeline = new Pipeline(stack, 'freshness', { finality_depth: 20 })
  await pipeline.start(...ROLES)
})

after(async () => {
  await pipeline?.stop('SIGKILL')
  await stack?.stop()
})

async function metricsOf(role: RoleName): Promise<string> {
  const { admin_port } = await pipeline.role(role).logged('Admin server listening')
  return await (await fetch(`http://127.0.0.1:${admin_port}/metrics`)).text()
}

async function histogram(name: string): Promise<Histogram> {
  const text = await metricsOf('gateway')
  const value = (part: string): number =>
    Number(
      new RegExp(`^chaintape_gateway_${name}_seconds_${part}\\{chain="local"\\} (\\S+)$`, 'm').exec(
        text,
      )?.[1] ?? 0,
    )
  return { count: value('count'), sumMs: value('sum') * 1_000 }
}

async function freshness(): Promise<Freshness | undefined> {
  const { body } = await pipeline.get('/v2/status')
  return (body as { chains: { freshness?: Freshness }[] }).chains[0]?.freshness
}

const topic = () => ['tx', scenario.tokenPair, 'local'] as const

/** Mines a block with one trade, dated now: not before the second after the last block. */
async function tradeNow(): Promise<{ blockAt: number; minedAt: number }> {
  const { time: last } = await scenario.market.head()
  await waitFor('the next second', () => (Date.now() >= 1_000 * (last + 1) ? true : undefined))
  await scenario.market.buyWithNative(scenario.token, 10n ** 15n)
  const minedAt = Date.now()
  const time = Math.floor(minedAt / 1_000)
  await scenario.market.mine(time)
  return { blockAt: time * 1_000, minedAt }
}

async function arrival(
  client: WsClient,
  id: number,
  count: number,
): Promise<{ push: Message; arrivedAt: number }> {
  const push = await waitFor(`push ${count}`, () => client.pushes(id)[count - 1])
  return { push, arrivedAt: client.arrivedAt(push) }
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

test('histograms and /v2/status show the times that a client measures; backfill, replay and undo do not count', async (context) => {
  const client = await WsClient.connect(await pipeline.gatewayUrl(), API_KEY)
  const id = await client.subscribe([...topic(), { reorg: true, cursor: true }])
  assert.equal(await freshness(), undefined)
  assert.match(
    await metricsOf('reader'),
    /^chaintape_reader_envelopes_total\{chain="local",kind="block"\} [1-9]/m,
  )
  for (const role of ROLES) assert.match(await metricsOf(role), /^chaintape_ready 1$/m, role)

  const observed: Observed[] = []
  for (let block = 1; block <= BLOCKS; block++) {
    const mined = await tradeNow()
    const { push, arrivedAt } = await arrival(client, id, block)
    observed.push({ ...mined, sentAt: push.sent_time ?? Number.NaN, arrivedAt })
  }

  const fromBlock = await histogram('block_to_push')
  const fromAnnouncement = await histogram('announcement_to_push')
  assert.deepEqual([fromBlock.count, fromAnnouncement.count], [BLOCKS, BLOCKS])
  // The write is after the moment in the message, and before its arrival.
  const atLeast = sum(observed.map(({ blockAt, sentAt }) => sentAt - blockAt))
  const atMost = sum(observed.map(({ blockAt, arrivedAt }) => arrivedAt - blockAt))
  assert.ok(
    fromBlock.sumMs >= atLeast - ROUNDING_MS && fromBlock.sumMs <= atMost + ROUNDING_MS,
    `${atLeast} ${fromBlock.sumMs} ${atMost}`,
  )
  // The reader hears of a block once it is mined.
  const sinceMined = sum(observed.map(({ minedAt, arrivedAt }) => arrivedAt - minedAt))
  assert.ok(
    fromAnnouncement.sumMs > 0 && fromAnnouncement.sumMs <= sinceMined + ROUNDING_MS,
    `${fromAnnouncement.sumMs} ${sinceMined}`,
  )

  const shown = (await freshness()) ?? assert.fail('no freshness')
  assert.equal(shown.window_seconds, 300)
  context.diagnostic(JSON.stringify({ observed, ...shown }))
  const slowest = Math.max(...observed.map(({ blockAt, arrivedAt }) => arrivedAt - blockAt))
  const slowestHere = Math.max(...observed.map(({ minedAt, arrivedAt }) => arrivedAt - minedAt))
  for (const [{ p50, p99 }, limit] of [
    [shown.block_to_push_ms, slowest],
    [shown.announcement_to_push_ms, slowestHere],
  ] as const)
    assert.ok(p50 > 0 && p50 <= p99 && p99 <= 1.05 * limit + 1, `${p50} ${p99} ${limit}`)

  // A replay of all these blocks, then an undo of the last one.
  const cursor = client.pushes(id)[0]?.cursor
  const resumed = await WsClient.connect(await pipeline.gatewayUrl(), API_KEY)
  const resumedId = await resumed.subscribe([...topic(), { from: cursor, reorg: true }])
  await arrival(resumed, resumedId, BLOCKS - 1)
  const reverts = (messages: readonly Message[]): number =>
    messages.filter(({ result }) => result?.topic === 'revert').length
  await scenario.market.reorganise(1)
  await waitFor('the retraction', () => (reverts(client.pushes(id)) > 0 ? true : undefined))
  await waitFor('the retraction', () => (reverts(resumed.pushes(resumedId)) > 0 ? true : undefined))
  assert.equal((await histogram('block_to_push')).count, BLOCKS)
  assert.equal((await histogram('announcement_to_push')).count, BLOCKS)

  // A live block for two sockets.
  await tradeNow()
  await waitFor('both sockets', async () =>
    (await histogram('block_to_push')).count === BLOCKS + 2 ? true : undefined,
  )
  client.close()
  resumed.close()
})
