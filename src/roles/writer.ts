import type { Config } from '../config/schema.ts'
import { ChaintapeError } from '../domain/errors.ts'
import type { Common } from '../lib/common.ts'
import { retry } from '../lib/retry.ts'
import {
  type AwaitedServer,
  clickhouseServer,
  createWaiting,
  redisServer,
  stores,
  type Waiting,
} from '../lib/waiting.ts'
import { connectLogs } from '../log/connect.ts'
import { type Quarantine, quarantineDetails } from '../log/quarantine.ts'
import { openHistoryStore } from '../store/clickhouse/history-store.ts'
import { migrate } from '../store/clickhouse/migrate.ts'
import { openHistoryReader } from '../store/clickhouse/read/history-reader.ts'
import { openHotStore } from '../store/redis/hot-store.ts'
import { FaultReports } from './fault-reports.ts'
import type { StartRole } from './role.ts'
import { type Attempt, ChainSupervisor } from './supervise.ts'
import { watchLag } from './watch-lag.ts'
import { ChainWriter } from './writer/chain-writer.ts'
import { createWriterMetrics, type WriterMetrics } from './writer/metrics.ts'
import { rebuildHot } from './writer/rebuild-hot.ts'

/** What is wrong, by what it is wrong with. */
type Problems = Map<string, string>

/** Makes the changes of every chain durable: rows in ClickHouse, documents in Redis. */
export const startWriter: StartRole = async (config, common) => {
  const problems: Problems = new Map([['writer', 'the writer is starting']])
  let supervisor: ChainSupervisor | undefined
  let details = (): string[] => []
  const done = runWriter(config, common, problems, (started, quarantine) => {
    supervisor = started
    details = () => quarantineDetails(quarantine)
    quarantine.onChange((chain) => started.retryNow(chain))
  })
  common.shutdown.onClose('writer', async () => {
    // Why it stopped is told by `done`; here it only matters that it has.
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
  problems: Problems,
  onStarted: (supervisor: ChainSupervisor, quarantine: Quarantine) => void,
): Promise<void> {
  const { signal } = common.shutdown
  const metrics = createWriterMetrics(common.metrics)
  const { redis, clickhouse } = config
  const insistOn = (activity: string, server: AwaitedServer, until = signal): Insist =>
    createInsist(activity, until, createWaiting(common.logger, server), metrics, problems)
  try {
    await using resources = new AsyncDisposableStack()
    const logs = await connectLogs(config.nats, common)
    resources.defer(() => logs.close())
    await insistOn('migrate', clickhouseServer(clickhouse.url))(() => migrate(config.clickhouse, common))
    const history = openHistoryStore(config.clickhouse, common)
    resources.defer(() => history.close())
    const reader = openHistoryReader(config.clickhouse)
    resources.defer(() => reader.close())
    const hot = await insistOn(
      'connect_redis',
      redisServer(redis.url),
    )(() => openHotStore(config.redis, common))
    resources.defer(() => hot.close())

    problems.delete('writer')
    const reports = await FaultReports.open('writer', logs, common)
    const quarantine = await logs.quarantine()
    const writeChain = async (attempt: Attempt): Promise<void> => {
      const { chain, common: own, onCaughtUp } = attempt
      const { signal: stop } = own.shutdown
      own.shutdown.onClose('problems', () => {
        for (const about of [chain, `retry:${chain}`]) problems.delete(about)
      })
      const log = await logs.open('CHANGES', chain)
      const writer = new ChainWriter({
        chain,
        log,
        history,
        hot,
        rebuildHot: (head) => rebuildHot(head, { reader, hot, recentCandles: config.redis.recent_candles }),
        limits: config.writer,
        metrics,
        logger: own.logger.child({ action: 'write' }),
        signal: stop,
        insist: insistOn(chain, stores(redis.url, clickhouse.url), stop),
        report: (problem) => setProblem(problems, chain, problem),
        onCaughtUp,
      })
      watchLag(
        attempt,
        () => log.lastSequence(),
        () => writer.position,
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
    // The stores stay open until every chain has come to rest.
    await supervisor.done
  } catch (error) {
    if (!signal.aborted || isFinal(error)) throw error
    common.logger.info({ err: error }, 'Stopped before the batch at hand was written')
  } finally {
    problems.clear()
    problems.set('writer', 'the writer has stopped')
  }
}

type Insist = <T>(work: () => Promise<T>) => Promise<T>

/** The same work again and again, told and counted, until the store answers or the signal aborts. */
function createInsist(
  activity: string,
  signal: AbortSignal,
  waiting: Waiting,
  metrics: WriterMetrics,
  problems: Problems,
): Insist {
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

/** Worth reporting even while stopping. */
function isFinal(error: unknown): boolean {
  return error instanceof ChaintapeError && !error.retryable
}
