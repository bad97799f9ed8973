import assert from 'node:assert/strict'
import { type ServiceName, startStack } from '../../src/sandbox/servers/stack.ts'
import { ExpectedMarket } from '../e2e/expected-market.ts'
import { knowTokens } from '../e2e/know-tokens.ts'
import { Scenario } from '../e2e/scenario.ts'
import { sameRows } from '../support/reference/same-facts.ts'
import { storedRows } from '../support/reference/store-dump.ts'
import { cutLog } from '../support/rigs/cut-log.ts'
import { Pipeline, type RoleName } from '../support/rigs/pipeline.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { soakOptions } from './options.ts'

/**
 * Kills whatever runs, at random moments, while the market trades and the chain forks: roles and the engines
 * under them. NATS syncs lazily, and loses the end of its logs when it is killed. In the end everything must equal a run that was started when all was over.
 *
 *   npm run soak:kill -- --kills 100 --seed 1
 */

const ROLES: readonly RoleName[] = ['reader', 'engine', 'writer', 'gateway']
const SERVICES: readonly ServiceName[] = ['nats', 'redis', 'clickhouse']
const MAX_REORG_DEPTH = 6

const { kills, seed, roll } = soakOptions()

const stack = await startStack({ natsSync: 'lazy', anvil: ['--no-mining', '--timestamp', '1750000000'] })
const pipelines: Pipeline[] = []
const counts = new Map<string, number>()
try {
  const scenario = await Scenario.deploy(stack.rpcUrl)
  const stormy = new Pipeline(stack, 'stormy', { finality_depth: 20 })
  pipelines.push(stormy)
  await stormy.start(...ROLES)
  await storm(scenario, stormy)
  const latecomer = new Pipeline(stack, 'latecomer', { finality_depth: 20 })
  pipelines.push(latecomer)
  await latecomer.start(...ROLES)
  const tokens = scenario.tokens.map(({ address }) => address.toLowerCase())
  await reaches(stormy, scenario, await scenario.market.head())
  for (const pipeline of pipelines) await knowTokens(pipeline, scenario.market, tokens)
  const head = await scenario.market.head()
  await Promise.all(pipelines.map((pipeline) => reaches(pipeline, scenario, head)))
  const compared = await compare(scenario, head.number)
  console.log([...counts].map(([victim, count]) => `${victim} ${count}`).join(', '))
  console.log(`${kills} kills, ${head.number} blocks, ${compared} rows equal; seed ${seed}`)
} catch (error) {
  console.error(error)
  console.error(`failed: npm run soak:kill -- --kills ${kills} --seed ${seed}`)
  process.exitCode = 1
} finally {
  await Promise.all(pipelines.map((pipeline) => pipeline.stop('SIGKILL')))
  await stack.stop()
}

async function storm(scenario: Scenario, stormy: Pipeline): Promise<void> {
  let isStorming = true
  const trading = (async () => {
    for (let block = 0; isStorming; block++) {
      await scenario.tradeBlock()
      // Not so early that a fork would take the pools with it.
      if (block > MAX_REORG_DEPTH && roll(12) === 0) {
        count('forks')
        await scenario.market.reorganise(1 + roll(MAX_REORG_DEPTH))
      }
      await pause(roll(60))
    }
  })()
  for (let kill = 0; kill < kills; kill++) {
    await pause(roll(400))
    // Most often one role; sometimes two at once, sometimes the ground they stand on.
    if (roll(5) === 0) await restartService(pick(SERVICES))
    else {
      const first = pick(ROLES)
      const second = roll(3) === 0 ? pick(ROLES) : first
      await Promise.all([...new Set([first, second])].map((role) => restartRole(stormy, role)))
    }
    if (kill % 10 === 9) console.log(`${kill + 1} kills, block ${(await scenario.market.head()).number}`)
  }
  isStorming = false
  await trading
}

async function restartRole(stormy: Pipeline, role: RoleName): Promise<void> {
  count(role)
  await stormy.role(role).kill('SIGKILL')
  // Not waiting until it is ready: the next kill may well hit a role that is still recovering.
  stormy.spawn(role)
}

async function restartService(service: ServiceName): Promise<void> {
  count(service)
  await stack.kill(service)
  if (service === 'nats') loseTails()
  await pause(roll(500))
  await stack.restart(service)
}

/** Truncates one log or both, by up to some dozens of messages; BLOCKS by at most what the reader has in its outbox. */
function loseTails(): void {
  for (const log of pick([['BLOCKS'], ['CHANGES'], ['BLOCKS', 'CHANGES']])) {
    count(`${log} cut`)
    cutLog(stack.dataDir, `stormy_${log}_local`, 1 + roll(20_000))
  }
}

async function reaches(
  pipeline: Pipeline,
  scenario: Scenario,
  head: { number: number; time: number },
): Promise<void> {
  await waitFor(
    `${pipeline.name} to reach block ${head.number}`,
    async () => {
      for (const role of ROLES) {
        const { exitCode } = pipeline.role(role)
        if (exitCode !== null) throw new Error(`${pipeline.name}: ${role} gave up with ${exitCode}`)
      }
      const answer = await pipeline.get(`/v2/pairs/${scenario.tokenPair}-local`).catch(() => undefined)
      const isThere =
        answer?.headers.get('X-Block') === String(head.number) &&
        answer.headers.get('X-Block-Time') === String(head.time)
      return isThere ? true : undefined
    },
    120_000,
  )
}

/** Rows, answers and swaps of the storm's survivor against the run that had it calm. */
async function compare(scenario: Scenario, lastBlock: number): Promise<number> {
  const rows = async (database: string): Promise<string[]> =>
    Object.entries(sameRows(await storedRows(stack, database))).flatMap(([table, found]) =>
      // The version counts corrections, and those differ; the rest must not.
      (found as Record<string, unknown>[]).map(({ seq, ...row }) => JSON.stringify({ table, ...row })),
    )
  await waitFor('the writers', async () =>
    (await rows('stormy')).length === (await rows('latecomer')).length ? true : undefined,
  ).catch(() => undefined)
  const [survived, canonical] = await Promise.all([rows('stormy'), rows('latecomer')])
  assert.deepEqual(survived, canonical)
  const paths = [
    ...[scenario.tokenPair, scenario.stablePair].map((pair) => `/v2/pairs/${pair}-local`),
    ...scenario.tokens.map(({ address }) => `/v2/tokens/${address}-local`),
  ]
  for (const path of paths) {
    const [stormy, latecomer] = await Promise.all(
      pipelines.map(async (pipeline) => (await pipeline.get(path)).body),
    )
    assert.deepEqual(stormy, latecomer)
  }
  const expected = await ExpectedMarket.read(scenario, lastBlock)
  const swaps = expected.pools.trades.length
  assert.equal(survived.filter((row) => row.startsWith('{"table":"trades"')).length, swaps)
  return survived.length
}

function count(victim: string): void {
  counts.set(victim, (counts.get(victim) ?? 0) + 1)
}

function pick<T>(from: readonly T[]): T {
  return from[roll(from.length)] as T
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
