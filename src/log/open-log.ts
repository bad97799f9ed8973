import type { JetStreamClient, JetStreamManager, StreamInfo } from '@nats-io/jetstream'
import { ChaintapeError } from '../domain/errors.ts'
import type { Generation } from '../domain/generation.ts'
import type { Logger } from '../lib/logger.ts'
import type { Outbox } from '../lib/outbox.ts'
import { ChainLog } from './chain-log.ts'
import type { ConsumerWatch } from './consume.ts'
import type { LogName } from './log-name.ts'
import { withPermission } from './permissions.ts'
import type { Quarantine } from './quarantine.ts'
import { logStream, openStream, replaceStream, startOfOutbox, streamInfo } from './streams.ts'

export type OpenLogParts = ConsumerWatch & {
  readonly client: JetStreamClient
  readonly manager: JetStreamManager
  readonly prefix: string
  readonly replicas: number
  readonly maxFrameBytes: number
  readonly logger: Logger
  readonly signal: AbortSignal
  readonly untilAvailable: <T>(work: () => Promise<T>) => Promise<T>
  readonly quarantine: () => Promise<Quarantine>
}

export type WantedLog = {
  readonly log: LogName
  readonly chain: string
  /** Only for CHANGES: two generations of a chain take turns with a stream. */
  readonly generation?: Generation | undefined
  /** Only for the writer of the log. */
  readonly outbox?: Outbox | undefined
}

/** Opens a chain's log, or creates it with a new epoch. */
export async function openLog(parts: OpenLogParts, wanted: WantedLog): Promise<ChainLog> {
  const { client, manager, prefix, replicas, logger, untilAvailable } = parts
  const { log, chain, generation, outbox } = wanted
  const stream = `${prefix}_${log}_${chain}`
  const subject = `${prefix}.${log.toLowerCase()}.${chain}`
  const settings = (continued?: { readonly epoch: string; readonly first: number }) =>
    logStream(stream, subject, replicas, { ...continued, generation: generation?.number })
  const recreate = async (): Promise<boolean> => {
    const start = outbox && startOfOutbox(outbox)
    if (start === undefined) return false
    await replaceStream(manager, settings(start))
    logger.warn({ stream, ...start }, 'Log is lost; recreating it from the outbox')
    return true
  }
  const info = await untilAvailable(async () => {
    const existing = await streamInfo(manager, stream)
    if (existing === undefined || existing.state.messages === 0) await recreate()
    const opened = await openStream(manager, settings())
    if (generation !== undefined) expectGeneration(opened, generation)
    return opened
  })
  const skipped = await parts.quarantine()
  const epoch = info.config.metadata?.['epoch']
  if (epoch === undefined) {
    throw new ChaintapeError('log_damaged', `stream ${stream} has no epoch; Chaintape did not create it`)
  }
  return new ChainLog({
    ...{ client, manager, stream, subject, epoch, outbox, recreate },
    maxFrameBytes: parts.maxFrameBytes,
    isConnected: parts.isConnected,
    onUndelivered: parts.onUndelivered,
    isQuarantined: (sequence) => skipped.has({ chain, log, sequence, epoch }),
    logger: logger.child({ stream }),
    signal: parts.signal,
  })
}

/** Deletes a stream if it is of a generation before this one. */
export async function removeOlderStream(
  manager: JetStreamManager,
  stream: string,
  generation: number,
  logger: Logger,
): Promise<void> {
  const existing = await streamInfo(manager, stream)
  if (existing === undefined || generationOf(existing) >= generation) return
  await withPermission(() => manager.streams.delete(stream))
  logger.info({ stream, generation: generationOf(existing) }, 'Log of an earlier generation deleted')
}

function expectGeneration(info: StreamInfo, { number }: Generation): void {
  const found = generationOf(info)
  if (found === number) return
  const { name } = info.config
  // A writer deletes it, so this is tried again.
  if (found < number) throw new Error(`stream ${name} is still that of generation ${found}`)
  throw new ChaintapeError('diverged', `stream ${name} is of generation ${found}, which replaced ${number}`)
}

/** The first generation's stream does not state it. */
function generationOf({ config }: StreamInfo): number {
  return Number(config.metadata?.['generation'] ?? 1)
}
