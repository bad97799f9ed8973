import type { WebSocket } from 'ws'
import type { Logger } from '../../../lib/logger.ts'
import type { TurnBudget } from '../../../lib/turn-budget.ts'
import { TokenBucket } from '../../access/metering/token-bucket.ts'
import type { WsLimits } from '../limits.ts'

/** Parsing so many bytes costs about as much as the refusal itself. */
const BYTES_OF_A_REFUSAL = 512

export type InboxOptions = {
  readonly messages: Pick<TurnBudget, 'add'>
  readonly limits: Pick<WsLimits, 'maxWaiting' | 'refusalsPerSecond' | 'refusalsAtOnce'>
  readonly logger: Logger
  readonly now: () => number
}

/** The incoming messages of one socket: when each is read, which are refused, and in which order they are answered. */
export class Inbox {
  readonly #socket: Pick<WebSocket, 'pause' | 'resume'>
  readonly #options: InboxOptions
  readonly #onFlood: () => void
  readonly #bucket: TokenBucket
  #refusals: TokenBucket | undefined
  /** While there is anything to answer. */
  #answered: Promise<void> | undefined
  /** Messages that wait for their answer. */
  #waiting = 0
  /** Messages that wait to be read. */
  #unread = 0
  #isFlooding = false

  /** `onFlood` must close the socket. */
  constructor(
    socket: Pick<WebSocket, 'pause' | 'resume'>,
    messagesPerSecond: number,
    options: InboxOptions,
    onFlood: () => void,
  ) {
    this.#socket = socket
    this.#options = options
    this.#onFlood = onFlood
    this.#bucket = new TokenBucket(messagesPerSecond, options.now)
  }

  /** The bucket stays the same, or each `auth` would fill it again. */
  setRate(messagesPerSecond: number): void {
    this.#bucket.setRate(messagesPerSecond)
  }

  /** Reads a message within the turn budget of all sockets. */
  readInTurn(read: () => void): void {
    // Further messages stay in the kernel meanwhile.
    if (this.#unread++ === 0) this.#socket.pause()
    this.#options.messages.add(() => {
      if (--this.#unread === 0 && !this.#isFlooding) this.#socket.resume()
      read()
    })
  }

  /** Each request of a batch counts as a message of its own. */
  mayProceed(): boolean {
    return this.#bucket.take() && this.#waiting < this.#options.limits.maxWaiting
  }

  /** Refusals cost work too: a client that causes too many is disconnected. */
  mayRefuse(bytes: number): boolean {
    const { refusalsPerSecond, refusalsAtOnce } = this.#options.limits
    this.#refusals ??= new TokenBucket(refusalsPerSecond, this.#options.now, refusalsAtOnce)
    if (this.#refusals.take(1 + Math.floor(bytes / BYTES_OF_A_REFUSAL))) return true
    this.#onFlood()
    // Discarding the rest of a flood would be work as well: it stays in the kernel until the socket is destroyed.
    this.#isFlooding = true
    this.#socket.pause()
    return false
  }

  /** Answers after all earlier messages. */
  answerInOrder(answer: () => Promise<void>): void {
    this.#waiting++
    this.#answered = (this.#answered ?? Promise.resolve())
      .then(answer)
      .catch((error: unknown) => {
        this.#options.logger.error({ err: error }, 'WebSocket request failed')
      })
      .finally(() => {
        if (--this.#waiting === 0) this.#answered = undefined
      })
  }
}
