import { JetStreamApiError, type JetStreamManager, type MsgRequest, type StoredMsg } from '@nats-io/jetstream'

const NO_MESSAGE_FOUND = 10_037

/** A message as the leader of its stream has it; undefined if it has none. */
export async function findMessage(
  manager: JetStreamManager,
  stream: string,
  query: MsgRequest,
): Promise<StoredMsg | undefined> {
  try {
    return (await manager.streams.getMessage(stream, query)) ?? undefined
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === NO_MESSAGE_FOUND) return undefined
    throw error
  }
}
