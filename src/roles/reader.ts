import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Doorbell } from '../chain/doorbell.ts'
import { firstBlockAt } from '../chain/first-block-at.ts'
import { Reader, type ReaderParts } from '../chain/reader.ts'
import { ReaderIndex } from '../chain/reader-index.ts'
import type { ChainSource } from '../chain/source.ts'
import type { ChainConfig } from '../config/schema.ts'
import { parseStartDate } from '../config/start-date.ts'
import type { Envelope } from '../domain/envelope.ts'
import { ChaintapeError } from '../domain/errors.ts'
import { never } from '../domain/ids.ts'
import type { Common } from '../lib/common.ts'
import { Progress } from '../lib/progress.ts'
import { chainNode, createWaiting, retryUntilAvailable } from '../lib/waiting.ts'
import { type BlockArchive, openBlockArchive } from '../store/clickhouse/block-archive.ts'
import { convertOlderFiles } from '../store/lmdb/open-file.ts'
import { openOutbox } from '../store/lmdb/outbox.ts'
import { openPoolIndex, type PoolIndex } from '../store/lmdb/pool-index.ts'
import type { StateFolder } from '../store/lmdb/snapshots.ts'
import { ACCOUNTS_TOPIC, decodeAccountsQuestion, encodeAccountsAnswer } from '../wire/account-question.ts'
import { isLookUpId, LOOK_UP_TOPIC } from '../wire/look-up-question.ts'
import { chainSettings } from './chain-settings.ts'
import { lockFolder } from './lock-folder.ts'
import { type ChainRun, startPerChain } from './per-chain.ts'
import { openBudgetFile } from './reader/budget-file.ts'
import { openEvmChain } from './reader/evm.ts'
import type { FamilyParts, FamilyRun, UntilAnswered } from './reader/family.ts'
import { leadHistories } from './reader/lead-histories.ts'
import { createReaderMetrics, type ReaderMetrics } from './reader/metrics.ts'
import { openSolanaChain } from './reader/solana.ts'
import { takeTurns } from './reader/take-turns.ts'
import type { StartRole } from './role.ts'
import { keepSnapshots, openState, stateFolder } from './state-snapshots.ts'

/** Version of the index layout. */
export const INDEX_FORMAT = 'reader-2'
/** Released versions whose records this one reads too. */
export const EARLIER_INDEX_FORMATS: readonly string[] = []

const REPORT_EVERY_MS = 1_000

export const startReader: StartRole = async (config, common) => {
  const metrics = createReaderMetrics(common)
  const archive = openBlockArchive(config.clickhouse)
  common.shutdown.onClose('archive', () => archive.close())
  return startPerChain('reader', config, common, (run) => {
    const folder = stateFolder(config, 'reader', run.chain, INDEX_FORMAT, EARLIER_INDEX_FORMATS)
    keepSnapshots(folder, config.snapshots.every_seconds, run.common)
    return readChain(run, archive, folder, config.reader.takeover_ms, metrics)
  })
}

async function readChain(
  { chain, config, logs, common, onCaughtUp, observeLag }: ChainRun,
  archive: BlockArchive,
  folder: StateFolder,
  takeoverMs: number,
  metrics: ReaderMetrics,
): Promise<void> {
  const { logger } = common
  const { signal } = common.shutdown
  const { dir } = folder
  const lock = lockFolder(dir)
  common.shutdown.onClose(`lock on the reader index of ${chain}`, () => lock.release())
  await convertOlderFiles(dir, logger, signal)
  const outbox = openOutbox(join(dir, 'outbox'))
  common.shutdown.onClose(`reader outbox of ${chain}`, () => outbox.close())
  const log = await logs.open('BLOCKS', chain, outbox)
  const store = await openState(folder, log, common)
  common.shutdown.onClose(`reader index of ${chain}`, () => store.close())
  const index = new ReaderIndex(store, { hasHistories: config.family === 'evm' })

  const untilAnswered = createUntilAnswered(chain, config, common)
  const progress = new Progress(`${chain}: blocks`, logger)
  common.shutdown.onClose('progress', () => progress.end())
  const doorbell = new Doorbell()
  const settings = chainSettings(config)
  const openPools = (): PoolIndex => {
    const pools = openPoolIndex(join(dir, 'pools'))
    common.shutdown.onClose(`pool index of ${chain}`, () => pools.close())
    return pools
  }
  const { per_second: perSecond, per_day: perDay } = config.rpc_budget
  const budget = openBudgetFile(dir, { perSecond, perDay }, logger)
  common.shutdown.onClose(`RPC budget of ${chain}`, async () => budget.close())
  const run = { chain, settings, index, doorbell, metrics, logger, signal, untilAnswered, budget, openPools }
  const parts = await openFamily(config, run)
  const { source, background, inspections, lookUps, histories, askAccounts } = parts
  void (await logs.openLatest('WORK')).watch({
    signal,
    onValue: ({ name }) => {
      const [of, kind, id] = name.split('.')
      if (of !== chain || id === undefined) return
      if (kind === 'inspect') inspections?.want(id)
      else if (kind === 'holders') histories?.want(id)
      else if (kind === 'lookup' && isLookUpId(id)) lookUps?.want(id)
    },
    onCurrent: () => undefined,
  })
  if (askAccounts !== undefined) {
    const answering = logs.respond(`${ACCOUNTS_TOPIC}.${chain}`, async (question) =>
      encodeAccountsAnswer(await askAccounts(decodeAccountsQuestion(question))),
    )
    common.shutdown.onClose('answers about accounts', () => answering.stop())
  }
  if (lookUps !== undefined) {
    const answering = logs.respond(`${LOOK_UP_TOPIC}.${chain}`, async (id) =>
      isLookUpId(id) ? lookUps.seek(id) : 'none',
    )
    common.shutdown.onClose('answers about look-ups', () => answering.stop())
  }
  const report = (tip: number | undefined, lagBlocks: number): void => {
    if (tip !== undefined) metrics.tip.set({ chain }, tip)
    metrics.lag.set({ chain }, lagBlocks)
    const secondsLeft = lagBlocks === 0 ? 0 : progress.secondsLeft
    if (secondsLeft !== undefined) metrics.secondsLeft.set({ chain }, secondsLeft)
  }
  let reportedAt = 0
  /** Reports progress during a long catch-up, because `onProgress` is called only at the head. */
  const onBlock: ReaderParts['onBlock'] = ({ number, head }) => {
    progress.update(number, head)
    if (Date.now() - reportedAt < REPORT_EVERY_MS) return
    reportedAt = Date.now()
    report(number, head - number)
  }
  const onProgress: ReaderParts['onProgress'] = ({ tip, lagBlocks }) => {
    report(tip?.number, lagBlocks)
    metrics.openHistories.set({ chain }, index.histories.length)
    metrics.unservedHistories.set({ chain }, histories?.unservedCount() ?? 0)
    observeLag((tip?.number ?? 0) + lagBlocks, () => tip?.number ?? 0)
    if (lagBlocks === 0) onCaughtUp()
  }
  const turns = {
    ...{ chain, log, archive, index, store, logger, signal, doorbell, takeoverMs, onProgress },
    head: () => source.head(),
    pollMs: config.poll_ms,
    onTurn: (turn: string) => {
      metrics.leads.set({ chain }, turn === 'follows' ? 0 : 1)
      if (turn === 'stalled') metrics.takeovers.inc({ chain })
    },
    onFollowed: (envelope: Envelope) => inspections?.follow(envelope),
  }
  await takeTurns(turns, async (appender, dueSince) => {
    for (const each of background) each.forget()
    using _led =
      histories === undefined ? undefined : leadHistories({ chain, histories, index, logs, logger, signal })
    await new Reader({
      chain,
      source,
      index,
      settings,
      gather: parts.gather,
      ...(parts.askAhead !== undefined && { askAhead: parts.askAhead }),
      background,
      append: async (envelope, announcedAt) => {
        await appender.append(envelope, announcedAt)
        metrics.appended.inc({ chain, kind: envelope.kind })
      },
      flush: () => appender.flush(),
      // An existing log continues at its end, whatever the configured start.
      startBlock: index.floor === undefined ? await findStart(source, config, common, untilAnswered) : 0,
      readAheadBlocks: config.read_ahead_blocks,
      pollMs: config.poll_ms,
      doorbell,
      dueSince,
      onDroppedFact: ({ type }) => metrics.droppedFacts.inc({ chain, type }),
      logger,
      signal,
      onBlock,
      onProgress,
    }).run()
  })
}

async function openFamily(config: ChainConfig, run: Omit<FamilyRun<never>, 'config'>): Promise<FamilyParts> {
  switch (config.family) {
    case 'evm':
      return openEvmChain({ ...run, config })
    case 'solana':
      return openSolanaChain({ ...run, config })
    default:
      return never(config)
  }
}

async function findStart(
  source: ChainSource,
  config: ChainConfig,
  common: Common,
  untilAnswered: UntilAnswered,
): Promise<number> {
  const { start_date, start_block } = config
  const time = start_date === undefined ? undefined : parseStartDate(start_date)
  if (time === undefined) return start_block
  const { logger, shutdown } = common
  let isLogged = false
  for (;;) {
    const found = await untilAnswered(() => firstBlockAt(source, time))
    if (found !== undefined) {
      logger.info({ start_date, start_block: found }, 'First block found')
      return found
    }
    if (!isLogged) logger.info({ start_date }, 'Waiting for the chain to reach its start date')
    isLogged = true
    await sleep(config.poll_ms, undefined, { signal: shutdown.signal })
  }
}

function createUntilAnswered(
  chain: string,
  config: ChainConfig,
  { shutdown, logger }: Common,
): UntilAnswered {
  const waiting = createWaiting(logger, chainNode(chain, config.rpc_urls))
  return (ask) =>
    retryUntilAvailable(ask, waiting, {
      signal: shutdown.signal,
      isRetryable: (error) => error instanceof ChaintapeError && error.retryable,
    })
}
