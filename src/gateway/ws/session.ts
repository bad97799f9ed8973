import type { RawData, WebSocket } from 'ws'
import type { ChainFamily } from '../../domain/ids.ts'
import type { Logger } from '../../lib/logger.ts'
import type { MarketReader } from '../market-view.ts'
import type { GatewayMetrics } from '../metrics.ts'
import type { Hub, Push } from './hub.ts'
import type { WsLimits } from './limits.ts'
import { type Command, parseMessage, type RpcItem, type RpcMessage } from './rpc.ts'
import { errorReply, RpcFault } from './rpc-fault.ts'
import { type Outcome, Subscriber } from './subscriber.ts'
import { TokenBucket } from './token-bucket.ts'

export type SessionOptions = {
  readonly hub: Hub
  readonly view: MarketReader
  readonly isKey: (given: string) => boolean
  readonly familyOf: (chain: string) => ChainFamily | undefined
  readonly limits: WsLimits
  readonly metrics: Pick<GatewayMetrics, 'subscriptions' | 'pushes' | 'slowReaders'>
  readonly logger: Logger
  readonly now: () => number
}

const CLOSE_GOING_AWAY = 1001
const CLOSE_UNAUTHORIZED = 4401
const CLOSE_SLOW_READER = 4408

/**
 * One socket: answers its requests in the order they came (only the refusals of a flood overtake), and sends it
 * the pushes it subscribed to.
 */
export class Session {
  readonly #socket: WebSocket
  readonly #options: SessionOptions
  readonly #subscriber: Subscriber
  readonly #bucket: TokenBucket
  readonly #authTimer: NodeJS.Timeout | undefined
  #isAuthorised: boolean
  #answered: Promise<void> = Promise.resolve()
  #waiting = 0
  #heardAt: number
  #pingedAt: number

  constructor(socket: WebSocket, isAuthorised: boolean, options: SessionOptions) {
    const { hub, view, limits, metrics, now } = options
    this.#socket = socket
    this.#options = options
    this.#isAuthorised = isAuthorised
    this.#heardAt = now()
    this.#pingedAt = this.#heardAt
    this.#bucket = new TokenBucket(limits.messagesPerSecond, now)
    this.#subscriber = new Subscriber({
      hub,
      view,
      maxSubscriptions: limits.maxSubscriptions,
      maxHeldBytes: limits.maxBufferedBytes,
      now,
      send: (push) => this.#sendPush(push),
      onOverflow: () => this.#closeSlow(),
      onCountChange: (difference) => metrics.subscriptions.inc(difference),
    })
    if (!isAuthorised) {
      this.#authTimer = setTimeout(() => this.#close(CLOSE_UNAUTHORIZED, 'no auth in time'), limits.authMs)
    }
    socket.on('message', (data, isBinary) => this.#onMessage(data, isBinary))
    socket.on('pong', () => this.#heard())
    socket.on('ping', () => this.#heard())
    // What a client does wrong on the wire ends its socket only; `close` follows.
    socket.on('error', (error) => options.logger.debug({ err: error }, 'WebSocket failed'))
    socket.on('close', () => this.#end())
  }

  /** Keeps the connection alive, or gives it up. */
  tick(): void {
    const now = this.#options.now()
    const { silenceMs, pingMs } = this.#options.limits
    if (now - this.#heardAt >= silenceMs) {
      this.#close(CLOSE_GOING_AWAY, 'silent for too long')
    } else if (now - this.#pingedAt >= pingMs && this.#socket.readyState === this.#socket.OPEN) {
      this.#pingedAt = now
      this.#socket.ping()
    }
  }

  shutDown(reconnectAfterMs: number): void {
    const params = [{ reconnect_after_ms: reconnectAfterMs }]
    this.#sendJson({ jsonrpc: '2.0', method: 'shutdown', params })
    this.#close(CLOSE_GOING_AWAY, 'shutting down')
  }

  #heard(): void {
    this.#heardAt = this.#options.now()
  }

  #onMessage(data: RawData, isBinary: boolean): void {
    this.#heard()
    const message = isBinary ? BINARY_REFUSED : this.#parse(data)
    const items = message.items.map((item) => (this.#mayProceed() ? item : rateLimited(item)))
    if (items.every((item, index) => item !== message.items[index])) {
      // Queued, the answers to a flood would pile up behind a store that is slow.
      this.#sendReplies(message.isBatch, items.map(toRefusal))
      return
    }
    this.#waiting++
    this.#answered = this.#answered
      .then(() => this.#answer(message.isBatch, items))
      .catch((error: unknown) => {
        this.#options.logger.error({ err: error }, 'WebSocket request failed')
      })
      .finally(() => {
        this.#waiting--
      })
  }

  #parse(data: RawData): RpcMessage {
    const { limits, familyOf } = this.#options
    const { maxBatch, maxPriceIds } = limits
    // `nodebuffer` is the socket's binary type, so that this is the whole message in one buffer.
    return parseMessage((data as Buffer).toString('utf8'), { familyOf, maxBatch, maxPriceIds })
  }

  /** Each request of a batch counts as a message of its own. */
  #mayProceed(): boolean {
    return this.#bucket.take() && this.#waiting < this.#options.limits.maxWaiting
  }

  async #answer(isBatch: boolean, items: readonly RpcItem[]): Promise<void> {
    const replies: object[] = []
    const afterwards: (() => void)[] = []
    for (const { id, command } of items) {
      try {
        const outcome = await this.#execute(command)
        replies.push({ jsonrpc: '2.0', id, result: outcome.result })
        if (outcome.afterwards !== undefined) afterwards.push(outcome.afterwards)
      } catch (error) {
        const fault = this.#toFault(error)
        replies.push(errorReply(id, fault))
        if (command instanceof RpcFault || command.method !== 'auth') continue
        afterwards.push(() => this.#close(CLOSE_UNAUTHORIZED, 'invalid API key'))
      }
    }
    this.#sendReplies(isBatch, replies)
    for (const each of afterwards) each()
  }

  async #execute(command: Command | RpcFault): Promise<Outcome> {
    if (command instanceof RpcFault) throw command
    if (command.method === 'auth') return this.#authorise(command.key)
    if (!this.#isAuthorised) {
      throw new RpcFault('unauthorized', 'send auth first', { method: command.method })
    }
    switch (command.method) {
      case 'ping':
        return { result: 'pong' }
      case 'subscribe':
        return this.#subscriber.subscribe(command)
      case 'unsubscribe':
        return this.#subscriber.unsubscribe(command)
    }
  }

  #authorise(key: string): Outcome {
    if (!this.#options.isKey(key)) {
      throw new RpcFault('unauthorized', 'the API key is invalid', { pointer: '/params/0' })
    }
    this.#isAuthorised = true
    clearTimeout(this.#authTimer)
    return { result: { status: 'ok', action: 'auth', params: [] } }
  }

  #toFault(error: unknown): RpcFault {
    if (error instanceof RpcFault) return error
    this.#options.logger.error({ err: error }, 'WebSocket request failed')
    return new RpcFault('internal', 'the request could not be served; it is safe to try again')
  }

  #sendPush(push: Push): void {
    this.#options.metrics.pushes.inc({ topic: push.topic })
    this.#send(push.frame)
  }

  #sendReplies(isBatch: boolean, replies: readonly object[]): void {
    this.#sendJson(isBatch ? replies : (replies[0] ?? {}))
  }

  #sendJson(message: object): void {
    this.#send(Buffer.from(JSON.stringify(message)))
  }

  #send(frame: Buffer): void {
    const socket = this.#socket
    if (socket.readyState !== socket.OPEN) return
    const isFull = socket.bufferedAmount + frame.length > this.#options.limits.maxBufferedBytes
    if (isFull) this.#closeSlow()
    else socket.send(frame, { binary: false })
  }

  #closeSlow(): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return
    this.#options.metrics.slowReaders.inc()
    this.#close(CLOSE_SLOW_READER, 'reading too slowly')
  }

  #close(code: number, reason: string): void {
    this.#end()
    this.#socket.close(code, reason)
  }

  #end(): void {
    clearTimeout(this.#authTimer)
    this.#subscriber.close()
  }
}

const BINARY_REFUSED: RpcMessage = {
  isBatch: false,
  items: [{ id: null, command: new RpcFault('invalid_request', 'messages are text, not binary') }],
}

const TOO_MANY = new RpcFault('rate_limited', 'too many messages; slow down')

function rateLimited({ id }: RpcItem): RpcItem {
  return { id, command: TOO_MANY }
}

function toRefusal({ id }: RpcItem): object {
  return errorReply(id, TOO_MANY)
}
