import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** A stable address in front of a gateway that may be replaced. Connections through it can be cut at any time. */
export class CutProxy {
  readonly url: string
  /** Port of the gateway behind it. */
  port: number
  cuts = 0
  readonly #server: Server
  readonly #clients = new Set<Socket>()

  private constructor(server: Server, port: number) {
    this.#server = server
    this.port = port
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    server.on('connection', (client) => this.#join(client))
  }

  static async start(port: number): Promise<CutProxy> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new CutProxy(server, port)
  }

  get connections(): number {
    return this.#clients.size
  }

  /** Resets the connection of this number, in the order in which they were opened. */
  cut(number: number): void {
    const client = [...this.#clients][number % Math.max(1, this.#clients.size)]
    if (client === undefined) return
    this.cuts++
    client.resetAndDestroy()
  }

  cutAll(): void {
    for (let left = this.#clients.size; left > 0; left--) this.cut(left - 1)
  }

  async stop(): Promise<void> {
    for (const client of this.#clients) client.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #join(client: Socket): void {
    const gateway = connect(this.port, '127.0.0.1')
    this.#clients.add(client)
    // The other end learns of the failure by the end of its own connection.
    client.on('error', () => gateway.destroy())
    gateway.on('error', () => client.resetAndDestroy())
    client.on('close', () => {
      this.#clients.delete(client)
      gateway.destroy()
    })
    gateway.on('close', () => client.destroy())
    client.pipe(gateway)
    gateway.pipe(client)
  }
}
