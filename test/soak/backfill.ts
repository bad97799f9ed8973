import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createPublicClient, http } from 'viem'
import { startStack } from '../../src/sandbox/servers/stack.ts'
import { Scenario } from '../e2e/scenario.ts'
import { canonicalLog } from '../support/reference/canonical-log.ts'
import { Pipeline } from '../support/rigs/pipeline.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { soakOptions } from './options.ts'

/**
 * Kills a reader at random moments while it catches up with a long chain that still grows and forks at its
 * head: in the end its log must hold the node's chain, block by block, each once.
 *
 *   npm run soak:backfill -- --kills 100 --seed 1
 */

const BLOCKS_PER_KILL = 40
const { kills, seed, roll } = soakOptions()

const stack = await startStack({ anvil: ['--no-mining', '--timestamp', '1750000000'] })
const pipeline = new Pipeline(stack, 'backfill', { finality_depth: 20, read_ahead_blocks: 8 })
try {
  const scenario = await Scenario.deploy(stack.rpcUrl)
  for (let block = 0; block < 30; block++) await scenario.tradeBlock()
  await scenario.market.mineMany(kills * BLOCKS_PER_KILL)
  for (let kill = 0; kill < kills; kill++) {
    pipeline.spawn('reader')
    // It leads a moment later, but only if a block is due.
    await pipeline.role('reader').logged('Reader is standby')
    await new Promise((resolve) => setTimeout(resolve, roll(1_000)))
    await pipeline.role('reader').kill('SIGKILL')
    if (roll(8) === 0) await scenario.market.reorganise(1 + roll(6))
    if (roll(8) === 0) await scenario.market.mineMany(1 + roll(5))
  }
  const reached = (await canonicalLog(stack, 'backfill')).size
  // On a chain that stands still, a reader corrects a fork of the same height only after a minute.
  await scenario.market.mineMany(1)
  await pipeline.start('reader')
  const { number } = await scenario.market.head()
  await waitFor('the log to reach the head', async () => {
    return (await canonicalLog(stack, 'backfill')).has(number) ? true : undefined
  })
  const log = await canonicalLog(stack, 'backfill')
  const client = createPublicClient({ transport: http(stack.rpcUrl, { batch: true }) })
  const numbers = Array.from({ length: number + 1 }, (_, block) => block)
  const blocks = await Promise.all(numbers.map((block) => client.getBlock({ blockNumber: BigInt(block) })))
  assert.deepEqual(
    [...log],
    blocks.map((block) => [Number(block.number), block.hash]),
  )
  console.log(
    `${kills} kills within the first ${reached} of ${number + 1} blocks: log and node are equal; seed ${seed}`,
  )
} catch (error) {
  console.error(error)
  console.error(readFileSync(join(pipeline.dir, 'reader.log'), 'utf8').split('\n').slice(-20).join('\n'))
  console.error(`failed: npm run soak:backfill -- --kills ${kills} --seed ${seed}`)
  process.exitCode = 1
} finally {
  await pipeline.stop('SIGKILL')
  await stack.stop()
}
