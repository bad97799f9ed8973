import { randomUUID } from 'node:crypto'
import {
  JetStreamApiError,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type StreamInfo,
} from '@nats-io/jetstream'
import { connect, nanos } from '@nats-io/transport-node'
import { ChaintapeError } from '../domain/errors.ts'
import type { Common } from '../lib/common.ts'
import { retry } from '../lib/retry.ts'
import { ChainLog } from './chain-log.ts'

export type LogName = 'BLOCKS' | 'CHANGES'

export type LogOptions = {
  readonly urls: readonly string[]
  readonly prefix: string
  readonly replicas: number
  readonly max_frame_bytes: number
}

export type Logs = {
  /** The log of one chain; made, with a new epoch, if there is none yet. */
  open(log: LogName, chain: string): Promise<ChainLog>
  close(): Promise<void>
}

const STREAM_NOT_FOUND = 10_059
const STREAM_NAME_IN_USE = 10_058
const DUPLICATE_WINDOW_MS = 120_000
/** The server counts a message's headers (its id, what it expects) as payload too. */
const HEADER_ROOM_BYTES = 1_024

export async function connectLogs(options: LogOptions, common: Common): Promise<Logs> {
  const logger = common.logger.child({ action: 'log' })
  const insist = <T>(work: () => Promise<T>): Promise<T> =>
    retry(work, {
      signal: common.shutdown.signal,
      isRetryable: (error) => !(error instanceof ChaintapeError),
      onRetry: (error, attempt) => logger.warn({ err: error, attempt }, 'Waiting for NATS'),
    })
  const connection = await insist(() =>
    connect({
      servers: [...options.urls],
      maxReconnectAttempts: -1,
      reconnectTimeWait: 250,
      timeout: 5_000,
      // They would take a stack trace of every request, in case it fails: half the cost of publishing a block.
      noAsyncTraces: true,
    }),
  )
  void (async () => {
    for await (const status of connection.status()) {
      if (status.type === 'disconnect' || status.type === 'reconnect') {
        logger.warn({ status: status.type }, 'NATS connection changed')
      }
    }
  })()
  const manager = await insist(() => jetstreamManager(connection)).catch(async (error: unknown) => {
    await connection.close()
    throw error
  })
  const client = jetstream(connection)
  const limit = (connection.info?.max_payload ?? Number.POSITIVE_INFINITY) - HEADER_ROOM_BYTES
  return {
    open: async (log, chain) => {
      const stream = `${options.prefix}_${log}_${chain}`
      const subject = `${options.prefix}.${log.toLowerCase()}.${chain}`
      const info = await insist(() => openStream(manager, stream, subject, options.replicas))
      const epoch = info.config.metadata?.['epoch']
      if (epoch === undefined) {
        throw new ChaintapeError('log_damaged', `stream ${stream} has no epoch: it was not made by chaintape`)
      }
      return new ChainLog({
        client,
        manager,
        stream,
        subject,
        epoch,
        maxFrameBytes: Math.min(limit, options.max_frame_bytes),
        logger: logger.child({ stream }),
        signal: common.shutdown.signal,
      })
    },
    close: () => connection.close(),
  }
}

async function openStream(
  manager: JetStreamManager,
  name: string,
  subject: string,
  replicas: number,
): Promise<StreamInfo> {
  const existing = await streamInfo(manager, name)
  if (existing !== undefined) return existing
  try {
    return await manager.streams.add({
      name,
      subjects: [subject],
      storage: StorageType.File,
      retention: RetentionPolicy.Limits,
      num_replicas: replicas,
      duplicate_window: nanos(DUPLICATE_WINDOW_MS),
      // A log is only ever appended to: nobody takes single messages out of it.
      deny_delete: true,
      deny_purge: true,
      metadata: { epoch: randomUUID() },
    })
  } catch (error) {
    // Another role made it at the same moment: its epoch counts.
    if (!isApiError(error, STREAM_NAME_IN_USE)) throw error
    const made = await streamInfo(manager, name)
    if (made === undefined) throw error
    return made
  }
}

async function streamInfo(manager: JetStreamManager, name: string): Promise<StreamInfo | undefined> {
  try {
    return await manager.streams.info(name)
  } catch (error) {
    if (isApiError(error, STREAM_NOT_FOUND)) return undefined
    throw error
  }
}

function isApiError(error: unknown, code: number): boolean {
  return error instanceof JetStreamApiError && error.code === code
}
