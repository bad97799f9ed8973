#!/usr/bin/env -S node --max-semi-space-size=32
import { inspect } from 'node:util'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { loadConfig } from './config/load.ts'
import type { Config } from './config/schema.ts'
import { secretsOf } from './config/secrets.ts'
import { ChaintapeError } from './domain/errors.ts'
import { type AdminAnswer, startAdminServer } from './lib/admin-server.ts'
import { ArgumentError, parseArguments, suggestion } from './lib/arguments.ts'
import type { Common } from './lib/common.ts'
import { GATEWAY_FLAGS, relaunchWith } from './lib/launch-flags.ts'
import { createLogger } from './lib/logger.ts'
import { hideSecrets, scrub } from './lib/secrets.ts'
import { Shutdown } from './lib/shutdown.ts'
import { VERSION } from './lib/version.ts'
import { stores } from './lib/waiting.ts'
import type { RoleName, StartRole } from './roles/role.ts'

/** Loaded when they are needed: a role then holds only its own code in memory, and a mistake is answered at once. */
const ROLES = {
  reader: async () => (await import('./roles/reader.ts')).startReader,
  engine: async () => (await import('./roles/engine.ts')).startEngine,
  writer: async () => (await import('./roles/writer.ts')).startWriter,
  gateway: async () => (await import('./roles/gateway.ts')).startGateway,
  reconciler: async () => (await import('./roles/reconciler.ts')).startReconciler,
} as const satisfies Record<RoleName, () => Promise<StartRole>>

/** Run once; then the process ends. */
const COMMANDS = {
  migrate: async () => (await import('./roles/migrate.ts')).migrateSchema,
  'redis rebuild': async () => (await import('./roles/redis-rebuild.ts')).rebuildRedis,
} as const satisfies Record<string, () => Promise<(config: Config, common: Common) => Promise<void>>>

type CommandName = keyof typeof COMMANDS

/** Commands with arguments and options of their own. Each returns the exit code. */
const PROGRAMS = {
  init: async () => (await import('./roles/init-command.ts')).runInit,
  doctor: async () => (await import('./roles/doctor-command.ts')).runDoctor,
  status: async () => (await import('./roles/status-command.ts')).runStatus,
  keys: async () => (await import('./roles/keys.ts')).runKeys,
  quarantine: async () => (await import('./roles/quarantine-command.ts')).runQuarantine,
  backup: async () => backupProgram('backup'),
  restore: async () => backupProgram('restore'),
  reconcile: async () => (await import('./roles/reconcile-command.ts')).runReconcile,
  refold: async () => (await import('./roles/refold-command.ts')).runRefold,
  holders: async () => (await import('./roles/holders-command.ts')).runHolders,
  sandbox: async () => (await import('./roles/sandbox-command.ts')).runSandbox,
} as const satisfies Record<string, () => Promise<(args: readonly string[]) => Promise<number>>>

type ProgramName = keyof typeof PROGRAMS

const USAGE = `usage: chaintape <role or command> [--config FILE]

Roles run until they are stopped:
  reader       reads blocks from the chains' nodes and appends them to the log
  engine       derives prices, candles, pairs and tokens from the blocks
  writer       writes changes to ClickHouse and Redis
  gateway      serves REST and WebSocket clients
  reconciler   compares stored data with the archive and the nodes, every hour
  all          all five in one process

Commands:
  sandbox         runs everything on this machine, with a market to look at
  init            writes a commented chaintape.yaml for a chain
  doctor          checks settings, servers and nodes, and says what to do
  status          shows heads, lag, rates and sizes, live
  migrate         brings the ClickHouse schema up to date, as a writer does when it starts
  redis rebuild   rebuilds Redis from ClickHouse
  keys            manages API keys: create, list, revoke, rotate, chart-token, show-usage
  quarantine      skips messages that no role can process: list, add, remove
  backup DIR      copies everything that cannot be made again, or not soon, while the service runs
  restore DIR     fills empty servers from a backup
  reconcile       compares a chain's stored data with its archived blocks, once
  refold          folds a chain again by its current settings, beside the data that is served
  holders         imports a list of a token's balances, where no node serves its old transfers

Options:
  --config FILE   settings in YAML; CHAINTAPE_CONFIG is the same
  -h, --help      prints this
  -v, --version   prints the version

CHAINTAPE_* variables override settings of the file: see docs/configuration.md.
`

// Node would print the error as it is, with the URLs and commands that libraries attach to it.
const crash = (error: unknown): never => {
  process.stderr.write(scrub(`chaintape: uncaught ${inspect(error)}\n`))
  process.exit(1)
}
process.on('uncaughtException', crash)
const code = await main(process.argv.slice(2)).catch(crash)
if (code !== undefined) process.exitCode = code

async function main(args: readonly string[]): Promise<number | undefined> {
  try {
    const [first = '', ...rest] = args
    if (isProgram(first)) return await (await PROGRAMS[first]())(rest)
    const { values, positionals } = parseArguments(args, {
      config: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
      version: { type: 'boolean', short: 'v' },
    })
    const name = positionals.join(' ')
    if (values.help) return print(USAGE)
    if (values.version) return print(`chaintape ${VERSION}\n`)
    if (name === 'all') await run(Object.keys(ROLES) as RoleName[], values.config)
    else if (isRole(name)) {
      if (name === 'gateway') relaunchWith(GATEWAY_FLAGS)
      await run([name], values.config)
    } else if (isCommand(name)) await run([], values.config, name)
    else if (name === '') throw new ArgumentError('missing role or command')
    else {
      const known = [...Object.keys(ROLES), 'all', ...Object.keys(COMMANDS), ...Object.keys(PROGRAMS)]
      const near = suggestion(name, known) || suggestion(positionals[0] ?? '', known)
      throw new ArgumentError(`unknown command '${name}'${near}`)
    }
    return undefined
  } catch (error) {
    if (error instanceof ChaintapeError && error.code === 'config_invalid') {
      process.stderr.write(scrub(`chaintape: ${error.message}\n`))
    } else if (error instanceof ArgumentError) {
      process.stderr.write(`chaintape: ${error.message}\nSee chaintape --help\n`)
    } else throw error
    return 2
  }
}

function print(text: string): number {
  process.stdout.write(text)
  return 0
}

async function run(
  roles: readonly RoleName[],
  file: string | undefined,
  command?: CommandName,
): Promise<void> {
  const config = loadConfig(file ?? process.env['CHAINTAPE_CONFIG'])
  hideSecrets(secretsOf(config))
  const logger = createLogger(config.log_level)
  const shutdown = new Shutdown(logger)
  shutdown.listenToSignals()
  process.on('unhandledRejection', (error) => fail(error))
  const fail = (error: unknown): void => {
    // Failures during a shutdown are caused by it.
    if (shutdown.signal.aborted) return
    const code = error instanceof ChaintapeError ? error.code : 'internal'
    if (isPortInUse(error)) {
      const hint = 'stop the process that listens there, or set gateway.port or admin.<role>_port'
      logger.fatal({ code, address: `${error.address}:${error.port}`, hint }, 'Port in use, shutting down')
    } else if (command !== undefined && error instanceof ChaintapeError && code === 'store_unavailable') {
      const about = stores(config.redis.url, config.clickhouse.url)
      logger.fatal({ code, ...about, reason: error.message }, 'Store unavailable, shutting down')
    } else logger.fatal({ err: error, code }, 'Fatal error, shutting down')
    process.exitCode = 1
    void shutdown.finish().then(() => process.exit(1))
  }
  await Promise.all(roles.map(async (role) => start(role, await ROLES[role]()).catch(fail)))
  if (command !== undefined) {
    const runCommand = await COMMANDS[command]()
    await runCommand(config, { logger, metrics: new Registry(), shutdown }).then(
      () => shutdown.finish(),
      fail,
    )
  }

  async function start(role: RoleName, startRole: StartRole): Promise<void> {
    const metrics = new Registry()
    collectDefaultMetrics({ register: metrics })
    const common = { logger: logger.child({ role }), metrics, shutdown }
    let notStarted: string | undefined = 'starting'
    let readiness = (): string | undefined => notStarted
    let details = (): readonly string[] => []
    let answer: AdminAnswer = () => undefined
    const admin = await startAdminServer({
      host: config.admin.host,
      port: config.admin[`${role}_port`],
      metrics,
      readiness: () => (shutdown.signal.aborted ? 'shutting down' : readiness()),
      details: () => details(),
      answer: (path) => answer(path),
      logger: common.logger,
    })
    shutdown.onClose(`admin server of ${role}`, () => admin.close())
    common.logger.info({ admin_port: admin.port }, 'Admin server listening')
    const running = await startRole(config, common)
    notStarted = undefined
    readiness = running.readiness
    details = running.details ?? details
    answer = running.answer ?? answer
    const done = running.done.catch(fail)
    // Registered last, so closed first: the role finishes its work while all it stands on is still open.
    shutdown.onClose(role, () => done)
  }
}

function isPortInUse(error: unknown): error is Error & { readonly address: string; readonly port: number } {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
}

function isRole(name: string): name is RoleName {
  return Object.hasOwn(ROLES, name)
}

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name)
}

function isProgram(name: string): name is ProgramName {
  return Object.hasOwn(PROGRAMS, name)
}

async function backupProgram(
  name: 'backup' | 'restore',
): Promise<(args: readonly string[]) => Promise<number>> {
  const { runBackup } = await import('./roles/backup-command.ts')
  return (args) => runBackup(name, args)
}
