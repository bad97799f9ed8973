import { once } from 'node:events'
import { WebSocket } from 'ws'
import { waitFor } from './wait-for.ts'

export type Message = {
  id?: number
  jsonrpc?: string
  method?: string
  result?: Record<string, unknown> & { topic?: string }
  error?: { code: number; message: string; data?: unknown }
  sent_time?: number
  cursor?: string
}

/** A plain client: keeps everything it is sent, in order. */
export class WsClient {
  readonly messages: Message[] = []
  readonly #arrivals = new WeakMap<Message, number>()
  readonly #socket: WebSocket
  #nextId = 1

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on('message', (data) => {
      const message = JSON.parse(String(data)) as Message
      this.#arrivals.set(message, Date.now())
      this.messages.push(message)
    })
    // A gateway that is killed resets the connection: the test looks at what arrived before.
    socket.on('error', () => undefined)
  }

  static async connect(gatewayUrl: string, apiKey: string): Promise<WsClient> {
    const socket = new WebSocket(`${gatewayUrl.replace('http', 'ws')}/ws`, {
      headers: { 'X-API-KEY': apiKey },
    })
    const client = new WsClient(socket)
    await once(socket, 'open')
    return client
  }

  /** Subscribes and waits for the acknowledgement; returns the id that pushes will carry. */
  async subscribe(params: readonly unknown[]): Promise<number> {
    const id = this.#nextId++
    this.#socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'subscribe', params, id }))
    const answer = await waitFor(`the answer to subscribe ${JSON.stringify(params)}`, () =>
      this.messages.find((message) => message.id === id && !isPush(message)),
    )
    if (answer.error !== undefined) throw new Error(`subscribe refused: ${JSON.stringify(answer.error)}`)
    return id
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN
  }

  pushes(id: number): Message[] {
    return this.messages.filter((message) => message.id === id && isPush(message))
  }

  /** When the message was received, in Unix milliseconds. */
  arrivedAt(message: Message): number {
    return this.#arrivals.get(message) ?? Number.NaN
  }

  close(): void {
    this.#socket.close()
  }
}

function isPush(message: Message): boolean {
  return message.result?.topic !== undefined
}
