import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { sameDocuments, sameRows } from '../support/reference/same-facts.ts'
import { kindsOf, storedDocuments, storedRows } from '../support/reference/store-dump.ts'
import { Pipeline, type RoleName } from '../support/rigs/pipeline.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { ExpectedMarket } from './expected-market.ts'
import { knowTokens } from './know-tokens.ts'
import { Scenario } from './scenario.ts'

/** In all fewer than anvil takes to finality: when a `final` is read depends on the clock, and it takes a sequence. */
const BLOCKS_PER_KILL = 12
const VICTIMS: readonly RoleName[] = ['reader', 'engine', 'writer', 'gateway']

let stack: Stack
let scenario: Scenario
let calm: Pipeline
let stormy: Pipeline
let lastBlock: number

before(async () => {
  stack = await startStack({ anvil: ['--no-mining', '--timestamp', '1750000000'] })
  scenario = await Scenario.deploy(stack.rpcUrl)
  calm = new Pipeline(stack, 'calm')
  stormy = new Pipeline(stack, 'stormy')
  await Promise.all([calm, stormy].map((pipeline) => pipeline.start(...VICTIMS)))
  // Blocks keep coming while each role in turn is killed without warning and started again.
  for (const victim of VICTIMS) {
    const before = await stormyBlock()
    const inFlow = waitFor('a new block before the kill', async () =>
      (await stormyBlock()) > before ? true : undefined,
    )
    const trading = tradeBlocks(inFlow)
    await inFlow
    await stormy.killAndRestart(victim)
    await trading
  }
  const tokens = scenario.tokens.map(({ address }) => address.toLowerCase())
  for (const pipeline of [calm, stormy]) await knowTokens(pipeline, scenario.market, tokens)
  lastBlock = (await scenario.market.head()).number
  await Promise.all([calm, stormy].map(caughtUp))
})

after(async () => {
  await Promise.all([calm?.stop(), stormy?.stop()])
  await stack?.stop()
})

/** However slow the machine is, some blocks are left to be traded when the first of them has arrived. */
async function tradeBlocks(inFlow: Promise<unknown>): Promise<void> {
  for (let block = 0; block < BLOCKS_PER_KILL; block++) {
    if (block === BLOCKS_PER_KILL / 2) await inFlow
    await scenario.tradeBlock()
  }
}

async function stormyBlock(): Promise<number> {
  const { headers } = await stormy.get(`/v2/pairs/${scenario.tokenPair}-local`)
  return Number(headers.get('X-Block'))
}

/** The gateway has seen the last block, and so have both stores. */
async function caughtUp(pipeline: Pipeline): Promise<void> {
  await waitFor(`${pipeline.name} to reach block ${lastBlock}`, async () => {
    const { headers } = await pipeline.get(`/v2/pairs/${scenario.tokenPair}-local`)
    if (headers.get('X-Block') !== String(lastBlock)) return undefined
    const { trades } = await storedRows(stack, pipeline.name)
    const { trades: others } = await storedRows(stack, pipeline === calm ? 'stormy' : 'calm')
    return trades?.length === others?.length ? true : undefined
  })
  // The writer marks a batch done a moment after its rows are visible.
  await new Promise((resolve) => setTimeout(resolve, 500))
}

test('REST answers equal those of the undisturbed run', async () => {
  const answers = async (pipeline: Pipeline) => ({
    tokenPair: (await pipeline.get(`/v2/pairs/${scenario.tokenPair}-local`)).body,
    stablePair: (await pipeline.get(`/v2/pairs/${scenario.stablePair}-local`)).body,
    tokens: await Promise.all(
      scenario.tokens.map(async ({ address }) => (await pipeline.get(`/v2/tokens/${address}-local`)).body),
    ),
    prices: (
      await pipeline.post('/v2/tokens/price', {
        token_ids: scenario.tokens.map(({ address }) => `${address}-local`),
        tvl_min: 0,
      })
    ).body,
  })
  assert.equal(JSON.stringify(await answers(stormy)), JSON.stringify(await answers(calm)))
})

test('ClickHouse rows equal those of the undisturbed run, column by column', async () => {
  const rows = sameRows(await storedRows(stack, 'stormy'))
  assert.deepEqual(rows, sameRows(await storedRows(stack, 'calm')))
  const { switches, ...others } = rows
  // No pair of this market outgrows another one.
  assert.deepEqual(switches, [])
  for (const [table, found] of Object.entries(others)) assert.ok(found.length > 0, `${table} is empty`)
})

test('Redis documents equal those of the undisturbed run, byte by byte', async () => {
  const documents = sameDocuments(await storedDocuments(stack, 'stormy'))
  const others = sameDocuments(await storedDocuments(stack, 'calm'))
  // The head names the log it was taken from, and each pipeline has its own.
  for (const stored of [documents, others]) delete stored['head:local']
  assert.deepEqual(documents, others)
  assert.deepEqual(kindsOf(Object.keys(documents)), ['candles', 'pair', 'rank', 'token', 'windows'])
})

test('every swap of the receipts is stored, none twice', async () => {
  const expected = await ExpectedMarket.read(scenario, lastBlock)
  const ids = expected.pools.trades.map(({ block, log }) => `${block}-${log}`)
  const { trades } = await storedRows(stack, 'stormy')
  const stored = (trades as { block: string; log: number }[]).map(({ block, log }) => `${block}-${log}`)
  assert.ok(ids.length > 80, `only ${ids.length} swaps`)
  assert.deepEqual(stored.sort(), ids.sort())
})
