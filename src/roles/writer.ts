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
import { openHistoryStore } from '../store/clickhouse/history-store.ts'
import { migrate } from '../store/clickhouse/migrate.ts'
import { openHistoryReader } from '../store/clickhouse/read/history-reader.ts'
import { openHotStore } from '../store/redis/hot-store.ts'
import { STORE_NAMES, type StoreName } from '../store/store-names.ts'
import { FaultReports } from './fault-reports.ts'
import type { StartRole } from './role.ts'
import { type Attempt, ChainSupervisor } from './supervise.ts'
import { ChainWriter } from './writer/chain-writer.ts'
import { createWriterMetrics, type WriterMetrics } from './writer/metrics.ts'
import { rebuildHot } from './writer/rebuild-hot.ts'
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
  const done = runWriter(config, common, { problems, lags }, (started, quarantine) => {
    supervisor = started
    details = () => [...lags.details(), ...quarantineDetails(quarantine)]
    quarantine.onChange((chain) => started.retryNow(chain))
  })
  common.shutdown.onClose('writer', async () => {
    // `done` reports why it stopped; only the stop itself matters here.
    await Promise.allSettled([done])
  })
  return {
    readiness: () => problems.values().next().value ?? supervisor?.readiness(),
    details: () => details(),
    done,
  }
}

async function runWriter(
  config: Config,
  common: Common,
  { problems, lags }: { readonly problems: Problems; readonly lags: StoreLags },
  onStarted: (supervisor: ChainSupervisor, quarantine: Quarantine) => void,
): Promise<void> {
  const { signal } = common.shutdown
  const metrics = createWriterMetrics(common.metrics)
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
    const migrating = retryOn('migrate', servers.clickhouse)(() => migrate(config.clickhouse, common))
    const connecting = retryOn('connect_redis', servers.redis)(() => openHotStore(config.redis, common))
    const opening = Promise.all([migrating, connecting])
    // Awaited below, once there is something to stop.
    opening.catch(() => undefined)
    const history = openHistoryStore(config.clickhouse, common)
    resources.defer(() => history.close())
    const reader = openHistoryReader(config.clickhouse)
    resources.defer(() => reader.close())
    const stopped = new AbortController()
    const report = (problem: string | undefined): void => setProblem(problems, 'clickhouse', problem)
    const watching = watchHistory(reader, Object.keys(config.chains), report, stopped.signal)
    resources.defer(() => {
      stopped.abort()
      return watching
    })
    resources.defer(async () => (await connecting.catch(() => undefined))?.close())

    problems.delete('writer')
    const reports = await FaultReports.open('writer', logs, common)
    const quarantine = await logs.quarantine()
    const writeChain = async (attempt: Attempt): Promise<void> => {
      const { chain, common: own, onCaughtUp } = attempt
      const { signal: stop } = own.shutdown
      const activityOf = (store: StoreName): string => `${chain}/${store}`
      own.shutdown.onClose('problems', () => {
        for (const about of [chain, ...STORE_NAMES.map((store) => `retry:${activityOf(store)}`)]) {
          problems.delete(about)
        }
      })
      const log = await logs.open('CHANGES', chain)
      const writer = new ChainWriter({
        chain,
        log,
        history,
        migrated: migrating,
        hot: connecting,
        rebuildHot: async (head) =>
          rebuildHot(head, { reader, hot: await connecting, recentCandles: config.redis.recent_candles }),
        limits: config.writer,
        metrics,
        logger: own.logger.child({ action: 'write' }),
        signal: stop,
        insist: (store, until) => retryOn(activityOf(store), servers[store], until),
        report: (problem) => setProblem(problems, chain, problem),
        onCaughtUp,
      })
      lags.watch(
        attempt,
        () => log.lastSequence(),
        (store) => writer.position(store),
      )
      await writer.run()
    }
    const supervisor = new ChainSupervisor({
      chains: Object.keys(config.chains),
      common,
      maxLagSeconds: config.admin.max_lag_seconds,
      onFault: (chain, fault) => reports.set(chain, fault),
      run: writeChain,
    })
    onStarted(supervisor, quarantine)
    // The stores stay open until every chain has stopped, unless one of them fails permanently.
    await Promise.race([supervisor.done, opening.then(() => supervisor.done)])
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
