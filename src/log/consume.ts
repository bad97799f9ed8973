import type {
  Consumer,
  ConsumerMessages,
  JetStreamClient,
  JetStreamManager,
  JsMsg,
  OrderedConsumerOptions,
} from '@nats-io/jetstream'
import { inTime } from './in-time.ts'

export type ConsumerWatch = {
  /** While there is no connection, silence means nothing. */
  readonly isConnected: () => boolean
  /** Called when a consumer is given up because it does not deliver what its stream has. */
  readonly onUndelivered: () => void
}

export type ConsumeParts = ConsumerWatch & {
  readonly signal: AbortSignal
  /** The sequence before the first message that is wanted. */
  readonly after: number
  /** The sequence of the last message in the stream; see `lastSequence`. */
  readonly end: () => Promise<number>
  readonly maxBytes?: number
}

/** The server keeps a consumer that nobody reads for so long: more than a reader is busy with what it has received. */
const INACTIVE_MS = 60_000
const HEARTBEAT_MS = 1_000
const LOOK_MS = 500
/** Two heartbeats are missed, and a look more: the event loop may have been busy when one arrived. */
const SILENT_LOOKS = 5
/** A live chain has a message more often than that, and its stream is not asked for its end. */
const LOOKS_PER_CHECK = 4

/** For `consume`, which deletes it. Every client that resumes needs one, and the nodes of a cluster agree on each. */
export function openConsumer(
  client: JetStreamClient,
  stream: string,
  options: Partial<OrderedConsumerOptions>,
): Promise<Consumer> {
  return client.consumers.get(stream, { ...options, inactive_threshold: INACTIVE_MS })
}

/**
 * Messages of a consumer until the signal aborts. Throws if the server falls silent: a consumer ends with its node. The
 * client looks after its consumer itself, but waits half a minute whenever that fails, as it does while the nodes of a
 * cluster elect a leader; and it measures silence by the wall clock, which may be set back.
 *
 * Throws, too, if the stream has messages that the consumer does not deliver. A consumer reads the replica of its own
 * node; if that replica no longer follows the stream's leader, it sends heartbeats and nothing else.
 */
export async function* consume(
  consumer: Consumer,
  parts: ConsumeParts,
): AsyncGenerator<JsMsg, void, undefined> {
  const { signal, isConnected, maxBytes } = parts
  const messages = await consumer.consume({
    ...(maxBytes !== undefined && { max_bytes: maxBytes }),
    idle_heartbeat: HEARTBEAT_MS,
    abort_on_missing_resource: true,
  })
  let failure: Error | undefined
  const fail = (error: Error): void => {
    failure = error
    messages.stop()
  }
  const progress = new Progress(parts)
  let [silentLooks, idleLooks] = [0, 0]
  let isWaiting = true
  const onHeartbeat = (): void => {
    silentLooks = 0
  }
  void hearHeartbeats(messages, onHeartbeat)
  const look = setInterval(() => {
    // Nothing is requested while messages wait to be processed, so none of the server's silence counts.
    const isIdle = isWaiting && isConnected()
    silentLooks = isIdle ? silentLooks + 1 : 0
    idleLooks = isIdle ? idleLooks + 1 : 0
    if (silentLooks >= SILENT_LOOKS) fail(new Error('no heartbeat from the consumer'))
    else if (idleLooks > 0 && idleLooks % LOOKS_PER_CHECK === 0) void progress.check().catch(fail)
  }, LOOK_MS).unref()
  const stop = (): void => messages.stop()
  signal.addEventListener('abort', stop, { once: true })
  try {
    if (signal.aborted) return
    for await (const message of messages) {
      isWaiting = false
      ;[silentLooks, idleLooks] = [0, 0]
      // A consumer whose node lacks the wanted message starts at the end of what that node has.
      if (message.seq > progress.last) {
        progress.last = message.seq
        yield message
      }
      isWaiting = true
    }
    if (failure !== undefined) throw failure
  } finally {
    clearInterval(look)
    signal.removeEventListener('abort', stop)
    messages.stop()
    // The server deletes it later if this fails.
    void consumer.delete().catch(() => undefined)
  }
}

/** Compares what a consumer has delivered with what is in its stream. */
class Progress {
  last: number
  readonly #parts: ConsumeParts
  /** The end of the stream when it was last asked for. */
  #expected = 0

  constructor(parts: ConsumeParts) {
    this.last = parts.after
    this.#parts = parts
  }

  /** Throws if a message that was in the stream at the check before has still not arrived, or if the stream cannot be asked. */
  async check(): Promise<void> {
    if (this.#expected > this.last) {
      this.#parts.onUndelivered()
      throw new Error(`the consumer does not deliver message ${this.last + 1}; its node may be behind`)
    }
    this.#expected = await inTime(this.#parts.end())
  }
}

/** The sequence of a stream's last message, as its leader has it; 0 if it holds none. */
export async function lastSequence(manager: JetStreamManager, stream: string): Promise<number> {
  const { messages, last_seq } = (await manager.streams.info(stream)).state
  return messages === 0 ? 0 : last_seq
}

async function hearHeartbeats(messages: ConsumerMessages, onHeartbeat: () => void): Promise<void> {
  for await (const { type } of messages.status()) if (type === 'heartbeat') onHeartbeat()
}
