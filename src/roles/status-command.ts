import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config/schema.ts'
import type { Common } from '../lib/common.ts'
import { connectClickhouse } from '../store/clickhouse/connect.ts'
import { connectRedis } from '../store/redis/connect.ts'
import { commonOfCommand, configOf, runCommand } from './command.ts'
import type { RoleName } from './role.ts'
import { type Moment, reportLines } from './status/report.ts'
import { scrape } from './status/scrape.ts'

const USAGE = `usage: chaintape status [options]

Shows the roles of this machine, and of each chain its head, lag, rates and sizes, every two seconds until it is stopped.

  head        latest block in the log BLOCKS
  behind      blocks between the node's head and that
  folded      latest block that the engine folded
  history     age of the latest block in ClickHouse; hot: in Redis; served: by the gateway
  histories   tokens whose older transfers are not all read yet

  --once          prints it once; the exit code is 1 if a role is not ready
  --config FILE   settings in YAML; CHAINTAPE_CONFIG is the same
`

const EVERY_MS = 2_000
/** Between the two readings of --once, for the rates. */
const ONCE_MS = 1_000
const STORE_TIMEOUT_MS = 2_000
const ROLES: readonly RoleName[] = ['reader', 'engine', 'writer', 'gateway', 'reconciler']
const CLEAR = '\x1b[2J\x1b[H'

/** `chaintape status`: returns the exit code. */
export async function runStatus(args: readonly string[]): Promise<number> {
  const options = { once: { type: 'boolean' } } as const
  return runCommand({ name: 'status', usage: USAGE, options }, args, async ({ values }) => {
    const config = configOf(values)
    const common = commonOfCommand()
    const { signal } = common.shutdown
    let before = await readMoment(config, common)
    while (!signal.aborted) {
      await sleep(values.once ? ONCE_MS : EVERY_MS, undefined, { signal }).catch(() => undefined)
      const now = await readMoment(config, common)
      const lines = reportLines(now, before, Object.keys(config.chains))
      const start = process.stdout.isTTY && !values.once ? CLEAR : ''
      process.stdout.write(`${start}${lines.join('\n')}\n`)
      if (values.once) return now.scrapes.every(({ state }) => state === 'ready') ? 0 : 1
      before = now
    }
    return 0
  })
}

async function readMoment(config: Config, common: Common): Promise<Moment> {
  const { host } = config.admin
  const [scrapes, historyBytes, hotBytes] = await Promise.all([
    Promise.all(ROLES.map((role) => scrape(role, host, config.admin[`${role}_port`]))),
    historySize(config).catch(() => undefined),
    hotSize(config, common).catch(() => undefined),
  ])
  return { at: performance.now(), scrapes, historyBytes, hotBytes }
}

async function historySize({ clickhouse }: Config): Promise<number> {
  const client = connectClickhouse(clickhouse, 'default', STORE_TIMEOUT_MS)
  try {
    const query =
      'SELECT sum(bytes_on_disk) AS bytes FROM system.parts WHERE active AND database = {database:String}'
    const answer = await client.query({
      ...{ query, format: 'JSONEachRow' },
      query_params: { database: clickhouse.database },
    })
    const [row] = await answer.json<{ bytes: string }>()
    return Number(row?.bytes)
  } finally {
    await client.close()
  }
}

async function hotSize({ redis: { url, ...files } }: Config, common: Common): Promise<number> {
  const redis = await connectRedis({ url, ...files, commandTimeoutMs: STORE_TIMEOUT_MS }, common)
  try {
    return Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1])
  } finally {
    redis.disconnect()
  }
}
