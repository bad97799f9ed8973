import { pino } from 'pino'
import { Registry } from 'prom-client'
import { loadConfig } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import { secretsOf } from '../config/secrets.ts'
import { parseStartDate } from '../config/start-date.ts'
import { ChaintapeError } from '../domain/errors.ts'
import { ArgumentError, parseArguments, suggestion } from '../lib/arguments.ts'
import { Progress } from '../lib/progress.ts'
import { hideSecrets, scrub } from '../lib/secrets.ts'
import { Shutdown } from '../lib/shutdown.ts'
import { connectLogs } from '../log/connect.ts'
import { openBlockArchive } from '../store/clickhouse/block-archive.ts'
import { openHistoryStore } from '../store/clickhouse/history-store.ts'
import { openHotStore } from '../store/redis/hot-store.ts'
import { cancelRefold, lastSettings, startRefold, switchTo } from './refold/start-refold.ts'
import { untilBuilt } from './refold/watch-refold.ts'

const USAGE = `usage: chaintape refold <chain> [options]

Folds all archived blocks of a chain again, by its current settings, beside the data that is served. Engines and writers
do the work; this command shows how far they are, and has gateways serve the result once it is complete. Run it again
after an interruption: see docs/operations.md.

  --from DATE       leaves out trades, liquidity changes and candles before this date, for example 2026-01-31
  --grace SECONDS   keeps the former data for so long after the switch; by default refold.grace_seconds
  --cancel          removes what was built so far
  --config FILE     settings in YAML; CHAINTAPE_CONFIG is the same
`

type Options = { readonly from: number | undefined; readonly grace: number; readonly isCanceled: boolean }

/** `chaintape refold ...`: returns the exit code. */
export async function runRefold(args: readonly string[]): Promise<number> {
  try {
    const text = { type: 'string' } as const
    const { values, positionals } = parseArguments(args, {
      ...{ config: text, from: text, grace: text },
      cancel: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    })
    if (values.help) {
      process.stdout.write(USAGE)
      return 0
    }
    const [chain, unexpected] = positionals
    if (chain === undefined) throw new ArgumentError('missing chain')
    if (unexpected !== undefined) throw new ArgumentError(`unexpected argument '${unexpected}'`)
    const from = values.from === undefined ? undefined : parseStartDate(values.from)
    if (values.from !== undefined && from === undefined)
      throw new ArgumentError('--from must be a date, for example 2026-01-31')
    if (values.grace !== undefined && !/^\d{1,9}$/.test(values.grace))
      throw new ArgumentError('--grace must be a whole number of seconds')
    const config = loadConfig(values.config ?? process.env['CHAINTAPE_CONFIG'])
    hideSecrets(secretsOf(config))
    const known = Object.keys(config.chains)
    if (!known.includes(chain)) throw new ArgumentError(`unknown chain '${chain}'${suggestion(chain, known)}`)
    const grace = values.grace === undefined ? config.refold.grace_seconds : Number(values.grace)
    return await refold(config, chain, { from, grace, isCanceled: values.cancel === true })
  } catch (error) {
    if (error instanceof ArgumentError) {
      process.stderr.write(`chaintape: ${error.message}\nSee chaintape refold --help\n`)
      return 2
    }
    if (!(error instanceof ChaintapeError)) throw error
    process.stderr.write(scrub(`chaintape: ${error.message}\n`))
    return error.code === 'config_invalid' ? 2 : 1
  }
}

async function refold(config: Config, chain: string, options: Options): Promise<number> {
  const note = (line: string): unknown => process.stderr.write(`${line}\n`)
  const logger = pino({ level: 'warn', hooks: { streamWrite: scrub } }, pino.destination(2))
  const shutdown = new Shutdown(logger)
  shutdown.listenToSignals()
  const common = { logger, metrics: new Registry(), shutdown }
  const { signal } = shutdown
  try {
    const logs = await connectLogs(config.nats, common)
    shutdown.onClose('log', () => logs.close())
    const generations = await logs.generations()
    if (options.isCanceled) {
      const isCanceled = await cancelRefold(chain, generations)
      note(
        isCanceled ? `${chain}: refold canceled; a writer removes its data` : `${chain}: no refold to cancel`,
      )
      return isCanceled ? 0 : 1
    }
    const archive = openBlockArchive(config.clickhouse)
    shutdown.onClose('archive', () => archive.close())
    const history = openHistoryStore(config.clickhouse, common)
    shutdown.onClose('history', () => history.close())
    const hot = await openHotStore(config.redis, common)
    shutdown.onClose('hot store', () => hot.close())
    const blocks = await logs.open('BLOCKS', chain)
    const { from } = options
    const settingsAt = await lastSettings(chain, blocks, archive, signal)
    const rules = { ...(settingsAt !== undefined && { settingsAt }), ...(from !== undefined && { from }) }
    const building = await startRefold(chain, generations, rules)
    if (from !== undefined && building.from !== from) {
      throw new ChaintapeError(
        'refold_refused',
        `a refold of ${chain} with another --from is under way; cancel it with --cancel, or repeat it without --from`,
      )
    }
    note(`${chain}: building generation ${building.number}`)
    const faults = await logs.openLatest('FAULTS')
    const progress = new Progress(`${chain}: messages`, logger.child({}, { level: 'info' }))
    const watched = { chain, building, generations, blocks, history, hot, faults, progress, note, signal }
    if (!(await untilBuilt(watched))) {
      note(`${chain}: interrupted; the roles go on, and 'chaintape refold ${chain}' completes it`)
      return 1
    }
    const { retiring } = await switchTo(chain, generations, building, options.grace)
    const until = new Date((retiring?.until ?? 0) * 1_000).toISOString()
    note(
      `${chain}: generation ${building.number} is served; generation ${retiring?.number} stays until ${until}`,
    )
    return 0
  } finally {
    await shutdown.finish()
  }
}
