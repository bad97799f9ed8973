import { JetStreamApiError, type JetStreamManager, type StoredMsg } from '@nats-io/jetstream'

const NO_MESSAGE_FOUND = 10_037

/** The frame with this sequence; undefined if the log does not have it. */
export async function findFrame(
  manager: JetStreamManager,
  stream: string,
  seq: number,
): Promise<StoredMsg | undefined> {
  try {
    return (await manager.streams.getMessage(stream, { seq })) ?? undefined
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === NO_MESSAGE_FOUND) return undefined
    throw error
  }
}
