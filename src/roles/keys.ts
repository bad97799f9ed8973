import { parseArgs } from 'node:util'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { loadConfig } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import { parseStartDate } from '../config/start-date.ts'
import { ChaintapeError } from '../domain/errors.ts'
import type { KeyRecord } from '../gateway/keys/key-record.ts'
import { createKeyStore, type KeyStore } from '../gateway/keys/key-store.ts'
import { billingMonth } from '../gateway/metering/billing-month.ts'
import { type DayUsage, readUsage } from '../gateway/metering/usage-ledger.ts'
import { Shutdown } from '../lib/shutdown.ts'
import { connectLogs, type Logs } from '../log/connect.ts'

export const KEYS_USAGE = `usage: chaintape keys <command> [--config FILE]

  create --name NAME [--plan PLAN] [--expires DATE]   a new key; it is printed this once and cannot be read again
  list                                                all keys, without the keys themselves
  revoke ID                                           ends a key for good, on every gateway
  rotate ID [--grace 24h]                             a new key under the same id; the former one ends after the grace
  show-usage ID [--month 2026-01]                     what a key used, by day and operation

A plan is one of the configuration's \`plans\`; a grace is a number of s, m, h or d; a date is a day or a time, UTC.
`

const DEFAULT_GRACE = '24h'
const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }

type Options = {
  readonly config?: string
  readonly name?: string
  readonly plan?: string
  readonly expires?: string
  readonly grace?: string
  readonly month?: string
}

class UsageError extends Error {}

/** `chaintape keys ...`: gives the exit code. Only the key itself goes to stdout, so that a script can take it. */
export async function runKeys(args: readonly string[]): Promise<number> {
  try {
    const text = { type: 'string' } as const
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { config: text, name: text, plan: text, expires: text, grace: text, month: text },
    })
    const command = toCommand(positionals, values)
    const config = loadConfig(values.config ?? process.env['CHAINTAPE_CONFIG'])
    await withLogs(config, (logs) => command(config, logs))
    return 0
  } catch (error) {
    if (error instanceof ChaintapeError) process.stderr.write(`chaintape: ${error.message}\n`)
    else if (error instanceof UsageError || isArgumentError(error)) {
      process.stderr.write(`chaintape: ${error.message}\n${KEYS_USAGE}`)
      return 2
    } else throw error
    return error.code === 'config_invalid' ? 2 : 1
  }
}

type Command = (config: Config, logs: Logs) => Promise<void>

function toCommand(positionals: readonly string[], options: Options): Command {
  const [name, id, ...rest] = positionals
  if (rest.length > 0) throw new UsageError(`${rest[0]} is one argument too many`)
  const needsId = name === 'revoke' || name === 'rotate' || name === 'show-usage'
  if (needsId !== (id !== undefined))
    throw new UsageError(needsId ? 'name the key by its id' : 'no id is needed')
  const given = id ?? ''
  switch (name) {
    case 'create':
      return create(options)
    case 'list':
      return async (_config, logs) => print(tableOf(await (await storeOf(logs)).list()))
    case 'revoke':
      return async (_config, logs) => {
        await (await storeOf(logs)).revoke(given)
        tell(`The key ${given} is revoked.`)
      }
    case 'rotate': {
      const graceSeconds = parseGrace(options.grace ?? DEFAULT_GRACE)
      return async (_config, logs) => {
        const { record, apiKey } = await (await storeOf(logs)).rotate(given, graceSeconds)
        const [, former] = record.secrets
        const ends = former?.until === undefined ? 'has ended' : `ends ${timeText(former.until)}`
        tell(`The key ${given} is new; the former one ${ends}. This one is shown only now:`)
        print([apiKey])
      }
    }
    case 'show-usage':
      return showUsage(given, options.month)
    default:
      throw new UsageError(name === undefined ? 'say what to do with keys' : `there is no command ${name}`)
  }
}

function create(options: Options): Command {
  const { name, plan = 'default', expires } = options
  if (name === undefined || name === '') throw new UsageError('create needs --name, to tell keys apart')
  const expiresAt = expires === undefined ? undefined : parseStartDate(expires)
  if (expires !== undefined && expiresAt === undefined) throw new UsageError('--expires is not a date')
  return async (config, logs) => {
    if (!Object.hasOwn(config.plans, plan)) {
      const known = Object.keys(config.plans).join(', ')
      throw new ChaintapeError('config_invalid', `there is no plan ${plan}; the configuration has ${known}`)
    }
    const { record, apiKey } = await (await storeOf(logs)).create({ name, plan, expiresAt })
    tell(`The key ${record.id} is created, with the plan ${plan}. It is shown only now:`)
    print([apiKey])
  }
}

function showUsage(id: string, month = billingMonth(Date.now()).name): Command {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(month)) throw new UsageError('--month is not a month')
  return async (config, logs) => {
    const { name, plan } = await (await storeOf(logs)).get(id)
    const days = await readUsage(await logs.openLatest('USAGE'), id, month)
    const limit = config.plans[plan]?.cu_per_month
    tell(`${name}, ${month}, of ${limit ?? 'an unknown number of'} CU:`)
    print(usageTable(days))
  }
}

async function storeOf(logs: Logs): Promise<KeyStore> {
  return createKeyStore(await logs.openLatest('KEYS'), Date.now)
}

async function withLogs(config: Config, work: (logs: Logs) => Promise<void>): Promise<void> {
  const logger = pino({ level: 'warn' }, pino.destination(2))
  const shutdown = new Shutdown(logger)
  shutdown.listenToSignals()
  const logs = await connectLogs(config.nats, { logger, metrics: new Registry(), shutdown })
  try {
    await work(logs)
  } finally {
    await logs.close()
  }
}

function tableOf(records: readonly KeyRecord[]): string[] {
  const now = Date.now() / 1_000
  const state = ({ revoked_at, expires_at }: KeyRecord): string => {
    if (revoked_at !== undefined) return `revoked ${timeText(revoked_at)}`
    if (expires_at === undefined) return 'good'
    return `${expires_at <= now ? 'expired' : 'good until'} ${timeText(expires_at)}`
  }
  const rows = records.map((record) => [
    record.id,
    record.name,
    record.plan,
    timeText(record.created_at),
    state(record),
  ])
  return aligned([['ID', 'NAME', 'PLAN', 'CREATED', 'STATE'], ...rows])
}

function usageTable(days: readonly DayUsage[]): string[] {
  const rows = days.flatMap(({ day, operations }) =>
    [...operations].map(([operation, { requests, cu }]) => [day, operation, `${requests}`, `${cu}`]),
  )
  const all = days.flatMap(({ operations }) => [...operations.values()])
  const sum = (of: 'requests' | 'cu'): string => `${all.reduce((total, used) => total + used[of], 0)}`
  return aligned([['DAY', 'OPERATION', 'REQUESTS', 'CU'], ...rows, ['total', '', sum('requests'), sum('cu')]])
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    rows.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), 0),
  )
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

function parseGrace(text: string): number {
  const [, count, unit = ''] = /^(\d{1,6})([smhd]?)$/.exec(text) ?? []
  if (count === undefined || (unit === '' && count !== '0'))
    throw new UsageError('--grace is not a span of time')
  return Number(count) * (SECONDS[unit] ?? 0)
}

function timeText(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().replace('.000Z', 'Z')
}

function print(lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`)
}

function tell(line: string): void {
  process.stderr.write(`${line}\n`)
}

function isArgumentError(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
}
