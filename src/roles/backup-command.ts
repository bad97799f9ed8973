import { ArgumentError } from '../lib/arguments.ts'
import { backUp } from './backup/backup.ts'
import { restore } from './backup/restore.ts'
import type { Scope } from './backup/targets.ts'
import { commonOfCommand, configOf, note, onlyArgument, runCommand, TEXT } from './command.ts'

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
  const description = { name: command, usage: USAGE[command], options: { only: TEXT } }
  return runCommand(description, args, async ({ values, positionals }) => {
    const dir = onlyArgument(positionals, `missing directory: chaintape ${command} DIR`)
    const { only } = values
    if (only !== undefined && command === 'backup') throw new ArgumentError('a backup is always whole')
    if (only !== undefined && !SCOPES.includes(only))
      throw new ArgumentError(`--only must be one of ${SCOPES.join(', ')}`)
    const config = configOf(values)
    const common = commonOfCommand()
    const startedAt = performance.now()
    const manifest =
      command === 'backup'
        ? await backUp(config, values.config ?? process.env['CHAINTAPE_CONFIG'], common, dir, note)
        : await restore(config, common, dir, (only ?? 'all') as Scope, note)
    await common.shutdown.finish()
    const bytes = manifest.files.reduce((sum, each) => sum + each.bytes, 0)
    const seconds = Math.ceil((performance.now() - startedAt) / 1_000)
    const done = command === 'backup' ? 'Backup complete' : 'Restore complete'
    note(`${done}: ${dir}, ${manifest.files.length} files, ${bytes} bytes, ${seconds} s`)
    return 0
  })
}
