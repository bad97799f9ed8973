import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { API_KEY } from '../../support/builders/test-key.ts'
import { paramsOf, type Subject } from './subject.ts'

export type Push = {
  readonly id?: number
  readonly method?: string
  readonly seq?: number
  readonly cursor?: string
  readonly error?: { readonly code: number; readonly message: string }
  readonly result?: {
    readonly action?: string
    readonly recovered?: boolean
    readonly topic?: string
    readonly time?: number
    readonly ids?: readonly string[]
    readonly cursor?: string
    readonly tx?: { readonly id: string; readonly transaction: string }
    readonly kline?: { readonly usd: { readonly time: number; readonly volume: string } }
  }
}

export type ClientOptions = {
  /** How a push is recorded; by default its content, in the market's notation. */
  readonly textOf?: (result: NonNullable<Push['result']>) => string
  /** A refusal for which the client reconnects, and which is no fault. */
  readonly isTemporary?: (error: NonNullable<Push['error']>) => boolean
}

/** One subscription: whenever its socket closes, it resumes with its cursor at the next gateway. */
export class SoakClient {
  /** Every push it received, in order. */
  readonly received: string[] = []
  readonly faults: string[] = []
  readonly closes = new Map<number, number>()
  resumed = 0
  /** How often it was disconnected while it was subscribed. */
  cuts = 0
  isSubscribed = false
  readonly #subject: Subject
  readonly #urls: () => readonly string[]
  readonly #options: ClientOptions
  #gateway: number
  #socket: WebSocket | undefined
  #cursor: string | undefined
  #number = 0
  #cutAfter: number | undefined
  #isDone = false

  /** `urls` returns the current URLs of the gateways. */
  constructor(subject: Subject, gateway: number, urls: () => readonly string[], options: ClientOptions = {}) {
    this.#subject = subject
    this.#options = options
    this.#gateway = gateway
    this.#urls = urls
    this.#connect()
  }

  /** Disconnects after this many more messages, or after this time. */
  cut(afterMessages: number, afterMs: number): void {
    this.#cutAfter = afterMessages
    setTimeout(() => this.#cutNow(), afterMs)
  }

  end(): void {
    this.#isDone = true
    this.#socket?.terminate()
  }

  #cutNow(): void {
    if (this.#cutAfter === undefined) return
    this.#cutAfter = undefined
    if (!this.isSubscribed) return
    this.cuts++
    this.#socket?.terminate()
  }

  #connect(): void {
    const urls = this.#urls()
    const socket = new WebSocket(`${urls[this.#gateway % urls.length]}/ws`, {
      headers: { 'X-API-KEY': API_KEY },
    })
    this.#socket = socket
    this.#number = 0
    const from = this.#cursor
    socket.on('open', () => {
      const params = paramsOf(this.#subject, from)
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscribe', params }))
    })
    socket.on('message', (data) => {
      // Messages that arrive after the cut count as lost.
      if (socket.readyState === WebSocket.OPEN)
        this.#take(JSON.parse(String(data)) as Push, from !== undefined)
    })
    // A killed gateway resets its connections, or refuses them; `close` follows.
    socket.on('error', () => undefined)
    socket.on('close', (code) => void this.#reconnect(code))
  }

  async #reconnect(code: number): Promise<void> {
    this.isSubscribed = false
    this.closes.set(code, (this.closes.get(code) ?? 0) + 1)
    await sleep(Math.random() * 300)
    if (this.#isDone) return
    this.#gateway++
    this.#connect()
  }

  #take(message: Push, wasResumed: boolean): void {
    if (message.error !== undefined) {
      if (this.#options.isTemporary?.(message.error) !== true)
        this.faults.push(`refused: ${JSON.stringify(message.error)}`)
      this.#socket?.terminate()
    } else if (message.result?.action === 'subscribe') this.#takeAnswer(message.result, wasResumed)
    else if (message.result !== undefined) this.#takePush(message, message.result)
    if (this.#cutAfter !== undefined && --this.#cutAfter <= 0) this.#cutNow()
  }

  #takeAnswer(answer: NonNullable<Push['result']>, wasResumed: boolean): void {
    this.isSubscribed = true
    if (wasResumed) this.resumed++
    // The log holds the whole run, so every cursor is recoverable.
    if (answer.recovered !== (wasResumed ? true : undefined)) {
      this.faults.push(`recovered is ${answer.recovered} in an answer to ${wasResumed ? 'from' : 'cursor'}`)
    }
    if (answer.cursor === undefined) this.faults.push('an answer without a cursor')
    else this.#cursor = answer.cursor
  }

  #takePush({ seq, cursor }: Push, result: NonNullable<Push['result']>): void {
    if (seq !== ++this.#number) this.faults.push(`seq ${seq} instead of ${this.#number}`)
    if (cursor === undefined) this.faults.push('a push without a cursor')
    else this.#cursor = cursor
    if (result.topic !== 'checkpoint') this.received.push((this.#options.textOf ?? textOf)(result))
  }
}

/** The content of a push, in the market's notation. */
export function textOf({ topic, ids, time, tx, kline }: NonNullable<Push['result']>): string {
  if (topic === 'revert') return ids === undefined ? `-${time}` : `-${ids.join()}`
  if (tx !== undefined) return `${tx.id}#${tx.transaction}`
  return `${kline?.usd.time}#${kline?.usd.volume}`
}
