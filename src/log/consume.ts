import type { Consumer, ConsumerMessages, JsMsg } from '@nats-io/jetstream'

export type ConsumeParts = {
  readonly signal: AbortSignal
  /** While there is no connection, silence means nothing. */
  readonly isConnected: () => boolean
  readonly maxBytes?: number
}

const HEARTBEAT_MS = 1_000
const LOOK_MS = 500
/** Two heartbeats are missed, and a look more: the event loop may have been busy when one arrived. */
const SILENT_LOOKS = 5

/**
 * Messages of a consumer until the signal aborts. Throws if the server falls silent: a consumer ends with its node. The
 * client looks after its consumer itself, but waits half a minute whenever that fails, as it does while the nodes of a
 * cluster elect a leader; and it measures silence by the wall clock, which may be set back.
 */
export async function* consume(
  consumer: Consumer,
  { signal, isConnected, maxBytes }: ConsumeParts,
): AsyncGenerator<JsMsg, void, undefined> {
  const messages = await consumer.consume({
    ...(maxBytes !== undefined && { max_bytes: maxBytes }),
    idle_heartbeat: HEARTBEAT_MS,
    abort_on_missing_resource: true,
  })
  let silentLooks = 0
  let isWaiting = true
  const onHeartbeat = (): void => {
    silentLooks = 0
  }
  void hearHeartbeats(messages, onHeartbeat)
  const look = setInterval(() => {
    // Nothing is requested while messages wait to be processed, so none of the server's silence counts.
    silentLooks = isWaiting && isConnected() ? silentLooks + 1 : 0
    if (silentLooks >= SILENT_LOOKS) messages.stop()
  }, LOOK_MS).unref()
  const stop = (): void => messages.stop()
  signal.addEventListener('abort', stop, { once: true })
  try {
    if (signal.aborted) return
    for await (const message of messages) {
      isWaiting = false
      silentLooks = 0
      yield message
      isWaiting = true
    }
    if (silentLooks >= SILENT_LOOKS) throw new Error('no heartbeat from the consumer')
  } finally {
    clearInterval(look)
    signal.removeEventListener('abort', stop)
    messages.stop()
  }
}

async function hearHeartbeats(messages: ConsumerMessages, onHeartbeat: () => void): Promise<void> {
  for await (const { type } of messages.status()) if (type === 'heartbeat') onHeartbeat()
}
