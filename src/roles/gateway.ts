import type { AddressInfo } from 'node:net'
import type { Config } from '../config/schema.ts'
import { PROTOCOLS } from '../dex/protocols.ts'
import { ChaintapeError } from '../domain/errors.ts'
import type { ChainFamily } from '../domain/ids.ts'
import { createApp } from '../gateway/app.ts'
import { type Answer, AnswerCache } from '../gateway/cache/answer-cache.ts'
import { createGatewayMetrics, watchMarketView } from '../gateway/http/metrics.ts'
import { createContractReports } from '../gateway/market/contract-reports.ts'
import { FaultBoard } from '../gateway/market/fault-board.ts'
import { guardHot } from '../gateway/market/guarded-hot.ts'
import { createHistoryView } from '../gateway/market/history-view.ts'
import { MarketView } from '../gateway/market/market-view.ts'
import { openTokenLists } from '../gateway/market/token-lists/token-lists.ts'
import type { RestContext } from '../gateway/rest/context.ts'
import { createHoldersView } from '../gateway/rest/tokens/holders-view.ts'
import type { SearchedToken } from '../gateway/rest/tokens/rank-matches.ts'
import type { PriceAnswer } from '../gateway/shape/token-price.ts'
import { Hub } from '../gateway/ws/fanout/hub.ts'
import { HistoryReplay } from '../gateway/ws/replay/history-replay.ts'
import { LogReplay } from '../gateway/ws/replay/log-replay.ts'
import { ReplayBuffer } from '../gateway/ws/replay/replay-buffer.ts'
import { attachWsServer, type WsServer } from '../gateway/ws/session/server.ts'
import { createWaiting, redisServer, retryUntilAvailable } from '../lib/waiting.ts'
import type { ChainLog } from '../log/chain-log.ts'
import { connectLogs } from '../log/connect.ts'
import { quarantineDetails } from '../log/quarantine.ts'
import { type HistoryReader, openHistoryReader } from '../store/clickhouse/read/history-reader.ts'
import { openHotStore } from '../store/redis/hot-store.ts'
import { FaultReports } from './fault-reports.ts'
import { openKeys } from './gateway/open-keys.ts'
import { openMeter } from './gateway/open-meter.ts'
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
  const hot = guardHot(store, { anyChain, logger, signal: shutdown.signal })
  const hub = new Hub(Date.now)
  const changes = await openChanges(logs, [...families.keys()])
  const recent = new Map(
    [...families.keys()].map((chain) => [chain, new ReplayBuffer(RECENT_BYTES / families.size)]),
  )
  const view = new MarketView({
    logs: changes,
    heads: { redis: (chain) => store.head(chain), clickhouse: (chain) => reader.marker(chain) },
    store: hot,
    history: reader,
    onChangeSet: ({ set, origin, message }) => {
      // Before any subscriber receives the set, so that a request made in response sees it.
      answers.apply(set)
      prices.apply(set)
      searched.apply(set)
      recent.get(set.chain)?.add(origin, message.position, message.body)
      hub.apply(set, origin)
    },
    logger,
    maxBytes: config.gateway.overlay_bytes / families.size,
    reopen: async (chain) => {
      const log = await logs.open('CHANGES', chain)
      changes.set(chain, log)
      return log
    },
    onGap: (chain) => {
      recent.set(chain, new ReplayBuffer(RECENT_BYTES / families.size))
      // Subscribers would miss events without knowing; they reconnect and resume by their cursors.
      sockets?.reset()
    },
    onAdopted: (chain) => {
      for (const cache of [answers, prices, searched]) cache.clear(chain)
    },
  })
  const answers = new AnswerCache<Answer>(view, ANSWER_BYTES)
  const prices = new AnswerCache<PriceAnswer>(view, ANSWER_BYTES)
  const searched = new AnswerCache<SearchedToken>(view, ANSWER_BYTES)
  const faults = new FaultBoard(logger)
  void faults.watch(await logs.openLatest('FAULTS'), shutdown.signal)
  const metrics = createGatewayMetrics(registry)
  watchMarketView(registry, [...families.keys()], view)

  const metered = await untilAvailable(() =>
    openMeter(config, logs, common, (reason) => metrics.quotaRefusals.inc({ reason })),
  )
  let sockets: WsServer | undefined
  const { keys, plans } = await openKeys(config, logs, common, (keyId) => sockets?.recheck(keyId))
  const { check, checkChart } = keys
  const isAdmitted = checkAccess(reader, [...families.keys()])
  const { listingOf } = await openTokenLists({
    sources: config.gateway.token_lists,
    chains: Object.entries(config.chains).map(([chain, { family, chain_id: chainId }]) => {
      return { chain, family, chainId }
    }),
    onChange: () => {
      answers.clear()
      searched.clear()
    },
    ...{ logger, signal: shutdown.signal },
  })
  const { allowed_origins: allowedOrigins, connections_per_ip: perAddress, proxies } = config.gateway
  const skipped = await logs.quarantine()
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
      metrics,
      logger,
    },
    history: createHistoryView({ view, hot, history: reader }),
    holders: createHoldersView({ view, history: reader, logs, logger, now: Date.now }),
    reports: createContractReports({
      ...{ hot, view },
      history: reader.documents,
      work: await logs.openLatest('WORK'),
      logger,
      now: Date.now,
    }),
    ...chainsOf(config),
    faultsOf: (chain) => faults.of(chain),
    quarantinedOf: (chain) => skipped.entries.filter((entry) => entry.chain === chain),
    publicUrls: config.gateway.public_urls,
    allowedOrigins,
    connectionLimit: { perAddress, proxies },
  })
  await app.ready()
  const { retention_days: days } = config.clickhouse
  const opened = attachWsServer(app.server, {
    ...{ hub, view, check, familyOf, metrics, logger, allowedOrigins, now: Date.now },
    meter: metered.meter,
    missed: new LogReplay({ recent, logs: changes, signal: shutdown.signal }),
    events: new HistoryReplay({
      history: reader,
      logs: changes,
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
        async () => (await changes.get(chain)?.lastSequence()) ?? 0,
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
  return {
    readiness: () => supervisor.readiness() ?? unavailableOf(view, [...families.keys()]),
    details: () => [
      ...(isHistoryAway ? ['ClickHouse unavailable: history requests fail'] : []),
      ...quarantineDetails(skipped),
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

function chainsOf({
  chains,
}: Config): Pick<RestContext, 'chains' | 'mainTokensOf' | 'nativeDecimalsOf' | 'hasLockers'> {
  return {
    chains: Object.entries(chains).map(([chain, { family, dexes }]) => {
      const platforms = dexes.filter(({ protocol }) => PROTOCOLS[protocol]?.isLaunchPlatform)
      const namesOf = (all: typeof dexes) => [...new Set(all.map(({ amm }) => amm))]
      return { chain, family, amms: namesOf(dexes), platforms: namesOf(platforms) }
    }),
    nativeDecimalsOf: (chain) => chains[chain]?.native.decimals ?? 18,
    hasLockers: (chain) => (chains[chain]?.lockers.length ?? 0) > 0,
    mainTokensOf: (chain) => (chains[chain]?.quote_assets ?? []).map(({ address }) => address),
  }
}

/** Lets requests in flight finish, up to a time limit. */
async function closeApp(app: ReturnType<typeof createApp>): Promise<void> {
  const overdue = setTimeout(() => app.server.closeAllConnections(), CLOSE_GRACE_MS)
  await app.close()
  clearTimeout(overdue)
}

async function openChanges(
  logs: { open(log: 'CHANGES', chain: string): Promise<ChainLog> },
  chains: readonly string[],
): Promise<Map<string, ChainLog>> {
  const opened = new Map<string, ChainLog>()
  for (const chain of chains) opened.set(chain, await logs.open('CHANGES', chain))
  return opened
}
