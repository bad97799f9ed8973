#!/usr/bin/env -S node --max-semi-space-size=32
import { parseArgs } from 'node:util'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { loadConfig } from './config/load.ts'
import type { Config } from './config/schema.ts'
import { ChaintapeError } from './domain/errors.ts'
import { type AdminAnswer, startAdminServer } from './lib/admin-server.ts'
import type { Common } from './lib/common.ts'
import { createLogger } from './lib/logger.ts'
import { Shutdown } from './lib/shutdown.ts'
import { startEngine } from './roles/engine.ts'
import { startGateway } from './roles/gateway.ts'
import { runKeys } from './roles/keys.ts'
import { startReader } from './roles/reader.ts'
import { rebuildRedis } from './roles/redis-rebuild.ts'
import type { StartRole } from './roles/role.ts'
import { startWriter } from './roles/writer.ts'

const ROLES = {
  reader: startReader,
  engine: startEngine,
  writer: startWriter,
  gateway: startGateway,
} as const

/** What is done once, and then the process ends. */
const COMMANDS = {
  'redis rebuild': rebuildRedis,
} as const satisfies Record<string, (config: Config, common: Common) => Promise<void>>

type RoleName = keyof typeof ROLES
type CommandName = keyof typeof COMMANDS

const USAGE = `usage: chaintape <role or command> [--config FILE]

  reader    follows the chains and appends their blocks to the log
  engine    folds blocks into prices, candles, pairs and tokens
  writer    makes changes durable in ClickHouse and Redis
  gateway   answers REST and WebSocket clients
  all       the four of them in one process

  redis rebuild   fills Redis anew from ClickHouse
  keys            create, list, revoke, rotate, show-usage: the API keys of clients

Settings come from the file (or CHAINTAPE_CONFIG) and from CHAINTAPE_* variables: see docs/configuration.md.
`

const [first, ...others] = process.argv.slice(2)
const { values, positionals } = parseArgs({
  // Keys have options of their own.
  args: first === 'keys' ? [] : process.argv.slice(2),
  allowPositionals: true,
  options: { config: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
})
const wanted = positionals.join(' ')
if (first === 'keys') {
  process.exitCode = await runKeys(others)
} else if (values.help) {
  process.stdout.write(USAGE)
} else if (wanted === 'all') {
  await run(Object.keys(ROLES) as RoleName[])
} else if (isRole(wanted)) {
  await run([wanted])
} else if (isCommand(wanted)) {
  await run([], wanted)
} else {
  process.stderr.write(USAGE)
  process.exitCode = 2
}

async function run(roles: readonly RoleName[], command?: CommandName): Promise<void> {
  let config: Config
  try {
    config = loadConfig(values.config ?? process.env['CHAINTAPE_CONFIG'])
  } catch (error) {
    process.stderr.write(`chaintape: ${error instanceof ChaintapeError ? error.message : String(error)}\n`)
    process.exitCode = 2
    return
  }
  const logger = createLogger(config.log_level)
  const shutdown = new Shutdown(logger)
  shutdown.listenToSignals()
  process.on('unhandledRejection', (error) => fail(error))
  const fail = (error: unknown): void => {
    // What still fails once everything is being closed fails because of it.
    if (shutdown.signal.aborted) return
    const code = error instanceof ChaintapeError ? error.code : 'internal'
    logger.fatal({ err: error, code }, 'Cannot go on')
    process.exitCode = 1
    void shutdown.finish().then(() => process.exit(1))
  }
  await Promise.all(roles.map((role) => start(role, ROLES[role]).catch(fail)))
  if (command !== undefined) {
    await COMMANDS[command](config, { logger, metrics: new Registry(), shutdown }).then(
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
    let answer: AdminAnswer = () => undefined
    const admin = await startAdminServer({
      host: config.admin.host,
      port: config.admin[`${role}_port`],
      metrics,
      readiness: () => readiness(),
      answer: (path) => answer(path),
      logger: common.logger,
    })
    shutdown.onClose(`admin server of ${role}`, () => admin.close())
    common.logger.info({ admin_port: admin.port }, 'Admin server listening')
    const running = await startRole(config, common)
    notStarted = undefined
    readiness = running.readiness
    answer = running.answer ?? answer
    const done = running.done.catch(fail)
    // Registered last, so closed first: the role finishes its work while all it stands on is still open.
    shutdown.onClose(role, () => done)
  }
}

function isRole(name: string): name is RoleName {
  return Object.hasOwn(ROLES, name)
}

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name)
}
