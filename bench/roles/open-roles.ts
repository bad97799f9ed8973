import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '@clickhouse/client'
import { roleArgs } from '../../dev/main-args.ts'
import { connectLogs, type Logs } from '../../src/log/connect.ts'
import { freePorts } from '../../src/sandbox/servers/process.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { openHistoryStore } from '../../src/store/clickhouse/history-store.ts'
import { type HotStore, openHotStore } from '../../src/store/redis/hot-store.ts'
import { putTestKey, TEST_PLANS } from '../../test/support/builders/test-key.ts'
import { ethereumFile } from '../engine/made-market.ts'
import { MeasuredProcess } from '../rest/measured-process.ts'
import { historyOptions, silentCommon } from '../stores/opened.ts'

export type RoleName = 'engine' | 'writer' | 'gateway'

/** Roles as they are started in earnest, each in a process of its own, over real servers. */
export type RunningRoles = {
  readonly stack: Stack
  readonly logs: Logs
  readonly hot: HotStore
  readonly gatewayPort: number
  /** CPU time of all roles together, without their servers. */
  cpuSeconds(): Promise<number>
  /** Waits until ClickHouse and Redis hold everything up to this version. */
  written(seq: number, chain?: string): Promise<void>
  /** Says what is wrong if ClickHouse has another number of trades of this version. */
  complaint(seq: number, trades: number, chain?: string): Promise<string | undefined>
  stop(): Promise<void>
}

const PREFIX = 'roles_bench'
const LOOK_EVERY_MS = 20
const OVERDUE_MS = 120_000

/** Every chain is a copy of Ethereum. */
export async function openRoles(
  names: readonly RoleName[],
  chains: readonly string[] = ['eth'],
): Promise<RunningRoles> {
  const stack = await startStack({ services: ['nats', 'redis', 'clickhouse'] })
  const common = silentCommon()
  const logs = await connectLogs(
    { urls: stack.natsUrls, prefix: PREFIX, replicas: 1, max_frame_bytes: 900_000 },
    common,
  )
  await putTestKey(logs)
  const [gatewayPort = 0] = await freePorts(1)
  const file = writeConfig(stack, gatewayPort, chains)
  const processes = names.map((name) => new MeasuredProcess(roleArgs(name), ['--config', file]))
  const hot = await openHotStore({ url: stack.redisUrl, prefix: PREFIX }, common)
  const history = openHistoryStore(historyOptions(stack.clickhouseUrl, PREFIX), common)
  const client = createClient({ url: stack.clickhouseUrl, database: PREFIX })

  const isWritten = async (seq: number, chain: string): Promise<boolean> => {
    const heads = await Promise.all([history.marker(chain), hot.head(chain)])
    return heads.every((head) => head !== undefined && head.seq >= seq)
  }
  return {
    ...{ stack, logs, hot, gatewayPort },
    cpuSeconds: async () => {
      const spent = await Promise.all(processes.map((each) => each.cpuSeconds()))
      return spent.reduce((sum, seconds) => sum + seconds, 0)
    },
    written: async (seq, chain = 'eth') => {
      const deadline = performance.now() + OVERDUE_MS
      // Until the writer has migrated, there is no table to ask.
      while (!(await isWritten(seq, chain).catch(() => false))) {
        if (performance.now() > deadline)
          throw new Error(`version ${seq} of ${chain} was not written in time`)
        await sleep(LOOK_EVERY_MS)
      }
    },
    complaint: async (seq, trades, chain = 'eth') => {
      const answer = await client.query({
        // A batch that was sent again is there twice until the table is merged.
        query:
          'SELECT count() AS found FROM trades FINAL WHERE chain = {chain:String} AND seq = {seq:UInt64}',
        query_params: { chain, seq },
        format: 'JSONEachRow',
      })
      const [row] = await answer.json<{ found: string }>()
      return Number(row?.found) === trades ? undefined : `${row?.found} of ${trades} trades were written`
    },
    stop: async () => {
      await Promise.all(processes.map((each) => each.stop()))
      await Promise.all([logs.close(), hot.close(), history.close(), client.close()])
      await stack.stop()
    },
  }
}

function writeConfig(stack: Stack, port: number, chains: readonly string[]): string {
  const file = join(stack.dataDir, 'roles.yaml')
  const settings = {
    data_dir: join(stack.dataDir, 'roles'),
    nats: { urls: stack.natsUrls, prefix: PREFIX },
    redis: { url: stack.redisUrl, prefix: PREFIX },
    clickhouse: { url: stack.clickhouseUrl, database: PREFIX },
    gateway: { port },
    admin: { engine_port: 0, writer_port: 0, gateway_port: 0 },
    plans: TEST_PLANS,
    chains: Object.fromEntries(
      chains.map((name, at) => [
        name,
        { ...ethereumFile(), chain_id: at + 1, rpc_urls: ['http://127.0.0.1:1'] },
      ]),
    ),
  }
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(settings))
  return file
}
