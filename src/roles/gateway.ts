import type { AddressInfo } from 'node:net'
import { ChaintapeError } from '../domain/errors.ts'
import type { ChainFamily } from '../domain/ids.ts'
import { createApp } from '../gateway/app.ts'
import { type Answer, AnswerCache } from '../gateway/cache/answer-cache.ts'
import { createGatewayMetrics, watchMarketView } from '../gateway/http/metrics.ts'
import { ChainActivities } from '../gateway/market/chain-activity.ts'
import { createContractReports } from '../gateway/market/contract-reports.ts'
import { FaultBoard } from '../gateway/market/fault-board.ts'
import { guardHot } from '../gateway/market/guarded-hot.ts'
import { createHistoryView } from '../gateway/market/history-view.ts'
import { createLookUps } from '../gateway/market/look-ups.ts'
import { MarketView } from '../gateway/market/market-view.ts'
import { ReconciliationBoard } from '../gateway/market/reconciliation-board.ts'
import { ServedLogs } from '../gateway/market/served-logs.ts'
import { servedHistory, servedHot } from '../gateway/market/stored-names.ts'
import { openTokenLists } from '../gateway/market/token-lists/token-lists.ts'
import { createWantedHolders } from '../gateway/market/wanted-holders.ts'
import { createHoldersView } from '../gateway/rest/tokens/holders-view.ts'
import type { SearchedToken } from '../gateway/rest/tokens/rank-matches.ts'
import type { PriceAnswer } from '../gateway/shape/token-price.ts'
import { Hub } from '../gateway/ws/fanout/hub.ts'
import { refreshWatched } from '../gateway/ws/fanout/refresh-watched.ts'
import { HistoryReplay } from '../gateway/ws/replay/history-replay.ts'
import { LogReplay } from '../gateway/ws/replay/log-replay.ts'
import { ReplayBuffer } from '../gateway/ws/replay/replay-buffer.ts'
import { Freshness } from '../gateway/ws/send/freshness.ts'
import { attachWsServer, type WsServer } from '../gateway/ws/session/server.ts'
import { createWaiting, natsServer, redisServer, retryUntilAvailable } from '../lib/waiting.ts'
import { connectLogs } from '../log/connect.ts'
import { quarantineDetails } from '../log/quarantine.ts'
import { type HistoryReader, openHistoryReader } from '../store/clickhouse/read/history-reader.ts'
import { openHotStore } from '../store/redis/hot-store.ts'
import { FaultReports } from './fault-reports.ts'
import { awaitGenerations } from './gateway/await-generations.ts'
import { followGenerations } from './gateway/follow-generations.ts'
import { openKeys } from './gateway/open-keys.ts'
import { openMeter } from './gateway/open-meter.ts'
import { openTerminal } from './gateway/open-terminal.ts'
import { listedChains, servedChains } from './gateway/served-chains.ts'
import type { StartRole } from './role.ts'
import { ChainSupervisor } from './supervise.ts'
import { watchLag } from './watch-lag.ts'

const CLOSE_GRACE_MS = 5_000
/** A client waits for Redis; after this time the gateway reads ClickHouse instead. */
const READ_TIMEOUT_MS = 1_000
/** Replay buffer, over all chains. */
const RECENT_BYTES = 64 * 1_024 * 1_024
/** Response cache; the caches of prices and of search results have the same limit each. */
const ANSWER_BYTES = 64 * 1_024 * 1_024

export const startGateway: StartRole = async (config, common) => {
  const { logger, metrics: registry, shutdown } = common
  const families = new Map<string, ChainFamily>(
    Object.entries(config.chains).map(([chain, { family }]) => [chain, family]),
  )
  const familyOf = (chain: string): ChainFamily | undefined => families.get(chain)

  const logs = await connectLogs(config.nats, common)
  shutdown.onClose('log', () => logs.close())
  const waiting = createWaiting(logger, redisServer(config.redis.url))
  const untilAvailable = <T>(work: () => Promise<T>): Promise<T> =>
    retryUntilAvailable(work, waiting, {
      signal: shutdown.signal,
      isRetryable: (error) => error instanceof ChaintapeError && error.retryable,
    })
  const store = await untilAvailable(() =>
    openHotStore({ ...config.redis, commandTimeoutMs: READ_TIMEOUT_MS }, common),
  )
  shutdown.onClose('hot store', () => store.close())
  let isHistoryAway = false
  const reader = openHistoryReader(config.clickhouse, (isAway, reason) => {
    isHistoryAway = isAway
    if (isAway) logger.warn({ err: reason }, 'ClickHouse unavailable; failing history requests at once')
    else logger.info('ClickHouse available again')
  })
  shutdown.onClose('history', () => reader.close())

  const [anyChain = ''] = families.keys()
  const generations = await logs.generations()
  await awaitGenerations([...families.keys()], {
    ...{ generations, history: reader, logger, signal: shutdown.signal },
    waiting: createWaiting(logger, natsServer(config.nats.urls)),
  })
  const served = await ServedLogs.open([...families.keys()], generations, logs)
  const nameOf = (chain: string): string => served.storedNameOf(chain)
  const hot = servedHot(guardHot(store, { anyChain, logger, signal: shutdown.signal }), nameOf)
  const history = servedHistory(reader, nameOf)
  const metrics = createGatewayMetrics(registry)
  const freshness = new Freshness(metrics, Date.now)
  const hub = new Hub(Date.now)
  const activities = new ChainActivities(Date.now)
  const recent = new Map(
    [...families.keys()].map((chain) => [chain, new ReplayBuffer(RECENT_BYTES / families.size)]),
  )
  const view = new MarketView({
    logs: new Map([...families.keys()].map((chain) => [chain, served.get(chain)])),
    generationOf: (chain) => served.generationOf(chain),
    heads: { redis: (chain) => store.head(chain), clickhouse: (chain) => reader.marker(chain) },
    store: hot,
    history,
    onChangeSet: ({ set, origin, message, isCaughtUp }) => {
      // Before any subscriber receives the set, so that a request made in response sees it.
      answers.apply(set)
      prices.apply(set)
      searched.apply(set)
      lookUps.apply(set)
      activities.apply(set)
      recent.get(set.chain)?.add(origin, message.position, message.body)
      hub.apply(set, origin, freshness.liveBlock(set, message.announcedAt, isCaughtUp))
    },
    logger,
    maxBytes: config.gateway.overlay_bytes / families.size,
    reopen: (chain, generation) => served.open(chain, generation),
    onGap: (chain) => {
      recent.set(chain, new ReplayBuffer(RECENT_BYTES / families.size))
      // Subscribers would miss events without knowing; they reconnect and resume by their cursors.
      sockets?.reset()
    },
    onAdopted: (chain) => {
      for (const cache of [answers, prices, searched]) cache.clear(chain)
    },
    onSwitch: (chain, generation) => {
      served.serve(chain, generation)
      for (const cache of [answers, prices, searched]) cache.clear(chain)
      recent.set(chain, new ReplayBuffer(RECENT_BYTES / families.size))
      hub.watched.forget(chain)
    },
    onSwitched: async (chain) => {
      try {
        await refreshWatched(chain, hub.watched, view)
      } catch (error) {
        // Later change sets bring the documents, and pushes lack the missing fields until then.
        logger.warn({ err: error, chain }, 'Watched documents not read after a switch')
      }
    },
  })
  const work = await logs.openLatest('WORK')
  const lookUps = createLookUps({
    ...{ logs, work, logger, now: Date.now },
    perMinute: config.gateway.look_ups_per_minute,
  })
  const answers = new AnswerCache<Answer>(view, ANSWER_BYTES)
  const prices = new AnswerCache<PriceAnswer>(view, ANSWER_BYTES)
  const searched = new AnswerCache<SearchedToken>(view, ANSWER_BYTES)
  const faults = new FaultBoard(logger)
  void faults.watch(await logs.openLatest('FAULTS'), shutdown.signal)
  const reconciliations = new ReconciliationBoard(logger)
  // Not awaited: a gateway serves without a reconciler.
  void logs.openLatest('RECONCILIATIONS').then(
    (bucket) => reconciliations.watch(bucket, shutdown.signal),
    (error: unknown) => {
      if (!shutdown.signal.aborted) logger.warn({ err: error }, 'Reconciliations are not shown')
    },
  )
  watchMarketView(registry, [...families.keys()], view)

  const metered = await untilAvailable(() =>
    openMeter(config, logs, common, (reason) => metrics.quotaRefusals.inc({ reason })),
  )
  let sockets: WsServer | undefined
  const { keys, plans } = await openKeys(config, logs, common, (keyId) => sockets?.recheck(keyId))
  const { check, checkChart } = keys
  const { terminal, details: terminalDetails } = openTerminal(config, check)
  const isAdmitted = checkAccess(reader, [...families.keys()])
  const { listingOf } = await openTokenLists({
    sources: config.gateway.token_lists,
    chains: listedChains(config),
    onChange: () => {
      answers.clear()
      searched.clear()
    },
    ...{ logger, signal: shutdown.signal },
  })
  const { allowed_origins: allowedOrigins, connections_per_ip: perAddress, proxies } = config.gateway
  const skipped = await logs.quarantine()
  const wantedHolders = createWantedHolders({ view, work, familyOf, logger, now: Date.now })
  const app = createApp({
    ...{
      ...metered,
      view,
      answers,
      prices,
      searched,
      familyOf,
      listingOf,
      check,
      checkChart,
      terminal,
      metrics,
      logger,
    },
    history: createHistoryView({ view, hot, history }),
    holders: createHoldersView({ view, history, logs, logger, now: Date.now }),
    wantedHolders,
    reports: createContractReports({
      ...{ hot, view, work, logger, now: Date.now },
      history: history.documents,
    }),
    lookUps,
    ...servedChains(config),
    activityOf: (chain) => activities.of(chain),
    faultsOf: (chain) => faults.of(chain),
    quarantinedOf: (chain) => skipped.entries.filter((entry) => entry.chain === chain),
    reconciliationOf: (chain) => reconciliations.of(chain),
    generationsOf: (chain) => generations.find(chain),
    freshnessOf: (chain) => freshness.of(chain),
    publicUrls: config.gateway.public_urls,
    allowedOrigins,
    connectionLimit: { perAddress, proxies },
  })
  await app.ready()
  const { retention_days: days } = config.clickhouse
  const opened = attachWsServer(app.server, {
    ...{ hub, view, wantedHolders, check, familyOf, metrics, logger, allowedOrigins, lookUps, now: Date.now },
    meter: metered.meter,
    missed: new LogReplay({
      ...{ recent, logs: served, signal: shutdown.signal },
      end: (chain) => view.end(chain),
    }),
    events: new HistoryReplay({
      ...{ history, logs: served },
      retentionDays: { tx: days.trades, liq: days.liquidity },
      now: Date.now,
    }),
    isCompressionOffered: plans.some((plan) => plan.sockets.isCompressed),
    maxMessageBytes: Math.max(...plans.map((plan) => plan.sockets.maxMessageBytes)),
  })
  sockets = opened
  shutdown.onClose('http server', () => closeApp(app))
  shutdown.onClose('sockets', () => opened.close())

  const reports = await FaultReports.open('gateway', logs, common)
  const starting = new Map([...families.keys()].map((chain) => [chain, Promise.withResolvers<void>()]))
  const onStarted = (chain: string): void => starting.get(chain)?.resolve()
  const supervisor = new ChainSupervisor({
    chains: [...families.keys()],
    common,
    maxLagSeconds: config.admin.max_lag_seconds,
    onFault: (chain, fault) => {
      reports.set(chain, fault)
      // Without the feed, no invalidation reaches the caches.
      if (fault !== undefined) for (const cache of [answers, prices, searched]) cache.clear()
      onStarted(chain)
    },
    run: (attempt) => {
      const { chain, common: own, onCaughtUp } = attempt
      watchLag(
        attempt,
        () => served.get(chain).lastSequence(),
        () => view.end(chain).after.sequence,
      )
      return view.follow(chain, {
        signal: own.shutdown.signal,
        onStarted: () => onStarted(chain),
        onCaughtUp,
      })
    },
  })
  const { done } = supervisor
  // The caller awaits it once the gateway listens; until then a rejection must not count as unhandled.
  done.catch(() => undefined)
  await Promise.race([Promise.all([...starting.values()].map(({ promise }) => promise)), done])
  await app.listen({ host: config.gateway.host, port: config.gateway.port })
  const { port } = app.server.address() as AddressInfo
  logger.info({ port }, 'Gateway listening')

  skipped.onChange((chain) => supervisor.retryNow(chain))
  const switching = followGenerations({
    ...{ chains: [...families.keys()], generations, served, view, logger, signal: shutdown.signal },
    // A fault of the generation before does not delay this one.
    onSwitched: (chain) => supervisor.retryNow(chain),
  })
  return {
    readiness: () => supervisor.readiness() ?? unavailableOf(view, [...families.keys()]),
    details: () => [
      ...(isHistoryAway ? ['ClickHouse unavailable: history requests fail'] : []),
      ...terminalDetails(),
      ...quarantineDetails(skipped),
      ...switching.details(),
    ],
    done: Promise.all([done, isAdmitted]).then(() => undefined),
  }
}

/** Rejects only if ClickHouse refuses the credentials, because a gateway can start without ClickHouse. */
function checkAccess(reader: Pick<HistoryReader, 'marker'>, [chain = '']: readonly string[]): Promise<void> {
  const checked = reader.marker(chain).then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof ChaintapeError && error.code === 'server_unauthorized') throw error
    },
  )
  // The caller awaits it once the gateway has started; until then a rejection must not count as unhandled.
  checked.catch(() => undefined)
  return checked
}

/** Chains whose overlay was shed: the feed continues, but some documents are neither here nor in Redis. */
function unavailableOf(view: MarketView, chains: readonly string[]): string | undefined {
  const missing = chains.filter((chain) => !view.isAvailable(chain))
  return missing.length === 0
    ? undefined
    : `unavailable until the writer has caught up: ${missing.join(', ')}`
}

/** Lets requests in flight finish, up to a time limit. */
async function closeApp(app: ReturnType<typeof createApp>): Promise<void> {
  const overdue = setTimeout(() => app.server.closeAllConnections(), CLOSE_GRACE_MS)
  await app.close()
  clearTimeout(overdue)
}
