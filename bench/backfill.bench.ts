import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { createPublicClient, http } from 'viem'
import { stringify } from 'yaml'
import { loadConfig } from '../src/config/load.ts'
import { createLogger } from '../src/lib/logger.ts'
import { Shutdown } from '../src/lib/shutdown.ts'
import { startReader } from '../src/roles/reader.ts'
import { type Stack, startStack } from '../src/sandbox/servers/stack.ts'
import { Scenario } from '../test/e2e/scenario.ts'
import { canonicalLog } from '../test/support/reference/canonical-log.ts'
import { sized } from './form.ts'
import { type Bench, repeatAsync } from './measure.ts'

/** Blocks of a few swaps each, read anew in every round. A backfill is long: its start must not weigh much. */
const BLOCKS = sized({ full: 2_000, short: 500, smoke: 50 })
const CONCURRENCY = 16

export const bench: Bench = {
  figures: [
    {
      name: 'reader, node to log / bare viem loop fetching the same',
      bar: 0.8,
      goal: 0.95,
      direction: 'at least',
      per: 'wall second',
      open: async () => {
        const stack = await startStack({
          services: ['nats', 'anvil'],
          anvil: ['--no-mining', '--timestamp', '1750000000'],
        })
        const scenario = await Scenario.deploy(stack.rpcUrl)
        for (let block = 0; block < BLOCKS; block++) await scenario.tradeBlock()
        const head = (await scenario.market.head()).number
        const dir = mkdtempSync(join(tmpdir(), 'chaintape-bench-'))
        let round = 0
        let receipts = 0
        return {
          subject: repeatAsync(
            () => readAnew(stack, dir, `round${++round}`, head),
            // The reader says that it is at the head; whether its log is whole is looked at in the end.
            () => undefined,
          ),
          baseline: repeatAsync(
            async () => {
              receipts = await fetchAll(stack, head)
              return head + 1
            },
            () => (receipts > BLOCKS ? undefined : `${receipts} receipts of ${BLOCKS} blocks`),
          ),
          close: async () => {
            for (let done = 1; done <= round; done++) {
              const log = await canonicalLog(stack, `round${done}`)
              if (log.size !== head + 1) throw new Error(`round ${done}: ${log.size} of ${head + 1} blocks`)
            }
            rmSync(dir, { recursive: true, force: true })
            await stack.stop()
          },
        }
      },
    },
  ],
}

/** The reader role as it is, from an empty log to the head. */
async function readAnew(stack: Stack, dir: string, prefix: string, head: number): Promise<number> {
  const file = join(dir, `${prefix}.yaml`)
  const chain = { rpc_urls: [stack.rpcUrl], read_ahead_blocks: CONCURRENCY, poll_ms: 10 }
  const settings = {
    data_dir: join(dir, prefix),
    nats: { urls: stack.natsUrls, prefix },
    chains: { local: chain },
  }
  writeFileSync(file, stringify(settings))
  const logger = createLogger('error')
  const shutdown = new Shutdown(logger)
  const running = await startReader(loadConfig(file, {}), { logger, metrics: new Registry(), shutdown })
  while (running.readiness() !== undefined) await new Promise((resolve) => setTimeout(resolve, 2))
  shutdown.onClose('reader', () => running.done)
  await shutdown.finish()
  return head + 1
}

/** What any reader has to ask for: each block and its receipts, so many at a time. */
async function fetchAll(stack: Stack, head: number): Promise<number> {
  const client = createPublicClient({ transport: http(stack.rpcUrl, { batch: true }) })
  let next = 0
  let receipts = 0
  const work = async (): Promise<void> => {
    while (next <= head) {
      const block = await client.getBlock({ blockNumber: BigInt(next++) })
      const found = await client.request({ method: 'eth_getBlockReceipts', params: [block.hash] } as never)
      receipts += (found as unknown[]).length
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  return receipts
}
