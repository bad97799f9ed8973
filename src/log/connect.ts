import { jetstream, jetstreamManager, RetentionPolicy, StorageType } from '@nats-io/jetstream'
import { type NatsConnection, nanos } from '@nats-io/transport-node'
import { Counter, Gauge } from 'prom-client'
import { FAULT_REPORT_MS } from '../domain/chain-fault.ts'
import { ChaintapeError } from '../domain/errors.ts'
import { changesLogOf, type Generation } from '../domain/generation.ts'
import type { Common } from '../lib/common.ts'
import type { Logger } from '../lib/logger.ts'
import type { Outbox } from '../lib/outbox.ts'
import { createWaiting, natsServer, retryUntilAvailable } from '../lib/waiting.ts'
import { type AccessOptions, accessOptions, connectOrRefuse } from './access.ts'
import type { ChainLog } from './chain-log.ts'
import type { ConsumerWatch } from './consume.ts'
import { Generations } from './generations.ts'
import { inTime } from './in-time.ts'
import { leaveIsolatedNode } from './isolated-node.ts'
import { LatestValues } from './latest-values.ts'
import type { LogName } from './log-name.ts'
import { LogTrimmer } from './log-trimmer.ts'
import { type OpenLogParts, openLog, removeOlderStream } from './open-log.ts'
import { withPermission } from './permissions.ts'
import { Quarantine } from './quarantine.ts'
import { StreamCopy } from './stream-copy.ts'
import { logStream, openStream } from './streams.ts'

export type { LogName }

export type LatestName =
  | 'KEYS'
  | 'USAGE'
  | 'WORK'
  | 'FAULTS'
  | 'QUARANTINE'
  | 'RECONCILIATIONS'
  | 'GENERATIONS'

export type LogOptions = AccessOptions & {
  readonly prefix: string
  readonly replicas: number
  readonly max_frame_bytes: number
}

export type Logs = {
  /** The log of one chain, created with a new epoch if missing. Its writer passes an outbox. */
  open(log: LogName, chain: string, outbox?: Outbox): Promise<ChainLog>
  /** The CHANGES log of a generation, like `open`. Waits while its stream is that of an earlier generation. */
  openChanges(chain: string, generation: Generation, outbox?: Outbox): Promise<ChainLog>
  /** Deletes the stream of an earlier generation from the place of this one's CHANGES log. */
  removeChanges(chain: string, generation: Pick<Generation, 'number'>): Promise<void>
  /** Drops the oldest messages of an existing log. */
  openTrimmer(log: LogName, chain: string): LogTrimmer
  /** The quarantined messages of all logs. */
  quarantine(): Promise<Quarantine>
  /** The generations of all chains. */
  generations(): Promise<Generations>
  /** A store of the latest value per name, created if missing. */
  openLatest(name: LatestName): Promise<LatestValues>
  /** A stream as it is stored, for backups; it need not exist. */
  openCopy(name: LatestName): StreamCopy
  openCopy(log: LogName, chain: string, generation?: number): StreamCopy
  /** Publishes to all current subscribers of this topic; messages are not stored. */
  publish(topic: string, text: string): void
  subscribe(topic: string, onText: (text: string) => void): void
  /** Sends a request to one responder of this topic; fails if there is none in time. */
  request(topic: string, text: string, timeoutMs: number): Promise<string>
  /** Responds to requests on a topic; several responders share the requests. */
  respond(topic: string, onRequest: (text: string) => Promise<string>): { stop(): void }
  close(): Promise<void>
}

/** A server that hangs, or whose machine is gone, does not close the connection; the default timeout is minutes. */
const PING_MS = 5_000
const MAX_UNANSWERED_PINGS = 2
/** API keys never expire; usage expires after a little more than a year; work requests are repeated while needed. */
const LATEST_MAX_AGE_MS: Record<LatestName, number> = {
  KEYS: 0,
  USAGE: 400 * 86_400_000,
  WORK: 600_000,
  FAULTS: FAULT_REPORT_MS,
  QUARANTINE: 0,
  RECONCILIATIONS: 30 * 86_400_000,
  GENERATIONS: 0,
}
/** The server counts a message's headers as payload. */
const HEADER_ROOM_BYTES = 1_024

export async function connectLogs(options: LogOptions, common: Common): Promise<Logs> {
  const logger = common.logger.child({ action: 'log' })
  const waiting = createWaiting(logger, natsServer(options.urls))
  const untilAvailable = <T>(work: () => Promise<T>): Promise<T> =>
    retryUntilAvailable(() => withPermission(work), waiting, {
      signal: common.shutdown.signal,
      isRetryable: (error) => !(error instanceof ChaintapeError),
    })
  const access = accessOptions(options)
  const connection = await untilAvailable(() =>
    connectOrRefuse(options.urls, {
      ...access,
      servers: [...options.urls],
      maxReconnectAttempts: -1,
      reconnectTimeWait: 250,
      timeout: 5_000,
      pingInterval: PING_MS,
      maxPingOut: MAX_UNANSWERED_PINGS,
      // Traces capture a stack for every request: half the cost of publishing a block.
      noAsyncTraces: true,
    }),
  )
  const watch = watchConnection(connection, common.metrics, logger)
  const manager = await untilAvailable(() => inTime(jetstreamManager(connection))).catch(
    async (error: unknown) => {
      await connection.close()
      throw error
    },
  )
  void leaveIsolatedNode(connection, manager, watch, logger)
  const client = jetstream(connection)
  const limit = (connection.info?.max_payload ?? Number.POSITIVE_INFINITY) - HEADER_ROOM_BYTES
  const openLatest = async (name: LatestName): Promise<LatestValues> => {
    const stream = `${options.prefix}_${name}`
    const subject = `${options.prefix}.${name.toLowerCase()}`
    const ensure = () =>
      openStream(manager, {
        name: stream,
        subjects: [`${subject}.>`],
        storage: StorageType.File,
        retention: RetentionPolicy.Limits,
        num_replicas: options.replicas,
        max_msgs_per_subject: 1,
        max_age: nanos(LATEST_MAX_AGE_MS[name]),
        deny_purge: true,
      })
    await untilAvailable(ensure)
    return new LatestValues({
      ...{ client, manager, stream, subject, ...watch },
      logger: logger.child({ stream }),
      ensure,
    })
  }
  const closed = new AbortController()
  let opened: Promise<Quarantine> | undefined
  const quarantine = async (): Promise<Quarantine> => {
    opened ??= openLatest('QUARANTINE').then((bucket) => Quarantine.open(bucket, common, closed.signal))
    return opened
  }
  let followed: Promise<Generations> | undefined
  const generations = async (): Promise<Generations> => {
    followed ??= openLatest('GENERATIONS').then((bucket) => Generations.open(bucket, common, closed.signal))
    return followed
  }
  const opening: OpenLogParts = {
    ...{ client, manager, prefix: options.prefix, replicas: options.replicas, logger },
    ...{ ...watch, untilAvailable, quarantine, signal: common.shutdown.signal },
    maxFrameBytes: Math.min(limit, options.max_frame_bytes),
  }
  return {
    open: (log, chain, outbox) => openLog(opening, { log, chain, outbox }),
    openChanges: (chain, generation, outbox) =>
      openLog(opening, { log: changesLogOf(generation), chain, generation, outbox }),
    removeChanges: (chain, generation) =>
      untilAvailable(() =>
        removeOlderStream(
          manager,
          `${options.prefix}_${changesLogOf(generation)}_${chain}`,
          generation.number,
          logger,
        ),
      ),
    openTrimmer: (log, chain) => new LogTrimmer(manager, `${options.prefix}_${log}_${chain}`),
    quarantine,
    generations,
    openLatest,
    openCopy: (name: LatestName | LogName, chain?: string, generation?: number) => {
      const names = chain === undefined ? [name] : [name, chain]
      const stream = [options.prefix, ...names].join('_')
      const subject = [options.prefix, name.toLowerCase(), ...names.slice(1)].join('.')
      return new StreamCopy({
        ...{ ...watch, client, manager, stream, subject, logger: logger.child({ stream }) },
        signal: common.shutdown.signal,
        create: async (epoch, first) => {
          await untilAvailable(() =>
            openStream(manager, logStream(stream, subject, options.replicas, { epoch, first, generation })),
          )
        },
      })
    },
    publish: (topic, text) => connection.publish(`${options.prefix}.${topic}`, text),
    subscribe: (topic, onText) => {
      connection.subscribe(`${options.prefix}.${topic}`, {
        callback: (error, message) => {
          if (error === null) onText(message.string())
          else logger.warn({ err: error, topic }, 'NATS subscription failed')
        },
      })
    },
    request: async (topic, text, timeoutMs) => {
      try {
        return (await connection.request(`${options.prefix}.${topic}`, text, { timeout: timeoutMs })).string()
      } catch (error) {
        throw new ChaintapeError('store_unavailable', `no responder for ${topic}`, { cause: error })
      }
    },
    respond: (topic, onRequest) => {
      const subscription = connection.subscribe(`${options.prefix}.${topic}`, {
        queue: topic,
        callback: (error, message) => {
          if (error !== null) {
            logger.warn({ err: error, topic }, 'NATS request subscription failed')
            return
          }
          // Without a response, the requester times out and continues.
          onRequest(message.string()).then(
            (response) => message.respond(response),
            (failure: unknown) => logger.warn({ err: failure, topic }, 'Request over NATS failed'),
          )
        },
      })
      return { stop: () => subscription.unsubscribe() }
    },
    close: () => {
      closed.abort()
      return connection.close()
    },
  }
}

/** Exports the state of the connection and of its consumers as metrics. */
function watchConnection(
  connection: NatsConnection,
  metrics: Common['metrics'],
  logger: Logger,
): ConsumerWatch {
  const connected = new Gauge({
    name: 'chaintape_nats_connected',
    help: '1 while connected to NATS, 0 while reconnecting',
    registers: [metrics],
  })
  const undelivered = new Counter({
    name: 'chaintape_nats_undelivered_total',
    help: 'Consumers that were replaced because their NATS node did not deliver what the stream has',
    registers: [metrics],
  })
  let isConnected = true
  connected.set(1)
  void (async () => {
    for await (const { type } of connection.status()) {
      if (type !== 'disconnect' && type !== 'reconnect') continue
      isConnected = type === 'reconnect'
      connected.set(isConnected ? 1 : 0)
      logger.warn({ status: type }, 'NATS connection changed')
    }
  })()
  return { isConnected: () => isConnected, onUndelivered: () => undelivered.inc() }
}
