import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { stringify } from 'yaml'
import { loadConfig } from '../../../src/config/load.ts'
import type { Config } from '../../../src/config/schema.ts'
import type { ChainHead } from '../../../src/domain/chain-head.ts'
import type { ChangeSet } from '../../../src/domain/change.ts'
import { connectLogs } from '../../../src/log/connect.ts'
import type { LogPublisher } from '../../../src/log/publisher.ts'
import type { RunningRole } from '../../../src/roles/role.ts'
import { startWriter } from '../../../src/roles/writer.ts'
import type { Stack } from '../../../src/sandbox/servers/stack.ts'
import { openHistoryStore } from '../../../src/store/clickhouse/history-store.ts'
import { type HotStore, openHotStore } from '../../../src/store/redis/hot-store.ts'
import { encodeChangeSet } from '../../../src/wire/change-codec.ts'
import { assertDocuments } from '../builders/hot-documents.ts'
import type { Story, World } from '../builders/story.ts'
import { readWorld } from '../reference/stored-rows.ts'
import { createTestCommon, type LogLine } from './test-common.ts'

export type WriterRun = RunningRole & {
  readonly lines: readonly LogLine[]
  metrics(): Promise<string>
  stop(): Promise<void>
}

/** A log to publish to and a writer over it, with names of their own in a shared stack. */
export type WriterRig = {
  readonly config: Config
  readonly configFile: string
  readonly hot: HotStore
  start(): Promise<WriterRun>
  publish(chain: string, sets: readonly ChangeSet[]): Promise<void>
  marker(chain: string): Promise<ChainHead | undefined>
  /** Until these stores, by default both, have reached the last of these sets; gives the head of the first. */
  written(
    chain: string,
    sets: readonly ChangeSet[],
    stores?: readonly ('clickhouse' | 'redis')[],
  ): Promise<ChainHead>
  /** Both stores hold what the story says. */
  assertStored(chain: string, story: Story, gone?: World): Promise<void>
  close(): Promise<void>
}

export async function createWriterRig(
  stack: Stack,
  options: {
    chains?: readonly string[]
    writer?: Partial<Config['writer']>
    recentCandles?: number
  } = {},
): Promise<WriterRig> {
  const name = `t${randomUUID().slice(0, 8)}`
  const configFile = join(stack.dataDir, `${name}.yaml`)
  writeFileSync(configFile, stringify(settingsOf(stack, name, options)))
  const config = loadConfig(configFile, {})
  const common = createTestCommon()
  const logs = await connectLogs(config.nats, common)
  const history = openHistoryStore(config.clickhouse, common)
  const hot = await openHotStore(config.redis, common)
  const publishers = new Map<string, LogPublisher>()
  const runs: WriterRun[] = []

  const marker = (chain: string): Promise<ChainHead | undefined> =>
    // Before the first migration there is nothing to read from.
    history.marker(chain).catch(() => undefined)

  return {
    config,
    configFile,
    hot,
    marker,
    start: async () => {
      const own = createTestCommon()
      const role = await startWriter(config, own)
      // A test that looks at the failure awaits `done` itself.
      role.done.catch(() => undefined)
      const run = {
        ...role,
        lines: own.lines,
        metrics: () => own.metrics.metrics(),
        stop: () => own.shutdown.finish(),
      }
      runs.push(run)
      return run
    },
    publish: async (chain, sets) => {
      const known = publishers.get(chain)
      const publisher = known ?? (await (await logs.open('CHANGES', chain)).openPublisher())
      publishers.set(chain, publisher)
      for (const set of sets) await publisher.publish(encodeChangeSet(set))
    },
    written: (chain, sets, stores = ['clickhouse', 'redis']) => {
      const seq = sets.at(-1)?.seq ?? 0
      return eventually(`${chain} to be written up to ${seq}`, async () => {
        const heads = await Promise.all(
          stores.map((store) => (store === 'redis' ? hot.head(chain).catch(() => undefined) : marker(chain))),
        )
        return heads.every((head) => head !== undefined && head.seq >= seq) ? heads[0] : undefined
      })
    },
    assertStored: async (chain, { world }, gone = world) => {
      assert.deepEqual(await readWorld(stack.clickhouseUrl, name, chain), world)
      await assertDocuments(hot, chain, world, gone)
    },
    close: async () => {
      await Promise.all(runs.map((run) => run.stop()))
      await Promise.all([logs.close(), history.close(), hot.close()])
    },
  }
}

export async function eventually<T>(what: string, check: () => Promise<T | undefined>): Promise<T> {
  const giveUpAt = performance.now() + 60_000
  for (;;) {
    const found = await check()
    if (found !== undefined) return found
    if (performance.now() > giveUpAt) throw new Error(`waited too long for ${what}`)
    await sleep(20)
  }
}

function settingsOf(
  stack: Stack,
  name: string,
  options: Parameters<typeof createWriterRig>[1] = {},
): unknown {
  const address = `0x${'11'.repeat(20)}`
  const chain = {
    family: 'evm',
    chain_id: 1,
    rpc_urls: ['http://127.0.0.1:1'],
    quote_assets: [{ address, kind: 'native' }],
    dexes: [{ amm: 'uniswap_v2', protocol: 'uniswap_v2', factory: address }],
  }
  return {
    nats: { urls: stack.natsUrls, prefix: name },
    clickhouse: { url: stack.clickhouseUrl, database: name },
    redis: { url: stack.redisUrl, prefix: name, recent_candles: options.recentCandles ?? 300 },
    writer: { max_batch_rows: 300, max_batch_ms: 20, ...options.writer },
    admin: { writer_port: 0 },
    chains: Object.fromEntries((options.chains ?? ['eth']).map((chainName) => [chainName, chain])),
  }
}
