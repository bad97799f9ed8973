import { pino } from 'pino'
import { Registry } from 'prom-client'
import { loadConfig } from '../config/load.ts'
import { secretsOf } from '../config/secrets.ts'
import { ChaintapeError } from '../domain/errors.ts'
import { ArgumentError, parseArguments } from '../lib/arguments.ts'
import { hideSecrets, scrub } from '../lib/secrets.ts'
import { Shutdown } from '../lib/shutdown.ts'
import { backUp, type Note } from './backup/backup.ts'
import { restore } from './backup/restore.ts'
import type { Scope } from './backup/targets.ts'

const TABLES = 'clickhouse' satisfies Scope

const USAGE = {
  backup: `usage: chaintape backup DIR [--config FILE]

Copies API keys, usage, settings, all tables of ClickHouse, both logs and the newest snapshots into a new directory. The
service may run meanwhile. Run it where the snapshots are: see docs/operations.md.
`,
  restore: `usage: chaintape restore DIR [--only ${TABLES}|keys] [--config FILE]

Fills empty servers from a backup. Stop all roles first. If it is interrupted, run it again.

  --only ${TABLES}   only the tables, for a ClickHouse that was lost; the logs must still hold what came after the backup
  --only keys         only API keys, usage, quarantine and generations, for a NATS that was lost; existing values stay
`,
} as const

const SCOPES: readonly string[] = [TABLES, 'keys'] satisfies Scope[]

/** `chaintape backup DIR` and `chaintape restore DIR`: returns the exit code. */
export async function runBackup(command: keyof typeof USAGE, args: readonly string[]): Promise<number> {
  try {
    const { values, positionals } = parseArguments(args, {
      config: { type: 'string' },
      only: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    })
    if (values.help) {
      process.stdout.write(USAGE[command])
      return 0
    }
    const [dir, unexpected] = positionals
    if (dir === undefined) throw new ArgumentError(`missing directory: chaintape ${command} DIR`)
    if (unexpected !== undefined) throw new ArgumentError(`unexpected argument '${unexpected}'`)
    const { only } = values
    if (only !== undefined && command === 'backup') throw new ArgumentError('a backup is always whole')
    if (only !== undefined && !SCOPES.includes(only))
      throw new ArgumentError(`--only must be one of ${SCOPES.join(', ')}`)
    const file = values.config ?? process.env['CHAINTAPE_CONFIG']
    const config = loadConfig(file)
    hideSecrets(secretsOf(config))
    const logger = pino({ level: 'warn', hooks: { streamWrite: scrub } }, pino.destination(2))
    const shutdown = new Shutdown(logger)
    shutdown.listenToSignals()
    const common = { logger, metrics: new Registry(), shutdown }
    const note: Note = (line) => process.stderr.write(`${line}\n`)
    const startedAt = performance.now()
    const manifest =
      command === 'backup'
        ? await backUp(config, file, common, dir, note)
        : await restore(config, common, dir, (only ?? 'all') as Scope, note)
    await shutdown.finish()
    const bytes = manifest.files.reduce((sum, each) => sum + each.bytes, 0)
    const seconds = Math.ceil((performance.now() - startedAt) / 1_000)
    const done = command === 'backup' ? 'Backup complete' : 'Restore complete'
    note(`${done}: ${dir}, ${manifest.files.length} files, ${bytes} bytes, ${seconds} s`)
    return 0
  } catch (error) {
    if (error instanceof ArgumentError) {
      process.stderr.write(`chaintape: ${error.message}\nSee chaintape ${command} --help\n`)
      return 2
    }
    if (!(error instanceof ChaintapeError)) throw error
    process.stderr.write(scrub(`chaintape: ${error.message}\n`))
    return error.code === 'config_invalid' ? 2 : 1
  }
}
