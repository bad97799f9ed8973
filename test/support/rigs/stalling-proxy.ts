import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/**
 * A TCP proxy that can stall: connections stay open and new ones are accepted, but no byte passes either way. While it is
 * cut, connections are reset, new ones too.
 */
export class StallingProxy {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #isStalled = false
  #isCut = false

  private constructor(server: Server) {
    this.#server = server
  }

  static async start(target: string): Promise<StallingProxy> {
    const { hostname: host, port } = new URL(target)
    const server = createServer()
    const proxy = new StallingProxy(server)
    server.on('connection', (near) => {
      if (proxy.#isCut) near.resetAndDestroy()
      else proxy.#join(near, connect({ host, port: Number(port) }))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return proxy
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  stall(): void {
    this.#isStalled = true
    for (const socket of this.#sockets) socket.pause()
  }

  cut(): void {
    this.#isCut = true
    for (const socket of this.#sockets) socket.resetAndDestroy()
  }

  resume(): void {
    this.#isStalled = false
    this.#isCut = false
    for (const socket of this.#sockets) socket.resume()
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #join(near: Socket, far: Socket): void {
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(socket)
      socket.on('data', (bytes) => other.write(bytes))
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        this.#sockets.delete(socket)
        other.destroy()
      })
      if (this.#isStalled) socket.pause()
    }
  }
}
