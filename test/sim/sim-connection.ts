import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream'
import type { Random } from '../fuzz/random.ts'
import type { Expected, SimStream } from './sim-stream.ts'
import type { VirtualClock } from './virtual-clock.ts'

export const EPOCH = 'simulated'

/** How likely it is that the line loses something. */
export type LineTrouble = { lostRequest: number; lostAnswer: number }

export type ConnectionParts = {
  readonly clock: VirtualClock
  readonly random: Random
  readonly stream: SimStream
  readonly trouble: LineTrouble
  readonly latencyMs: number
  readonly lastWordsMs: number
  readonly isAlive: () => boolean
  /** Called around everything that becomes durable; either may end the reader. */
  readonly onWrite: (when: 'before' | 'after') => void
}

export class LineTimeout extends Error {}

/** Messages that a consumer hands over at a time. */
const DELIVERED_AT_ONCE = 40

/**
 * A reader's connection to JetStream, as far as the log uses one. What is sent arrives in order, some time
 * later, if at all; a reader that dies may have words on the line that still arrive.
 */
export class SimConnection {
  readonly #parts: ConnectionParts
  #lastArrival = 0
  #brokenUntil = 0
  #cutAt = Number.POSITIVE_INFINITY
  #lateMs = 0

  constructor(parts: ConnectionParts) {
    this.#parts = parts
  }

  /** For a while nothing gets through in either direction. */
  breakFor(ms: number): void {
    this.#brokenUntil = this.#parts.clock.now + ms
  }

  /** The reader has died: what is on the line arrives only up to some moment. */
  cut(): void {
    const { clock, random, latencyMs, lastWordsMs } = this.#parts
    this.#cutAt = clock.now + (random.chance(0.5) ? 0 : random.below(latencyMs))
    this.#lateMs = random.below(lastWordsMs + 1)
  }

  client(): JetStreamClient {
    const { stream, onWrite } = this.#parts
    const client = {
      publish: (
        _subject: string,
        data: Uint8Array,
        options: { msgID: string; expect: Expected; timeout: number },
      ) =>
        this.#request(options.timeout, () => {
          onWrite('before')
          const frame = { data: Uint8Array.from(data), id: options.msgID }
          const acknowledgement = stream.store(frame, options.expect)
          onWrite('after')
          return acknowledgement
        }),
      consumers: {
        get: async (_stream: string, { opt_start_seq }: { opt_start_seq: number }) => {
          await this.#request(5_000, () => undefined)
          const { stream, random } = this.#parts
          // The replica of the node that makes the consumer may end before that, and the consumer then starts at its end.
          const isBehind = stream.manners.isReplicated && random.chance(0.3)
          const from = isBehind ? Math.max(1, opt_start_seq - random.below(4)) : opt_start_seq
          return {
            consume: async () => this.#consume(from),
            delete: () => this.#request(5_000, () => true),
          }
        },
      },
    }
    return client as unknown as JetStreamClient
  }

  manager(): JetStreamManager {
    const { stream } = this.#parts
    const streams = {
      info: () =>
        this.#request(5_000, () => ({
          config: { metadata: { epoch: EPOCH }, num_replicas: stream.manners.isReplicated ? 3 : 1 },
          state: { messages: stream.frames.length, first_seq: 1, last_seq: stream.frames.length },
        })),
      getMessage: (_stream: string, { seq }: { seq: number }) =>
        this.#request(5_000, () => {
          const { data, id } = stream.read(seq)
          return { data, header: { get: () => id } }
        }),
    }
    return { streams } as unknown as JetStreamManager
  }

  #consume(from: number) {
    const { stream, random, trouble } = this.#parts
    const frames = stream.frames
    const { losses } = stream
    let isStopped = false
    let onHeartbeat = (): void => undefined
    const request = async (): Promise<void> => {
      await this.#request(1_000, () => undefined)
      onHeartbeat()
    }
    const deliver = async function* () {
      for (let seq = from; !isStopped; seq++) {
        // What was handed over last may be all that comes before the line breaks.
        if ((seq - from) % DELIVERED_AT_ONCE === 0 || seq > frames.length) await request()
        // A server that was started again knows its consumers no more.
        if (random.chance(trouble.lostAnswer / DELIVERED_AT_ONCE) || stream.losses !== losses) return
        const frame = frames[seq - 1]
        if (frame === undefined) seq--
        else yield { seq, data: frame.data }
      }
    }
    return {
      [Symbol.asyncIterator]: deliver,
      status: async function* () {
        while (!isStopped) {
          await new Promise<void>((resolve) => {
            onHeartbeat = resolve
          })
          yield { type: 'heartbeat' }
        }
      },
      stop: () => {
        isStopped = true
      },
    }
  }

  #request<T>(timeoutMs: number, serve: () => T): Promise<T> {
    const { clock, random, trouble, latencyMs, isAlive } = this.#parts
    return new Promise((resolve, reject) => {
      const settle = (ms: number, what: () => void): void => {
        clock.after(ms, () => {
          if (isAlive()) what()
        })
      }
      const lose = (): void => settle(timeoutMs, () => reject(new LineTimeout('nobody answered')))
      if (!isAlive()) return
      this.#lastArrival = Math.max(this.#lastArrival, clock.now + random.below(latencyMs))
      const arrival = this.#lastArrival
      if (random.chance(trouble.lostRequest) || clock.now < this.#brokenUntil) return lose()
      const deliver = (): void => {
        try {
          const answer = clock.now < this.#brokenUntil ? undefined : { of: serve() }
          if (answer === undefined || random.chance(trouble.lostAnswer)) lose()
          else settle(random.below(latencyMs), () => resolve(answer.of))
        } catch (error) {
          settle(random.below(latencyMs), () => reject(error))
        }
      }
      clock.after(arrival - clock.now, () => {
        if (arrival > this.#cutAt) return
        if (this.#lateMs === 0) deliver()
        else clock.after(this.#lateMs, deliver)
      })
    })
  }
}
