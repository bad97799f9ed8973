import { randomUUID } from 'node:crypto'
import {
  JetStreamApiError,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
  type StreamInfo,
} from '@nats-io/jetstream'
import { nanos } from '@nats-io/transport-node'
import { ChaintapeError } from '../domain/errors.ts'
import type { Outbox } from '../lib/outbox.ts'
import { decodeFrame } from '../wire/frame.ts'
import { isForbidden } from './permissions.ts'

type StreamSettings = Parameters<JetStreamManager['streams']['add']>[0] & { readonly name: string }

const STREAM_NOT_FOUND = 10_059
const STREAM_NAME_IN_USE = 10_058
const NOT_A_CLUSTER = 10_074
/** Status of an error: the nodes elect a leader, or have no room. */
const UNAVAILABLE = 503
const DUPLICATE_WINDOW_MS = 120_000

/** By default a new log; otherwise the epoch of the log that it takes the place of, and where it begins. */
export type NewStream = {
  readonly epoch?: string | undefined
  readonly first?: number | undefined
  /** Only for a CHANGES log; by default the first one. */
  readonly generation?: number | undefined
}

export function logStream(
  name: string,
  subject: string,
  replicas: number,
  { epoch, first, generation = 1 }: NewStream = {},
): StreamSettings {
  return {
    name,
    subjects: [subject],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    num_replicas: replicas,
    duplicate_window: nanos(DUPLICATE_WINDOW_MS),
    // A log is append-only: single messages are never removed. Its oldest ones are, once they are stored elsewhere.
    deny_delete: true,
    metadata: {
      epoch: epoch ?? randomUUID(),
      ...(generation > 1 && { generation: String(generation) }),
    },
    ...(first !== undefined && { first_seq: first }),
  }
}

/** Opens the stream, or creates it. */
export async function openStream(manager: JetStreamManager, settings: StreamSettings): Promise<StreamInfo> {
  const existing = await streamInfo(manager, settings.name)
  if (existing !== undefined) return await withReplicas(manager, existing, settings.num_replicas ?? 1)
  try {
    return await manager.streams.add(settings)
  } catch (error) {
    if (isApiError(error, NOT_A_CLUSTER)) throw notACluster(settings.num_replicas ?? 1)
    // With a user per role only the role that writes a stream may create it, so the others wait for it.
    if (isForbidden(error)) {
      throw new Error(`stream ${settings.name} does not exist, and this user may not create it`)
    }
    // Another role created it at the same moment, so its epoch counts.
    if (!isApiError(error, STREAM_NAME_IN_USE)) throw error
    const created = await streamInfo(manager, settings.name)
    if (created === undefined) throw error
    return created
  }
}

/** Where an outbox can continue a log that is lost: at its first whole message. */
export function startOfOutbox(
  outbox: Pick<Outbox, 'oldest' | 'get'>,
): { readonly epoch: string; readonly first: number } | undefined {
  const oldest = outbox.oldest()
  if (oldest === undefined) return undefined
  const { epoch } = oldest
  for (let first = oldest.sequence; ; first++) {
    const frame = outbox.get(epoch, first)
    if (frame === undefined) return undefined
    if (decodeFrame(frame).part === 0) return { epoch, first }
  }
}

/** Creates a stream, also in the place of an empty one that another role has created meanwhile. */
export async function replaceStream(manager: JetStreamManager, settings: StreamSettings): Promise<void> {
  const existing = await streamInfo(manager, settings.name)
  const isSame = existing?.config.metadata?.['epoch'] === settings.metadata?.['epoch']
  if (existing !== undefined && !isSame && existing.state.messages === 0)
    await manager.streams.delete(settings.name)
  await openStream(manager, settings)
}

/**
 * Raises the replicas of an existing stream to the setting. A higher number is kept, because fewer would be less safe.
 */
async function withReplicas(
  manager: JetStreamManager,
  existing: StreamInfo,
  replicas: number,
): Promise<StreamInfo> {
  const { name, num_replicas } = existing.config
  // A single server accepts the update, stores one copy, and from then on reports the requested number.
  if (replicas > 1 && existing.cluster?.name === undefined) throw notACluster(replicas)
  if (num_replicas >= replicas) return existing
  try {
    return await manager.streams.update(name, { num_replicas: replicas })
  } catch (error) {
    const isRefused = error instanceof JetStreamApiError && error.status !== UNAVAILABLE
    if (!(isRefused || isForbidden(error))) throw error
    throw new ChaintapeError(
      'config_invalid',
      `nats.replicas is ${replicas}, but stream ${name} has ${num_replicas}, and NATS refuses to change it: ${error.message}`,
    )
  }
}

function notACluster(replicas: number): ChaintapeError {
  return new ChaintapeError(
    'config_invalid',
    `nats.replicas is ${replicas}, but the NATS server is not part of a cluster: set nats.replicas to 1, or start a cluster`,
  )
}

export async function streamInfo(manager: JetStreamManager, name: string): Promise<StreamInfo | undefined> {
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
