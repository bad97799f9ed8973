import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'

export type Request = {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

type Options = { readonly from?: string; readonly cursor?: boolean }
type Listener = { readonly socket: WebSocket; readonly id: number; seq: number }

/**
 * A gateway with one list of swaps: the cursor is the number of swaps before it. A test may answer a subscribe itself, to
 * play a gateway that refuses, loses or repeats.
 */
export class ScriptedGateway {
  readonly url: string
  readonly requests: Request[] = []
  /** Answers a subscribe in place of the gateway, if it returns true. */
  intercept: (request: Request, socket: WebSocket) => boolean = () => false
  isSilent = false
  /** Whether it accepts the key. */
  hasKey = true
  connections = 0
  readonly #server: WebSocketServer
  readonly #listeners = new Map<string, Listener>()
  readonly #swaps: string[] = []

  private constructor(server: WebSocketServer) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    server.on('connection', (socket) => {
      const connection = ++this.connections
      socket.on('message', (data) => {
        if (!this.isSilent) this.#receive(JSON.parse(String(data)) as Request, socket, connection)
      })
      socket.on('close', () => this.#forget(socket))
    })
  }

  static async start(): Promise<ScriptedGateway> {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    await once(server, 'listening')
    return new ScriptedGateway(server)
  }

  get count(): number {
    return this.#swaps.length
  }

  get subscribes(): Request[] {
    return this.requests.filter(({ method }) => method === 'subscribe')
  }

  trade(count = 1): void {
    for (let each = 0; each < count; each++) {
      this.#swaps.push(`s${this.#swaps.length + 1}`)
      for (const listener of this.#listeners.values()) this.#push(listener, this.#swaps.length)
    }
  }

  /** Says that nothing else was pushed up to this cursor. */
  checkpoint(cursor: string): void {
    this.push({ topic: 'checkpoint' }, cursor)
  }

  /** Sends a push of any content to all subscriptions. */
  push(result: object, cursor = String(this.#swaps.length)): void {
    for (const listener of this.#listeners.values()) {
      send(listener.socket, { id: listener.id, result, cursor, seq: ++listener.seq })
    }
  }

  skipNumber(): void {
    for (const listener of this.#listeners.values()) listener.seq++
  }

  /** Ends all connections without a goodbye. */
  cut(): void {
    for (const socket of this.#server.clients) socket.terminate()
  }

  broadcast(message: object): void {
    for (const socket of this.#server.clients) send(socket, message)
  }

  closeAll(code: number): void {
    for (const socket of this.#server.clients) socket.close(code)
  }

  async stop(): Promise<void> {
    this.cut()
    this.#server.close()
    await once(this.#server, 'close')
  }

  acknowledge(socket: WebSocket, { id, params }: Request, fields: object = {}): void {
    send(socket, { id, result: { status: 'ok', action: 'subscribe', params, ...fields } })
  }

  listen(socket: WebSocket, { id, params }: Request, connection: number, from: number): void {
    const listener = { socket, id, seq: 0 }
    this.#listeners.set(keyOf(connection, params), listener)
    for (let at = from + 1; at <= this.#swaps.length; at++) this.#push(listener, at)
  }

  #receive(request: Request, socket: WebSocket, connection: number): void {
    this.requests.push(request)
    const { id, method, params } = request
    if (method === 'auth' && !this.hasKey) {
      send(socket, { id, error: { code: -32_001, message: 'the API key is unknown' } })
      socket.close(4401)
    } else if (method === 'auth') send(socket, { id, result: { status: 'ok', action: 'auth', params: [] } })
    else if (method === 'ping') send(socket, { id, result: 'pong' })
    else if (method === 'unsubscribe') {
      this.#listeners.delete(keyOf(connection, params))
      send(socket, { id, result: { status: 'ok', action: 'unsubscribe', params } })
    } else if (!this.intercept(request, socket)) {
      const { from } = params.at(-1) as Options
      const start = from === undefined ? this.#swaps.length : Number(from)
      const recovery = from === undefined ? {} : { recovered: true }
      this.acknowledge(socket, request, { cursor: String(start), ...recovery })
      this.listen(socket, request, connection, start)
    }
  }

  #push(listener: Listener, at: number): void {
    const tx = { id: this.#swaps[at - 1], transaction: 'hash', time: at, block_number: at }
    const result = { id: 'pair', topic: 'tx', tx }
    send(listener.socket, { id: listener.id, result, cursor: String(at), seq: ++listener.seq })
  }

  #forget(socket: WebSocket): void {
    for (const [key, listener] of this.#listeners) if (listener.socket === socket) this.#listeners.delete(key)
  }
}

/** Options are not part of the topic. */
function keyOf(connection: number, params: readonly unknown[]): string {
  const isOptions = (item: unknown) => typeof item === 'object' && item !== null && !Array.isArray(item)
  return JSON.stringify([connection, params.filter((item) => !isOptions(item))])
}

export function send(socket: WebSocket, message: object): void {
  socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }))
}
