import type { RawData, WebSocket } from 'ws'
import { withoutApiKeys } from '../../../domain/api-key.ts'
import type { ChainFamily } from '../../../domain/ids.ts'
import type { Logger } from '../../../lib/logger.ts'
import type { TurnBudget } from '../../../lib/turn-budget.ts'
import type { Grant, KeyRing } from '../../access/keys/key-ring.ts'
import type { SocketPlan } from '../../access/keys/plan.ts'
import { TokenBucket } from '../../access/metering/token-bucket.ts'
import type { GatewayMetrics } from '../../http/metrics.ts'
import type { MarketReader } from '../../market/market-view.ts'
import type { Hub } from '../fanout/hub.ts'
import type { WsLimits } from '../limits.ts'
import type { HistoryReplay } from '../replay/history-replay.ts'
import type { LogReplay } from '../replay/log-replay.ts'
import type { Replays } from '../replay/replays.ts'
import { errorReply, RpcFault, TOO_MANY } from '../rpc-fault.ts'
import type { Flusher } from '../send/flusher.ts'
import { textFrame } from '../send/frame.ts'
import { type FrameSink, SendQueue, type SendQueueOwner } from '../send/send-queue.ts'
import type { Connections } from './connections.ts'
import type { FairQueue } from './fair-queue.ts'
import { type Command, parseMessage, type RpcItem, type RpcMessage } from './rpc.ts'
import { type Outcome, Subscriber, type SubscriberOwner } from './subscriber.ts'

export type SessionOptions = {
  readonly hub: Hub
  readonly view: MarketReader
  readonly missed: LogReplay
  readonly events: HistoryReplay
  readonly replays: Replays
  readonly messages: Pick<TurnBudget, 'add'>
  readonly subscribes: FairQueue
  readonly flusher: Pick<Flusher, 'wake'>
  readonly check: KeyRing['check']
  readonly connections: Connections<Session>
  readonly familyOf: (chain: string) => ChainFamily | undefined
  /** The defaults; a key's plan overrides some. */
  readonly limits: WsLimits
  readonly metrics: Pick<GatewayMetrics, 'subscriptions' | 'countPush' | 'conflations' | 'slowReaders'>
  readonly logger: Logger
  readonly now: () => number
}

/** The limits of a key's plan. */
type Allowed = Omit<SocketPlan, 'maxConnections'>

const CLOSE_GOING_AWAY = 1001
const CLOSE_TOO_LARGE = 1009
const CLOSE_FAILED = 1011
const CLOSE_UNAUTHORIZED = 4401
const CLOSE_KEY_ENDED = 4403
const CLOSE_SLOW_READER = 4408
const CLOSE_TOO_MANY = 4429
/** Parsing so many bytes costs about as much as the refusal itself. */
const BYTES_OF_A_REFUSAL = 512

/**
 * One socket: answers its requests in the order they came (only the refusals of a flood overtake), and sends it
 * the pushes it subscribed to.
 */
export class Session implements SendQueueOwner, SubscriberOwner {
  readonly #socket: WebSocket
  readonly #queue: SendQueue
  readonly #options: SessionOptions
  readonly #subscriber: Subscriber
  readonly #authTimer: NodeJS.Timeout | undefined
  /** The default limits, then those of the key's plan. */
  #allowed: Allowed
  readonly #bucket: TokenBucket
  #refusals: TokenBucket | undefined
  #grant: Grant | undefined
  #isCompressed = false
  /** While there is anything to answer. */
  #answered: Promise<void> | undefined
  #waiting = 0
  /** Messages that wait for their turn. */
  #unread = 0
  #isFlooding = false
  #heardAt: number
  #pingedAt: number

  /** `stream` is what the socket writes to: whole frames may be written past it. */
  constructor(socket: WebSocket, stream: FrameSink, grant: Grant | undefined, options: SessionOptions) {
    const { limits, now } = options
    this.#socket = socket
    this.#options = options
    this.#allowed = limits
    this.#heardAt = now()
    this.#pingedAt = this.#heardAt
    this.#bucket = new TokenBucket((grant?.plan.sockets ?? limits).messagesPerSecond, now)
    this.#queue = new SendQueue(stream, this, options)
    this.#subscriber = new Subscriber(this.#queue, this, options)
    if (grant !== undefined) this.#accept(grant)
    else
      this.#authTimer = setTimeout(
        () => this.#close(CLOSE_UNAUTHORIZED, 'not authenticated in time'),
        limits.authMs,
      )
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary))
    socket.on('pong', () => this.#heard())
    socket.on('ping', (data) => this.#onPing(data))
    // A protocol error of a client ends only its own socket; `close` follows.
    socket.on('error', (error) => options.logger.debug({ err: error }, 'WebSocket failed'))
    socket.on('close', () => this.#end())
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN
  }

  get hasKey(): boolean {
    return this.#grant !== undefined
  }

  get isCompressed(): boolean {
    return this.#isCompressed
  }

  get maxSubscriptions(): number {
    return this.#allowed.maxSubscriptions
  }

  onOverflow(): void {
    if (!this.isOpen) return
    this.#options.metrics.slowReaders.inc()
    this.#close(CLOSE_SLOW_READER, 'client reads too slowly; reconnect with your last cursor')
  }

  onReplayFailed(error: unknown): void {
    this.#options.logger.warn({ err: error }, 'Replay failed')
    this.#close(CLOSE_FAILED, 'replay failed; reconnect with your last cursor')
  }

  onReplayRefused(id: number, fault: RpcFault): void {
    this.#sendJson(errorReply(id, fault))
  }

  endIfKeyEnded(): void {
    if (this.#grant?.isValid() === false)
      this.#close(CLOSE_KEY_ENDED, 'the API key has expired or was revoked')
  }

  /** Keeps the connection alive, or gives it up. */
  tick(): void {
    this.endIfKeyEnded()
    const now = this.#options.now()
    const { silenceMs, pingMs } = this.#options.limits
    if (now - this.#heardAt >= silenceMs) {
      this.#close(CLOSE_GOING_AWAY, 'idle timeout')
    } else if (now - this.#pingedAt >= pingMs && this.isOpen) {
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

  #onPing(data: Buffer): void {
    this.#heard()
    if (this.#mayProceed()) this.#socket.pong(data)
    else this.#mayRefuse(data.length)
  }

  /** What clients without a key send was read in turn already. */
  #receive(data: RawData, isBinary: boolean): void {
    if (this.#grant === undefined) {
      this.#onMessage(data, isBinary)
      return
    }
    // The rest stays in the kernel meanwhile.
    if (this.#unread++ === 0) this.#socket.pause()
    this.#options.messages.add(() => {
      if (--this.#unread === 0 && !this.#isFlooding) this.#socket.resume()
      this.#onMessage(data, isBinary)
    })
  }

  #onMessage(data: RawData, isBinary: boolean): void {
    // Messages after our close frame are ignored.
    if (this.#socket.readyState !== this.#socket.OPEN) return
    this.#heard()
    const maxBytes =
      this.#grant === undefined ? this.#options.limits.maxStrangerBytes : this.#allowed.maxMessageBytes
    if ((data as Buffer).length > maxBytes) {
      this.#close(CLOSE_TOO_LARGE, 'message too large')
      return
    }
    const { isBatch, items } = isBinary ? this.#refuseBinary() : this.#parse(data)
    if (items.every(({ command }) => command === TOO_MANY)) {
      // Queued, the answers to a flood would pile up behind a store that is slow.
      if (this.#mayRefuse((data as Buffer).length)) this.#sendReplies(isBatch, items.map(toRefusal))
      return
    }
    this.#waiting++
    this.#answered = (this.#answered ?? Promise.resolve())
      .then(() => this.#answer(isBatch, items))
      .catch((error: unknown) => {
        this.#options.logger.error({ err: error }, 'WebSocket request failed')
      })
      .finally(() => {
        if (--this.#waiting === 0) this.#answered = undefined
      })
  }

  #refuseBinary(): RpcMessage {
    return { isBatch: false, items: [{ id: null, command: this.#mayProceed() ? BINARY_REFUSED : TOO_MANY }] }
  }

  #parse(data: RawData): RpcMessage {
    const { familyOf, limits } = this.#options
    const { maxPriceIds, maxMultiKlinePairs } = this.#allowed
    // `nodebuffer` is the socket's binary type, so that this is the whole message in one buffer.
    return parseMessage((data as Buffer).toString('utf8'), {
      ...{ familyOf, maxBatch: limits.maxBatch, maxPriceIds, maxMultiKlinePairs },
      mayProceed: () => this.#mayProceed(),
    })
  }

  /** Each request of a batch counts as a message of its own. */
  #mayProceed(): boolean {
    return this.#bucket.take() && this.#waiting < this.#options.limits.maxWaiting
  }

  /** Refusals cost work too: a client that causes too many is disconnected. */
  #mayRefuse(bytes: number): boolean {
    const { refusalsPerSecond, refusalsAtOnce } = this.#options.limits
    this.#refusals ??= new TokenBucket(refusalsPerSecond, this.#options.now, refusalsAtOnce)
    if (this.#refusals.take(1 + Math.floor(bytes / BYTES_OF_A_REFUSAL))) return true
    this.#close(CLOSE_TOO_MANY, 'too many messages')
    // Even to overlook the rest of a flood would be work: it is left in the kernel until the socket is given up.
    this.#isFlooding = true
    this.#socket.pause()
    return false
  }

  async #answer(isBatch: boolean, items: readonly RpcItem[]): Promise<void> {
    const replies: object[] = []
    const afterwards: (() => void)[] = []
    for (const { id, command } of items) {
      // Replies to a closed socket are pointless; its other requests are dropped.
      if (!this.isOpen) break
      try {
        const outcome = await this.#execute(command)
        replies.push({ jsonrpc: '2.0', id, result: outcome.result })
        if (outcome.afterwards !== undefined) afterwards.push(outcome.afterwards)
      } catch (error) {
        const fault = this.#toFault(error)
        replies.push(errorReply(id, fault))
        if (command instanceof RpcFault || command.method !== 'auth') continue
        afterwards.push(
          fault.code === 'limit_exceeded'
            ? () => this.#close(CLOSE_TOO_MANY, 'too many connections')
            : () => this.#close(CLOSE_UNAUTHORIZED, 'invalid API key'),
        )
      }
    }
    this.#sendReplies(isBatch, replies)
    for (const each of afterwards) each()
  }

  async #execute(command: Command | RpcFault): Promise<Outcome> {
    if (command instanceof RpcFault) throw command
    if (command.method === 'auth') return this.#authorise(command.key)
    const grant = this.#grant
    if (grant === undefined) {
      throw new RpcFault('unauthorized', 'send auth first', { method: command.method })
    }
    switch (command.method) {
      case 'ping':
        return { result: 'pong' }
      case 'subscribe':
        return this.#options.subscribes.run(grant.keyId, () => this.#subscriber.subscribe(command, grant))
      case 'unsubscribe':
        return this.#subscriber.unsubscribe(command)
    }
  }

  #authorise(key: string): Outcome {
    const { check, connections } = this.#options
    const checked = check(key)
    if (typeof checked === 'string') {
      const what = checked === 'unknown' ? 'is invalid' : 'has expired or was revoked'
      throw new RpcFault('unauthorized', `the API key ${what}`, { pointer: '/params/0' })
    }
    if (checked.keyId !== this.#grant?.keyId && !connections.hasRoomFor(checked)) {
      const { maxConnections } = checked.plan.sockets
      throw new RpcFault(
        'limit_exceeded',
        `the key already has ${maxConnections} connections; close one first`,
        {
          limit: 'connections',
          max: maxConnections,
        },
      )
    }
    clearTimeout(this.#authTimer)
    this.#accept(checked)
    return { result: { status: 'ok', action: 'auth', params: [] } }
  }

  #accept(grant: Grant): void {
    const { connections } = this.#options
    if (this.#grant !== undefined) connections.remove(this.#grant, this)
    this.#grant = grant
    connections.add(grant, this)
    this.#allowed = grant.plan.sockets
    this.#isCompressed = grant.plan.sockets.isCompressed && this.#socket.extensions !== ''
    // The same bucket, or each `auth` would fill it again.
    this.#bucket.setRate(this.#allowed.messagesPerSecond)
  }

  #toFault(error: unknown): RpcFault {
    if (error instanceof RpcFault) return error
    this.#options.logger.error({ err: error }, 'WebSocket request failed')
    return new RpcFault('internal', 'internal error; retry')
  }

  #sendReplies(isBatch: boolean, replies: readonly object[]): void {
    const text = JSON.stringify(isBatch ? replies : (replies[0] ?? {}))
    // Replies repeat what was sent, and a key may have been sent in the wrong place.
    this.#send(withoutApiKeys(text))
  }

  #sendJson(message: object): void {
    this.#send(JSON.stringify(message))
  }

  #send(text: string): void {
    if (this.isOpen) this.#queue.sendFrame(textFrame(text))
  }

  #close(code: number, reason: string): void {
    // Queued pushes come before the close frame, if the client still reads.
    this.#queue.flush()
    this.#end()
    this.#socket.close(code, reason)
  }

  #end(): void {
    clearTimeout(this.#authTimer)
    if (this.#grant !== undefined) this.#options.connections.remove(this.#grant, this)
    this.#subscriber.close()
    this.#queue.close()
  }
}

const BINARY_REFUSED = new RpcFault('invalid_request', 'binary messages are not supported; send text')

function toRefusal({ id }: RpcItem): object {
  return errorReply(id, TOO_MANY)
}
