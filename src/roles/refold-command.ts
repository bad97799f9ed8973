import type { Config, EvmChainConfig } from '../config/schema.ts'
import { parseStartDate } from '../config/start-date.ts'
import { ChaintapeError } from '../domain/errors.ts'
import { isFoldable } from '../domain/generation.ts'
import { MissingDexes } from '../domain/missing-dexes.ts'
import { ArgumentError } from '../lib/arguments.ts'
import { Progress } from '../lib/progress.ts'
import { connectLogs } from '../log/connect.ts'
import { openBlockArchive } from '../store/clickhouse/block-archive.ts'
import { openHistoryStore } from '../store/clickhouse/history-store.ts'
import { openHotStore } from '../store/redis/hot-store.ts'
import { commonOfCommand, configOf, note, onlyArgument, requireChain, runCommand, TEXT } from './command.ts'
import { readSupplement } from './refold/read-supplement.ts'
import { cancelRefold, loggedSettings, startRefold, switchTo } from './refold/start-refold.ts'
import { untilBuilt } from './refold/watch-refold.ts'

const USAGE = `usage: chaintape refold <chain> [options]

Folds all archived blocks of a chain again, by its current settings, beside the data that is served. First reads from the
nodes what the blocks lack of exchanges that were added later. Engines and writers do the rest; this command shows how
far they are, and has gateways serve the result once it is complete. Run it again after an interruption: see
docs/operations.md.

  --from DATE       leaves out trades, liquidity changes and candles before this date, for example 2026-01-31
  --grace SECONDS   keeps the former data for so long after the switch; by default refold.grace_seconds
  --cancel          removes what was built so far
  --config FILE     settings in YAML; CHAINTAPE_CONFIG is the same
`

type Options = { readonly from: number | undefined; readonly grace: number; readonly isCanceled: boolean }

/** `chaintape refold ...`: returns the exit code. */
export async function runRefold(args: readonly string[]): Promise<number> {
  const options = { from: TEXT, grace: TEXT, cancel: { type: 'boolean' } } as const
  return runCommand({ name: 'refold', usage: USAGE, options }, args, async ({ values, positionals }) => {
    const chain = onlyArgument(positionals, 'missing chain')
    const from = values.from === undefined ? undefined : parseStartDate(values.from)
    if (values.from !== undefined && from === undefined)
      throw new ArgumentError('--from must be a date, for example 2026-01-31')
    if (values.grace !== undefined && !/^\d{1,9}$/.test(values.grace))
      throw new ArgumentError('--grace must be a whole number of seconds')
    const config = configOf(values)
    requireChain(config, chain)
    const grace = values.grace === undefined ? config.refold.grace_seconds : Number(values.grace)
    return refold(config, chain, { from, grace, isCanceled: values.cancel === true })
  })
}

async function refold(config: Config, chain: string, options: Options): Promise<number> {
  const common = commonOfCommand()
  const { logger, shutdown } = common
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
    const settings = await loggedSettings(chain, blocks, archive, signal)
    const settingsAt = settings.at(-1)?.sequence
    const lacks = new MissingDexes(settings).all.size > 0
    const isRead = lacks && config.chains[chain]?.family === 'evm'
    let building = await startRefold(chain, generations, {
      ...(settingsAt !== undefined && { settingsAt }),
      ...(from !== undefined && { from }),
      ...(isRead && { supplement: { attempt: 1 } }),
    })
    if (from !== undefined && building.from !== from) {
      throw new ChaintapeError(
        'refold_refused',
        `a refold of ${chain} with another --from is under way; cancel it with --cancel, or repeat it without --from`,
      )
    }
    note(`${chain}: building generation ${building.number}`)
    if (lacks && !isRead)
      note(`${chain}: blocks from before a program was added lack it, and are not read again on Solana`)
    if (!isFoldable(building)) {
      const parts = { chain, building, settings, blocks, archive, generations, note, logger, signal }
      const read = await readSupplement(config.chains[chain] as EvmChainConfig, parts)
      if (read === undefined) {
        note(`${chain}: interrupted; 'chaintape refold ${chain}' continues`)
        return 1
      }
      building = read
    }
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
