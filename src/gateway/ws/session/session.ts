import type { RawData, WebSocket } from 'ws'
import { withoutApiKeys } from '../../../domain/api-key.ts'
import { ChaintapeError } from '../../../domain/errors.ts'
import type { ChainFamily } from '../../../domain/ids.ts'
import type { Logger } from '../../../lib/logger.ts'
import type { Grant, KeyRing } from '../../access/keys/key-ring.ts'
import type { SocketPlan } from '../../access/keys/plan.ts'
import type { GatewayMetrics } from '../../http/metrics.ts'
import type { MarketReader } from '../../market/market-view.ts'
import type { WantedHolders } from '../../market/wanted-holders.ts'
import { CLOSE, type CloseCode } from '../close-codes.ts'
import type { Hub } from '../fanout/hub.ts'
import type { WsLimits } from '../limits.ts'
import type { HistoryReplay } from '../replay/history-replay.ts'
import type { LogReplay } from '../replay/log-replay.ts'
import type { Replays } from '../replay/replays.ts'
import { errorReply, RpcFault, TOO_MANY } from '../rpc-fault.ts'
import type { Flusher } from '../send/flusher.ts'
import { textFrame } from '../send/frame.ts'
import { type FrameSink, SendQueue, type SendQueueOwner } from '../send/send-queue.ts'
import { authorize } from './authorize.ts'
import type { Connections } from './connections.ts'
import type { FairQueue } from './fair-queue.ts'
import { Inbox, type InboxOptions } from './inbox.ts'
import { type Command, parseMessage, type RpcItem, type RpcMessage } from './rpc.ts'
import { type Outcome, Subscriber, type SubscriberOwner } from './subscriber.ts'

export type SessionOptions = {
  readonly hub: Hub
  readonly view: MarketReader
  readonly wantedHolders: WantedHolders
  readonly missed: LogReplay
  readonly events: HistoryReplay
  readonly replays: Replays
  readonly messages: InboxOptions['messages']
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

/**
 * One socket: answers its requests in the order they came (only the refusals of a flood overtake), and sends it
 * the pushes it subscribed to.
 */
export class Session implements SendQueueOwner, SubscriberOwner {
  readonly #socket: WebSocket
  readonly #queue: SendQueue
  readonly #options: SessionOptions
  readonly #inbox: Inbox
  readonly #subscriber: Subscriber
  readonly #authTimer: NodeJS.Timeout | undefined
  /** The default limits, then those of the key's plan. */
  #allowed: Allowed
  #grant: Grant | undefined
  #isCompressed = false
  #heardAt: number
  #pingedAt: number
  #checkpointAt: number

  /** `stream` is what the socket writes to: whole frames may be written past it. */
  constructor(socket: WebSocket, stream: FrameSink, grant: Grant | undefined, options: SessionOptions) {
    const { limits, now } = options
    this.#socket = socket
    this.#options = options
    this.#allowed = limits
    this.#heardAt = now()
    this.#pingedAt = this.#heardAt
    this.#checkpointAt = this.#heardAt
    const { messagesPerSecond } = grant?.plan.sockets ?? limits
    this.#inbox = new Inbox(socket, messagesPerSecond, options, () =>
      this.#close(CLOSE.tooMany, 'too many messages'),
    )
    this.#queue = new SendQueue(stream, this, options)
    this.#subscriber = new Subscriber(this.#queue, this, options)
    if (grant !== undefined) this.#accept(grant)
    else
      this.#authTimer = setTimeout(
        () => this.#close(CLOSE.unauthorized, 'not authenticated in time'),
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
    this.#close(CLOSE.slowReader, 'client reads too slowly; reconnect with your last cursor')
  }

  onReplayFailed(error: unknown): void {
    this.#options.logger.warn({ err: error }, 'Replay failed')
    this.#close(CLOSE.failed, 'replay failed; reconnect with your last cursor')
  }

  onReplayRefused(id: number, fault: RpcFault): void {
    this.#sendJson(errorReply(id, fault))
  }

  endIfKeyEnded(): void {
    if (this.#grant?.isValid() === false)
      this.#close(CLOSE.keyEnded, 'the API key has expired or was revoked')
  }

  /** Keeps the connection alive, or gives it up; advances the cursors of silent topics. */
  tick(): void {
    this.endIfKeyEnded()
    const now = this.#options.now()
    const { silenceMs, pingMs, checkpointMs } = this.#options.limits
    if (now - this.#heardAt >= silenceMs) {
      this.#close(CLOSE.goingAway, 'idle timeout')
    } else if (now - this.#pingedAt >= pingMs && this.isOpen) {
      this.#pingedAt = now
      this.#socket.ping()
    }
    if (now - this.#checkpointAt < checkpointMs) return
    this.#checkpointAt = now
    this.#subscriber.checkpoint()
  }

  shutDown(reconnectAfterMs: number): void {
    const params = [{ reconnect_after_ms: reconnectAfterMs }]
    this.#sendJson({ jsonrpc: '2.0', method: 'shutdown', params })
    this.#close(CLOSE.goingAway, 'shutting down')
  }

  #heard(): void {
    this.#heardAt = this.#options.now()
  }

  #onPing(data: Buffer): void {
    this.#heard()
    if (this.#inbox.mayProceed()) this.#socket.pong(data)
    else this.#inbox.mayRefuse(data.length)
  }

  /** Messages of unauthenticated connections were already read in turn. */
  #receive(data: RawData, isBinary: boolean): void {
    if (this.#grant === undefined) {
      this.#onMessage(data, isBinary)
      return
    }
    this.#inbox.readInTurn(() => this.#onMessage(data, isBinary))
  }

  #onMessage(data: RawData, isBinary: boolean): void {
    // Messages after our close frame are ignored.
    if (this.#socket.readyState !== this.#socket.OPEN) return
    this.#heard()
    const maxBytes =
      this.#grant === undefined ? this.#options.limits.maxStrangerBytes : this.#allowed.maxMessageBytes
    if ((data as Buffer).length > maxBytes) {
      this.#close(CLOSE.tooLarge, 'message too large')
      return
    }
    const { isBatch, items } = isBinary ? this.#refuseBinary() : this.#parse(data)
    if (items.every(({ command }) => command === TOO_MANY)) {
      // Queued, the answers to a flood would pile up behind a store that is slow.
      if (this.#inbox.mayRefuse((data as Buffer).length)) this.#sendReplies(isBatch, items.map(toRefusal))
      return
    }
    this.#inbox.answerInOrder(() => this.#answer(isBatch, items))
  }

  #refuseBinary(): RpcMessage {
    return {
      isBatch: false,
      items: [{ id: null, command: this.#inbox.mayProceed() ? BINARY_REFUSED : TOO_MANY }],
    }
  }

  #parse(data: RawData): RpcMessage {
    const { familyOf, limits } = this.#options
    const { maxPriceIds, maxMultiKlinePairs } = this.#allowed
    // `nodebuffer` is the socket's binary type, so that this is the whole message in one buffer.
    return parseMessage((data as Buffer).toString('utf8'), {
      ...{ familyOf, maxBatch: limits.maxBatch, maxPriceIds, maxMultiKlinePairs },
      mayProceed: () => this.#inbox.mayProceed(),
    })
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
            ? () => this.#close(CLOSE.tooMany, 'too many connections')
            : () => this.#close(CLOSE.unauthorized, 'invalid API key'),
        )
      }
    }
    this.#sendReplies(isBatch, replies)
    for (const each of afterwards) each()
  }

  async #execute(command: Command | RpcFault): Promise<Outcome> {
    if (command instanceof RpcFault) throw command
    if (command.method === 'auth') return this.#authorize(command.key)
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

  #authorize(key: string): Outcome {
    const { check, connections } = this.#options
    const grant = authorize(key, this.#grant, check, connections)
    clearTimeout(this.#authTimer)
    this.#accept(grant)
    return { result: { status: 'ok', action: 'auth', params: [] } }
  }

  #accept(grant: Grant): void {
    const { connections } = this.#options
    if (this.#grant !== undefined) connections.remove(this.#grant, this)
    this.#grant = grant
    connections.add(grant, this)
    this.#allowed = grant.plan.sockets
    this.#isCompressed = grant.plan.sockets.isCompressed && this.#socket.extensions !== ''
    this.#inbox.setRate(this.#allowed.messagesPerSecond)
  }

  #toFault(error: unknown): RpcFault {
    if (error instanceof RpcFault) return error
    if (error instanceof ChaintapeError && error.code === 'store_unavailable') {
      // Without its stack: there may be one for every client, and the outage itself is logged elsewhere.
      this.#options.logger.warn({ reason: error.message }, 'WebSocket request failed: store unavailable')
      return new RpcFault('internal', 'a backing store is unavailable; retry', { reason: error.code })
    }
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

  #close(code: CloseCode, reason: string): void {
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
