import { once } from 'node:events'
import type { Config } from '../config/schema.ts'
import { ChaintapeError } from '../domain/errors.ts'
import type { Common } from '../lib/common.ts'
import { retry } from '../lib/retry.ts'
import {
  type AwaitedServer,
  clickhouseServer,
  createWaiting,
  redisServer,
  type Waiting,
} from '../lib/waiting.ts'
import { connectLogs } from '../log/connect.ts'
import { type Quarantine, quarantineDetails } from '../log/quarantine.ts'
import { openBlockArchive } from '../store/clickhouse/block-archive.ts'
import { openHistoryStore } from '../store/clickhouse/history-store.ts'
import { migrate } from '../store/clickhouse/migrate.ts'
import { openHistoryReader } from '../store/clickhouse/read/history-reader.ts'
import { openHotStore } from '../store/redis/hot-store.ts'
import { STORE_NAMES, type StoreName } from '../store/store-names.ts'
import { type GenerationRun, supervisePerGeneration } from './per-generation.ts'
import type { StartRole } from './role.ts'
import type { ChainSupervisor } from './supervise.ts'
import { ChainWriter } from './writer/chain-writer.ts'
import { copyGenerations } from './writer/copy-generations.ts'
import { createLogMetrics, keepBlocks, keepChanges } from './writer/keep-logs.ts'
import { createWriterMetrics, type WriterMetrics } from './writer/metrics.ts'
import { rebuildHot } from './writer/rebuild-hot.ts'
import { removeRetired } from './writer/remove-retired.ts'
import { StoreLags } from './writer/store-lags.ts'
import { watchHistory } from './writer/watch-history.ts'

/** Problems by their source. */
type Problems = Map<string, string>

/** Makes the changes of every chain durable: rows in ClickHouse, documents in Redis. */
export const startWriter: StartRole = async (config, common) => {
  const problems: Problems = new Map([['writer', 'the writer is starting']])
  let supervisor: ChainSupervisor | undefined
  let details = (): string[] => []
  const lags = new StoreLags()
  const logProblems: Problems = new Map()
  // Comes after all problems, because one of them may be what it waits for.
  let migration: string | undefined = 'the ClickHouse schema is not up to date yet'
  const onMigrated = (): void => {
    migration = undefined
  }
  const done = runWriter(
    config,
    common,
    { problems, logProblems, lags, onMigrated },
    (started, quarantine) => {
      supervisor = started
      details = () => [
        ...started.details(),
        ...lags.details(),
        ...logProblems.values(),
        ...quarantineDetails(quarantine),
      ]
    },
  )
  common.shutdown.onClose('writer', async () => {
    // `done` reports why it stopped; only the stop itself matters here.
    await Promise.allSettled([done])
  })
  return {
    readiness: () => problems.values().next().value ?? migration ?? supervisor?.readiness(),
    details: () => details(),
    done,
  }
}

type Reported = {
  readonly problems: Problems
  readonly logProblems: Problems
  readonly lags: StoreLags
  readonly onMigrated: () => void
}

async function runWriter(
  config: Config,
  common: Common,
  { problems, logProblems, lags, onMigrated }: Reported,
  onStarted: (supervisor: ChainSupervisor, quarantine: Quarantine) => void,
): Promise<void> {
  const { signal } = common.shutdown
  const metrics = createWriterMetrics(common.metrics)
  const logMetrics = createLogMetrics(common.metrics)
  const servers: Readonly<Record<StoreName, AwaitedServer>> = {
    clickhouse: clickhouseServer(config.clickhouse.url),
    redis: redisServer(config.redis.url),
  }
  const retryOn = (activity: string, server: AwaitedServer, until = signal): RetryUntilAvailable =>
    createRetry(activity, until, createWaiting(common.logger, server), metrics, problems)
  try {
    await using resources = new AsyncDisposableStack()
    const logs = await connectLogs(config.nats, common)
    resources.defer(() => logs.close())
    // In parallel, because a chain is written to whichever store is available.
    const migrating = retryOn(
      'migrate',
      servers.clickhouse,
    )(async () => {
      await migrate(config.clickhouse, common)
      onMigrated()
    })
    const connecting = retryOn('connect_redis', servers.redis)(() => openHotStore(config.redis, common))
    const opening = Promise.all([migrating, connecting])
    // Awaited below, once there is something to stop.
    opening.catch(() => undefined)
    const history = openHistoryStore(config.clickhouse, common)
    resources.defer(() => history.close())
    const archive = openBlockArchive(config.clickhouse)
    resources.defer(() => archive.close())
    const reader = openHistoryReader(config.clickhouse)
    resources.defer(() => reader.close())
    const stopped = new AbortController()
    const report = (problem: string | undefined): void => setProblem(problems, 'clickhouse', problem)
    const hooks = { report, onCorruptions: (count: number) => metrics.corruptions.set(count) }
    const watching = watchHistory(reader, Object.keys(config.chains), hooks, stopped.signal)
    resources.defer(() => {
      stopped.abort()
      return watching
    })
    resources.defer(async () => (await connecting.catch(() => undefined))?.close())

    problems.delete('writer')
    const generations = await logs.generations()
    const reportLog = (about: string) => (work: string, problem: string | undefined) =>
      setProblem(logProblems, `${about}: ${work}`, problem)
    const writeGeneration = async (run: GenerationRun): Promise<void> => {
      const { chain, generation, stored, label, common: own, onCaughtUp } = run
      const { signal: stop } = own.shutdown
      const activityOf = (store: StoreName): string => `${stored}/${store}`
      own.shutdown.onClose('problems', () => {
        for (const about of [stored, ...STORE_NAMES.map((store) => `retry:${activityOf(store)}`)]) {
          problems.delete(about)
        }
      })
      await logs.removeChanges(chain, generation)
      const log = await logs.openChanges(chain, generation)
      const writer = new ChainWriter({
        folded: { chain, generation },
        label,
        log,
        history,
        migrated: migrating,
        hot: connecting,
        rebuildHot: async (head) => rebuildHot(head, { reader, hot: await connecting }),
        limits: config.writer,
        metrics,
        logger: own.logger.child({ action: 'write' }),
        signal: stop,
        insist: (store, until) => retryOn(activityOf(store), servers[store], until),
        report: (problem) => setProblem(problems, stored, problem),
        onCaughtUp,
      })
      lags.watch(
        run,
        () => log.lastSequence(),
        (store) => writer.position(store),
      )
      const keeping = migrating.then(() =>
        keepChanges({
          ...{ folded: { chain, generation }, label, logs, metrics: logMetrics, signal: stop },
          limits: config.logs,
          written: () => writer.position(),
          logger: own.logger.child({ action: 'keep_logs' }),
          report: reportLog(stored),
        }),
      )
      // Awaited below; until then a failure must not count as unhandled.
      keeping.catch(() => undefined)
      await writer.run()
      await keeping
    }
    const supervisor = await supervisePerGeneration({
      ...{ role: 'writer', config, logs, common },
      run: writeGeneration,
      onGone: (stored) => {
        metrics.forget(stored)
        lags.forget(stored)
      },
    })
    const perChain = Object.keys(config.chains).map(async (chain) => {
      const { logger } = common
      await Promise.race([migrating, once(signal, 'abort')])
      await Promise.all([
        keepBlocks({
          ...{ chain, logs, archive, metrics: logMetrics, limits: config.logs, signal },
          openBlocks: () => logs.open('BLOCKS', chain),
          insist: retryOn(`${chain}/archive`, servers.clickhouse),
          logger: logger.child({ chain, action: 'keep_logs' }),
          report: reportLog(chain),
        }),
        copyGenerations({
          ...{ chain, generations, history, signal },
          logger: logger.child({ chain, action: 'copy_generations' }),
          report: reportLog(chain),
        }),
        removeRetired({
          ...{ chain, logs, generations, history, hot: connecting, signal },
          logger: logger.child({ chain, action: 'remove_generation' }),
          report: reportLog(chain),
        }),
      ])
    })
    // A failure is reported with that of the chains below.
    const keepingAll = Promise.all(perChain)
    keepingAll.catch(() => undefined)
    onStarted(supervisor, await logs.quarantine())
    // The stores stay open until every chain has stopped, unless one of them fails permanently.
    await Promise.race([supervisor.done, opening.then(() => supervisor.done)])
    await keepingAll
  } catch (error) {
    if (!signal.aborted || isFinal(error)) throw error
    common.logger.info({ err: error }, 'Stopped before the pending batch was written')
  } finally {
    problems.clear()
    problems.set('writer', 'the writer has stopped')
  }
}

type RetryUntilAvailable = <T>(work: () => Promise<T>) => Promise<T>

/** Retries, with log and metric, until the store is available or the signal aborts. */
function createRetry(
  activity: string,
  signal: AbortSignal,
  waiting: Waiting,
  metrics: WriterMetrics,
  problems: Problems,
): RetryUntilAvailable {
  const about = `retry:${activity}`
  return async (work) => {
    const result = await retry(work, {
      signal,
      isRetryable: (error) => error instanceof ChaintapeError && error.code === 'store_unavailable',
      onRetry: (error) => {
        metrics.retries.inc({ activity })
        problems.set(about, `${activity}: ${(error as Error).message}`)
        waiting.failed(error)
      },
    })
    waiting.succeeded()
    problems.delete(about)
    return result
  }
}

function setProblem(problems: Problems, about: string, problem: string | undefined): void {
  if (problem === undefined) problems.delete(about)
  else problems.set(about, problem)
}

/** Worth reporting even during shutdown. */
function isFinal(error: unknown): boolean {
  return error instanceof ChaintapeError && !error.retryable
}
