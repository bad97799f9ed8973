import type { Config } from '../config/schema.ts'
import { parseStartDate } from '../config/start-date.ts'
import { ChaintapeError } from '../domain/errors.ts'
import type { KeyRecord } from '../gateway/access/keys/key-record.ts'
import { createKeyStore, type KeyStore } from '../gateway/access/keys/key-store.ts'
import { billingMonth } from '../gateway/access/metering/billing-month.ts'
import { type DayUsage, readUsage } from '../gateway/access/metering/usage-ledger.ts'
import { ArgumentError, suggestion } from '../lib/arguments.ts'
import { connectLogs, type Logs } from '../log/connect.ts'
import { commonOfCommand, configOf, note, runCommand, TEXT } from './command.ts'

const USAGE = `usage: chaintape keys <command> [--config FILE]

  create --name NAME [--plan PLAN] [--expires DATE]   creates a key and prints it once; it cannot be read again
  list                                                lists keys by ID, without their secrets
  revoke ID                                           disables a key on every gateway, for good
  rotate ID [--grace 24h]                             replaces a key; the old one stays valid for the grace period
  chart-token create ID                               creates a token for TradingView's UDF adapter and prints it once
  chart-token list ID                                 lists the chart tokens of a key
  chart-token revoke ID TOKEN_ID                      disables a chart token on every gateway
  show-usage ID [--month 2026-01]                     prints requests and credit units by day and operation

PLAN is one of \`plans\` in the configuration. A grace period is a number of s, m, h or d. DATE is a day or a time in UTC.
`

const COMMANDS: readonly string[] = ['create', 'list', 'revoke', 'rotate', 'chart-token', 'show-usage']
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

/** `chaintape keys ...`: returns the exit code. Only the key itself goes to stdout, so that a script can capture it. */
export async function runKeys(args: readonly string[]): Promise<number> {
  const options = { name: TEXT, plan: TEXT, expires: TEXT, grace: TEXT, month: TEXT }
  return runCommand({ name: 'keys', usage: USAGE, options }, args, async ({ values, positionals }) => {
    const command = toCommand(positionals, values)
    const config = configOf(values)
    await withLogs(config, (logs) => command(config, logs))
    return 0
  })
}

type Command = (config: Config, logs: Logs) => Promise<void>

function toCommand(positionals: readonly string[], options: Options): Command {
  if (positionals[0] === 'chart-token') return chartToken(positionals.slice(1))
  const [name, id, ...rest] = positionals
  if (rest.length > 0) throw new ArgumentError(`unexpected argument '${rest[0]}'`)
  const needsId = name === 'revoke' || name === 'rotate' || name === 'show-usage'
  if (needsId && id === undefined)
    throw new ArgumentError(`${name} needs the ID of a key: chaintape keys ${name} ID (chaintape keys list)`)
  if (!needsId && id !== undefined && COMMANDS.includes(name ?? ''))
    throw new ArgumentError(`unexpected argument '${id}'`)
  const given = id ?? ''
  switch (name) {
    case 'create':
      return create(options)
    case 'list':
      return async (_config, logs) => print(tableOf(await (await storeOf(logs)).list()))
    case 'revoke':
      return async (_config, logs) => {
        await (await storeOf(logs)).revoke(given)
        note(`Key ${given} revoked.`)
      }
    case 'rotate': {
      const graceSeconds = parseGrace(options.grace ?? DEFAULT_GRACE)
      return async (_config, logs) => {
        const { record, apiKey } = await (await storeOf(logs)).rotate(given, graceSeconds)
        const [, former] = record.secrets
        const ends = former?.until === undefined ? 'is disabled' : `is valid until ${timeText(former.until)}`
        note(`Key ${given} rotated; the old one ${ends}. The new one is shown only once:`)
        print([apiKey])
      }
    }
    case 'show-usage':
      return showUsage(given, options.month)
    default:
      throw new ArgumentError(
        name === undefined
          ? `missing command: ${COMMANDS.join(', ')}`
          : `unknown command 'keys ${name}'${suggestion(name, COMMANDS)}`,
      )
  }
}

function chartToken([action, id, tokenId, ...rest]: readonly string[]): Command {
  const isComplete =
    id !== undefined && rest.length === 0 && (tokenId !== undefined) === (action === 'revoke')
  if (!isComplete || !['create', 'list', 'revoke'].includes(action ?? ''))
    throw new ArgumentError('chart-token takes create ID, list ID, or revoke ID TOKEN_ID')
  return async (_config, logs) => {
    const store = await storeOf(logs)
    if (action === 'create') {
      const created = await store.createChartToken(id)
      note(`Chart token ${created.tokenId} of key ${id} created. It is shown only once:`)
      print([created.token])
    } else if (action === 'revoke') {
      await store.revokeChartToken(id, tokenId ?? '')
      note(`Chart token ${tokenId} of key ${id} revoked.`)
    } else {
      const { chart_tokens: tokens = [] } = await store.get(id)
      print(aligned([['ID', 'CREATED'], ...tokens.map((token) => [token.id, timeText(token.created_at)])]))
    }
  }
}

function create(options: Options): Command {
  const { name, plan = 'default', expires } = options
  if (name === undefined || name === '') throw new ArgumentError('create needs --name NAME')
  const expiresAt = expires === undefined ? undefined : parseStartDate(expires)
  if (expires !== undefined && expiresAt === undefined)
    throw new ArgumentError('--expires needs a date (2027-01-01) or a time (2027-01-01T12:00:00Z)')
  return async (config, logs) => {
    if (!Object.hasOwn(config.plans, plan)) {
      const known = Object.keys(config.plans).join(', ')
      throw new ChaintapeError(
        'config_invalid',
        `unknown plan '${plan}'${suggestion(plan, Object.keys(config.plans))}; plans in the configuration: ${known}`,
      )
    }
    const { record, apiKey } = await (await storeOf(logs)).create({ name, plan, expiresAt })
    note(`Key ${record.id} created with plan ${plan}. It is shown only once:`)
    print([apiKey])
  }
}

function showUsage(id: string, month = billingMonth(Date.now()).name): Command {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(month))
    throw new ArgumentError('--month needs a month: --month 2026-01')
  return async (config, logs) => {
    const { name, plan } = await (await storeOf(logs)).get(id)
    const days = await readUsage(await logs.openLatest('USAGE'), id, month)
    const limit = config.plans[plan]?.cu_per_month
    note(`${name}, ${month}, of ${limit ?? 'an unknown number of'} CU:`)
    print(usageTable(days))
  }
}

async function storeOf(logs: Logs): Promise<KeyStore> {
  return createKeyStore(await logs.openLatest('KEYS'), Date.now)
}

async function withLogs(config: Config, work: (logs: Logs) => Promise<void>): Promise<void> {
  const logs = await connectLogs(config.nats, commonOfCommand())
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
    return `${expires_at <= now ? 'expired' : 'valid until'} ${timeText(expires_at)}`
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
    throw new ArgumentError('--grace needs a number of s, m, h or d: --grace 24h')
  return Number(count) * (SECONDS[unit] ?? 0)
}

function timeText(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().replace('.000Z', 'Z')
}

function print(lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`)
}
