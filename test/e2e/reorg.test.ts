import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { sameRows } from '../support/reference/same-facts.ts'
import { storedRows } from '../support/reference/store-dump.ts'
import { Pipeline } from '../support/rigs/pipeline.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { ExpectedMarket } from './expected-market.ts'
import { knowTokens } from './know-tokens.ts'
import { Scenario } from './scenario.ts'

const ROLES = ['reader', 'engine', 'writer', 'gateway'] as const

let stack: Stack
let scenario: Scenario
let witness: Pipeline
let latecomer: Pipeline
let head: number

before(async () => {
  stack = await startStack({ anvil: ['--no-mining', '--timestamp', '1750000000'] })
  scenario = await Scenario.deploy(stack.rpcUrl)
  witness = new Pipeline(stack, 'witness')
  await witness.start(...ROLES)
  for (const depth of [1, 3, 7]) {
    for (let block = 0; block < 8; block++) await scenario.tradeBlock()
    await caughtUp(witness)
    await scenario.market.reorganise(depth)
  }
  // Two forks before anybody could have looked, the second deeper than the first.
  await scenario.tradeBlock()
  await scenario.market.reorganise(2)
  await scenario.tradeBlock()
  await scenario.market.reorganise(5)
  for (let block = 0; block < 4; block++) await scenario.tradeBlock()
  head = (await scenario.market.head()).number
  // It starts when all is over, so the canonical chain is all it ever sees.
  latecomer = new Pipeline(stack, 'latecomer')
  await latecomer.start(...ROLES)
  const tokens = scenario.tokens.map(({ address }) => address.toLowerCase())
  for (const pipeline of [witness, latecomer]) await knowTokens(pipeline, scenario.market, tokens)
  await Promise.all([witness, latecomer].map(caughtUp))
})

after(async () => {
  await Promise.all([witness?.stop(), latecomer?.stop()])
  await stack?.stop()
})

async function caughtUp(pipeline: Pipeline): Promise<void> {
  await pipeline.reaches(`/v2/pairs/${scenario.tokenPair}-local`, await scenario.market.head())
}

test('after forks, the rows equal those of a run that saw only the canonical chain', async () => {
  // The version counts how often a row was corrected; the rest of it must be the same.
  const rows = async ({ name }: Pipeline) =>
    Object.entries(sameRows(await storedRows(stack, name))).flatMap(([table, found]) =>
      (found as Record<string, unknown>[]).map(({ seq, ...row }) => JSON.stringify({ table, ...row })),
    )
  // The gateways have seen the last block; the writers may be a batch behind.
  await waitFor('the writers', async () => {
    const [found, canonical] = await Promise.all([rows(witness), rows(latecomer)])
    return found.length === canonical.length ? true : undefined
  })
  assert.deepEqual(await rows(witness), await rows(latecomer))
})

test('after forks, REST answers equal those of a run that saw only the canonical chain', async () => {
  for (const path of [
    `/v2/pairs/${scenario.tokenPair}-local`,
    `/v2/pairs/${scenario.stablePair}-local`,
    ...scenario.tokens.map(({ address }) => `/v2/tokens/${address}-local`),
  ]) {
    assert.deepEqual((await witness.get(path)).body, (await latecomer.get(path)).body)
  }
})

test('exactly the swaps of the canonical chain are left', async () => {
  const expected = await ExpectedMarket.read(scenario, head)
  const { trades } = await storedRows(stack, witness.name)
  const stored = (trades as { block: string; log: number }[]).map(({ block, log }) => `${block}-${log}`)
  const ids = expected.pools.trades.map(({ block, log }) => `${block}-${log}`)
  assert.ok(ids.length > 20)
  assert.deepEqual(stored.sort(), ids.sort())
})
