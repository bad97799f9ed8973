#!/usr/bin/env node
import { parseArgs } from 'node:util'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { loadConfig } from './config/load.ts'
import type { Config } from './config/schema.ts'
import { ChaintapeError } from './domain/errors.ts'
import { startAdminServer } from './lib/admin-server.ts'
import { createLogger } from './lib/logger.ts'
import { Shutdown } from './lib/shutdown.ts'
import { startEngine } from './roles/engine.ts'
import { startGateway } from './roles/gateway.ts'
import { startReader } from './roles/reader.ts'
import type { StartRole } from './roles/role.ts'
import { startWriter } from './roles/writer.ts'

const ROLES = {
  reader: startReader,
  engine: startEngine,
  writer: startWriter,
  gateway: startGateway,
} as const

type RoleName = keyof typeof ROLES

const USAGE = `usage: chaintape <role> [--config FILE]

  reader    follows the chains and appends their blocks to the log
  engine    folds blocks into prices, candles, pairs and tokens
  writer    makes changes durable in ClickHouse and Redis
  gateway   answers REST and WebSocket clients
  all       the four of them in one process

Settings come from the file (or CHAINTAPE_CONFIG) and from CHAINTAPE_* variables: see docs/configuration.md.
`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { config: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
})
const [wanted, ...rest] = positionals
if (values.help) {
  process.stdout.write(USAGE)
} else if (wanted === undefined || rest.length > 0 || (wanted !== 'all' && !isRole(wanted))) {
  process.stderr.write(USAGE)
  process.exitCode = 2
} else {
  await run(wanted === 'all' ? (Object.keys(ROLES) as RoleName[]) : [wanted])
}

async function run(roles: readonly RoleName[]): Promise<void> {
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

  async function start(role: RoleName, startRole: StartRole): Promise<void> {
    const metrics = new Registry()
    collectDefaultMetrics({ register: metrics })
    const common = { logger: logger.child({ role }), metrics, shutdown }
    let notStarted: string | undefined = 'starting'
    let readiness = (): string | undefined => notStarted
    const admin = await startAdminServer({
      host: config.admin.host,
      port: config.admin[`${role}_port`],
      metrics,
      readiness: () => readiness(),
    })
    shutdown.onClose(`admin server of ${role}`, () => admin.close())
    common.logger.info({ admin_port: admin.port }, 'Admin server listening')
    const running = await startRole(config, common)
    notStarted = undefined
    readiness = running.readiness
    const done = running.done.catch(fail)
    // Registered last, so closed first: the role finishes its work while all it stands on is still open.
    shutdown.onClose(role, () => done)
  }
}

function isRole(name: string): name is RoleName {
  return Object.hasOwn(ROLES, name)
}
