import { StreamError } from '../errors.ts'
import { CLOSE_CODES, RPC_CODES } from '../generated/codes.ts'
import { type Hosts, socketUrl } from '../hosts.ts'
import { Backoff } from './backoff.ts'
import { Outbox } from './outbox.ts'
import { type OpenSocket, openSocket, type WebSocketConstructor } from './socket.ts'
import type { Subscription } from './subscription.ts'
import type { Acknowledgement, Push, RpcFailure } from './topic.ts'

export type ConnectionOptions = {
  readonly hosts: Hosts
  readonly key: string
  readonly WebSocket: WebSocketConstructor
  readonly messagesPerSecond: number
  /** Silence after which the connection is probed; it is dropped after as much again. */
  readonly silenceMs: number
  readonly onReconnect: (event: ReconnectEvent) => void
}

export type ReconnectEvent = {
  readonly url: string
  /** Close code of the lost connection; 1006 if the other side did not say goodbye. */
  readonly code: number
  readonly delayMs: number
}

type Message = {
  readonly id?: number | null
  readonly method?: string
  readonly seq?: number
  readonly params?: readonly { readonly reconnect_after_ms?: number }[]
  readonly result?: Acknowledgement | string
  readonly error?: RpcFailure
}

const AUTH_ID = 0
const ABNORMAL = 1006

/** One socket with many subscriptions. It reconnects until it is closed, and resumes each of them. */
export class Connection {
  readonly #options: ConnectionOptions
  readonly #backoff = new Backoff()
  readonly #subscriptions = new Set<Subscription>()
  /** Those that wait for their consumer: they keep their place, and resume with their cursor. */
  readonly #paused = new Set<Subscription>()
  /** By the id of the request that is under way or in effect. */
  #byId = new Map<number, Subscription>()
  readonly #ids = new Map<Subscription, number>()
  #nextId = AUTH_ID + 1
  #socket: OpenSocket | undefined
  #outbox: Outbox | undefined
  #reconnecting: ReturnType<typeof setTimeout> | undefined
  #watch: ReturnType<typeof setInterval> | undefined
  /** Messages came since the last look: a flag, because the clock costs more than a message may. */
  #isHeard = false
  #isProbed = false
  /** It delivered something, or lasted: one that is closed at once is reopened ever more slowly. */
  #isUseful = false
  #shutdownMs: number | undefined
  #isClosed = false

  constructor(options: ConnectionOptions) {
    this.#options = options
    this.#connect()
  }

  get size(): number {
    return this.#subscriptions.size
  }

  has(identity: string): boolean {
    for (const { topic } of this.#subscriptions) if (topic.identity === identity) return true
    return false
  }

  add(subscription: Subscription): void {
    this.#subscriptions.add(subscription)
    this.#subscribe(subscription)
  }

  /** Ends a subscription. */
  remove(subscription: Subscription): void {
    this.#subscriptions.delete(subscription)
    this.#paused.delete(subscription)
    this.#unsubscribe(subscription)
  }

  /** Nothing is delivered until `unpause`; then everything since. */
  pause(subscription: Subscription): void {
    this.#paused.add(subscription)
    this.#unsubscribe(subscription)
  }

  unpause(subscription: Subscription): void {
    if (this.#paused.delete(subscription)) this.#subscribe(subscription)
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#reconnecting)
    this.#socket?.drop()
  }

  #connect(): void {
    const url = this.#options.hosts.current
    const { WebSocket, key } = this.#options
    let isReady = false
    const socket = openSocket(socketUrl(url), WebSocket, {
      onOpen: () => socket.send(request(AUTH_ID, 'auth', [key])),
      onText: (text) => {
        this.#isHeard = true
        const message = parse(text)
        if (message === undefined) socket.drop()
        else if (isReady) this.#receive(message)
        else isReady = this.#receiveFirst(message, socket)
      },
      onClose: (code) => this.#onClose(url, code, isReady),
    })
    this.#socket = socket
    this.#watchSilence(socket)
  }

  /** Whether the key was accepted. */
  #receiveFirst({ id, error, method, params }: Message, socket: OpenSocket): boolean {
    if (method === 'shutdown') this.#shutdownMs = params?.[0]?.reconnect_after_ms
    if (id !== AUTH_ID) return false
    if (error?.code === RPC_CODES.unauthorized) this.#fail(new StreamError(error.message, 'unauthorized'))
    if (error !== undefined) return false
    this.#outbox = new Outbox(this.#options.messagesPerSecond, (text) => socket.send(text))
    for (const subscription of this.#subscriptions) this.#subscribe(subscription)
    return true
  }

  #receive(message: Message): void {
    const subscription = this.#byId.get(message.id as number)
    if (message.seq !== undefined) {
      this.#isUseful = true
      // Without a subscription it is a push that was under way when its subscription ended.
      if (subscription !== undefined && !subscription.push(message as unknown as Push))
        this.#resume(subscription)
      return
    }
    if (message.method === 'shutdown') this.#shutdownMs = message.params?.[0]?.reconnect_after_ms
    else this.#answer(message, subscription)
  }

  #answer({ result, error }: Message, subscription: Subscription | undefined): void {
    this.#outbox?.answered()
    if (subscription === undefined) return
    if (error !== undefined) this.#refuse(subscription, error)
    else if (typeof result === 'object' && result.action === 'subscribe') subscription.acknowledge(result)
  }

  #refuse(subscription: Subscription, error: RpcFailure): void {
    this.#release(subscription)
    const reaction = subscription.refuse(error)
    if ('error' in reaction) {
      this.#subscriptions.delete(subscription)
      subscription.fail(reaction.error)
      return
    }
    if (error.code === RPC_CODES.rate_limited) this.#outbox?.hold(reaction.retryAfterMs)
    const socket = this.#socket
    setTimeout(() => {
      // A new socket has subscribed to it again by itself.
      if (this.#socket === socket && this.#subscriptions.has(subscription)) this.#subscribe(subscription)
    }, reaction.retryAfterMs)
  }

  /** The gateway replaces the subscription by this one, which starts after the last push. */
  #resume(subscription: Subscription): void {
    this.#release(subscription)
    this.#subscribe(subscription)
  }

  #subscribe(subscription: Subscription): void {
    // Without one, the connection subscribes to everything once it is ready.
    this.#outbox?.add(() => {
      const isWanted = this.#subscriptions.has(subscription) && !this.#paused.has(subscription)
      if (!isWanted || this.#ids.has(subscription)) return undefined
      const id = this.#nextId++
      this.#byId.set(id, subscription)
      this.#ids.set(subscription, id)
      return request(id, 'subscribe', subscription.params())
    })
  }

  /** Pushes that are under way are ignored: their id is released. */
  #unsubscribe(subscription: Subscription): void {
    if (!this.#ids.has(subscription)) return
    this.#release(subscription)
    this.#outbox?.add(() => request(this.#nextId++, 'unsubscribe', subscription.topic.params))
  }

  #release(subscription: Subscription): void {
    this.#byId.delete(this.#ids.get(subscription) ?? -1)
    this.#ids.delete(subscription)
  }

  #onClose(url: string, code: number, wasReady: boolean): void {
    clearInterval(this.#watch)
    this.#outbox?.close()
    this.#outbox = undefined
    this.#byId = new Map()
    this.#ids.clear()
    if (this.#isClosed) return
    // An invalid key is refused by an answer. `unauthorized` without one means that `auth` came too late.
    if (code === CLOSE_CODES.keyEnded) {
      this.#fail(new StreamError('the API key expired or was revoked', 'unauthorized'))
      return
    }
    // A replay that fails again and again is charged each time.
    if (this.#isUseful && code !== CLOSE_CODES.failed) this.#backoff.reset()
    if (!wasReady || code === ABNORMAL || code === CLOSE_CODES.goingAway) this.#options.hosts.leave(url)
    const delayMs = this.#shutdownMs ?? this.#backoff.next()
    this.#shutdownMs = undefined
    this.#options.onReconnect({ url, code, delayMs })
    this.#reconnecting = setTimeout(() => this.#connect(), delayMs)
  }

  #fail(error: StreamError): void {
    const all = [...this.#subscriptions]
    this.#subscriptions.clear()
    this.close()
    for (const subscription of all) subscription.fail(error)
  }

  /** Browsers do not show the pings of the server: a dead connection is one without messages. */
  #watchSilence(socket: OpenSocket): void {
    this.#isHeard = false
    this.#isProbed = false
    this.#isUseful = false
    this.#watch = setInterval(() => {
      if (this.#isHeard) {
        this.#isProbed = false
        this.#isUseful = true
      } else if (this.#isProbed) socket.drop()
      else {
        this.#isProbed = true
        this.#outbox?.add(() => request(this.#nextId++, 'ping', []))
      }
      this.#isHeard = false
    }, this.#options.silenceMs)
  }
}

/** Undefined for text that no gateway would send: the connection is of no use then. */
function parse(text: string): Message | undefined {
  try {
    return JSON.parse(text) as Message
  } catch {
    return undefined
  }
}

function request(id: number, method: string, params: readonly unknown[]): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params })
}
