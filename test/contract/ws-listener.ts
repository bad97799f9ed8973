import { once } from 'node:events'
import { WebSocket } from 'ws'
import { waitFor } from '../support/rigs/wait-for.ts'

export type Message = {
  readonly id?: number | null
  readonly result?: Record<string, unknown> & { readonly topic?: string }
  readonly error?: { readonly code: number }
  readonly cursor?: string
  readonly seq?: number
}

/** A plain client that records every message, in order. */
export class Listener {
  readonly messages: Message[] = []
  readonly closed: Promise<number>
  readonly #socket: WebSocket
  #lastId = 100

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on('message', (data) => this.messages.push(JSON.parse(String(data)) as Message))
    this.closed = once(socket, 'close').then(([code]) => code as number)
  }

  static async open(url: string, apiKey?: string): Promise<Listener> {
    const headers = apiKey === undefined ? {} : { 'X-API-KEY': apiKey }
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { headers })
    const listener = new Listener(socket)
    await once(socket, 'open')
    return listener
  }

  /** The status of an upgrade that is not granted. */
  static async refusal(url: string, path: string, apiKey?: string): Promise<number> {
    const headers = apiKey === undefined ? {} : { 'X-API-KEY': apiKey }
    const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, { headers })
    const [request, response] = await once(socket, 'unexpected-response')
    request.destroy()
    return response.statusCode
  }

  send(message: unknown): void {
    this.#socket.send(typeof message === 'string' ? message : JSON.stringify(message))
  }

  /** Gives the id that pushes will carry. */
  async subscribe(params: readonly unknown[]): Promise<number> {
    const id = ++this.#lastId
    this.send({ jsonrpc: '2.0', id, method: 'subscribe', params })
    const answer = await waitFor(`the answer to ${JSON.stringify(params)}`, () => this.answer(id))
    if (answer.error !== undefined) throw new Error(`refused: ${JSON.stringify(answer)}`)
    return id
  }

  answer(id: number): Message | undefined {
    return this.messages.find(
      (each) => each.id === id && (each.error !== undefined || each.result?.['action'] !== undefined),
    )
  }

  pushes(id: number): Message[] {
    return this.messages.filter((each) => each.id === id && each.result?.topic !== undefined)
  }

  close(): void {
    this.#socket.close()
  }
}
