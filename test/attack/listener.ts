import { once } from 'node:events'
import { WebSocket } from 'ws'
import { readStamp } from './market.ts'

const KEEP_ALIVE_MS = 10_000

/** An honest client that listens to the swaps of some pairs, and notices if one is missing, doubled or late. */
export class Listener {
  readonly #socket: WebSocket
  readonly #onPush: (latencyMs: number) => void
  readonly #onFault: (fault: string) => void
  readonly #last = new Map<string, number>()
  #isLeaving = false
  #alive: NodeJS.Timeout | undefined

  private constructor(
    socket: WebSocket,
    onPush: (latencyMs: number) => void,
    onFault: (fault: string) => void,
  ) {
    this.#socket = socket
    this.#onPush = onPush
    this.#onFault = onFault
    socket.on('message', (data: Buffer) => this.#take(data.toString()))
    socket.on('error', (error) => onFault(String(error)))
    socket.on('close', (code, reason) => {
      if (!this.#isLeaving) onFault(`closed ${code} ${reason}`)
    })
  }

  static async open(
    options: { readonly port: number; readonly apiKey: string; readonly localAddress: string },
    onPush: (latencyMs: number) => void,
    onFault: (fault: string) => void,
  ): Promise<Listener> {
    const { port, apiKey, localAddress } = options
    const headers = { 'x-api-key': apiKey }
    const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`, { headers, localAddress })
    const listener = new Listener(socket, onPush, onFault)
    await once(socket, 'open')
    return listener
  }

  /** All at once: a batch of up to twenty. */
  subscribe(topics: readonly (readonly unknown[])[]): void {
    const asked = topics.map((params, id) => ({ jsonrpc: '2.0', id, method: 'subscribe', params }))
    this.#socket.send(JSON.stringify(asked))
  }

  /** The latest set that it received for all of its pairs. */
  get reached(): number {
    return this.#last.size === 0 ? 0 : Math.min(...this.#last.values())
  }

  pause(): void {
    this.#socket.pause()
  }

  /** Sends now and then: a client that neither reads nor sends for a minute is disconnected. */
  keepAlive(): void {
    this.#alive = setInterval(() => this.#socket.pong(), KEEP_ALIVE_MS)
  }

  resume(): void {
    clearInterval(this.#alive)
    this.#socket.resume()
  }

  leave(): void {
    this.#isLeaving = true
    this.#socket.close(1000)
  }

  #take(text: string): void {
    if (text.includes('"error"')) this.#onFault(`refused: ${text.slice(0, 200)}`)
    const stamp = readStamp(text)
    if (stamp === undefined) return
    const pair = /"pair_address":"(0x\w+)"/.exec(text)?.[1] ?? ''
    const before = this.#last.get(pair)
    if (before !== undefined && stamp.number !== before + 1)
      this.#onFault(`swap ${stamp.number} of ${pair} came after ${before}`)
    this.#last.set(pair, stamp.number)
    this.#onPush(performance.timeOrigin + performance.now() - stamp.publishedAt)
  }
}
