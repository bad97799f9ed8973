import { type IncomingMessage, type RequestListener, Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Runs before the framework; true if it has answered the request. */
export type Interceptor = (request: IncomingMessage, response: ServerResponse) => boolean

export type HttpServerOptions = {
  /** False for a connection that was refused: node then never reads from it. */
  readonly admit: (socket: Socket) => boolean
  /** Run in this order. */
  readonly interceptors: readonly Interceptor[]
}

const REQUEST_MS = 10_000
const KEEP_ALIVE_MS = 60_000
const CONNECTION_MS = 75_000
/** By default, node checks for overdue requests only every 30 s, and then refuses all of them in one turn. */
const CHECK_MS = 250

/** The gateway's HTTP server: admission of connections, then the interceptors, then the framework. */
export function createHttpServer(framework: RequestListener, options: HttpServerOptions): Server {
  const { admit, interceptors } = options
  const server = new AdmittingServer(admit, (request, response) => {
    for (const intercept of interceptors) if (intercept(request, response)) return
    framework(request, response)
  })
  server.setTimeout(CONNECTION_MS)
  return server
}

class AdmittingServer extends Server {
  readonly #admit: (socket: Socket) => boolean

  constructor(admit: (socket: Socket) => boolean, handle: RequestListener) {
    super(
      {
        requestTimeout: REQUEST_MS,
        headersTimeout: REQUEST_MS,
        keepAliveTimeout: KEEP_ALIVE_MS,
        connectionsCheckingInterval: CHECK_MS,
      },
      handle,
    )
    this.#admit = admit
  }

  /** Node's own `connection` listener would read, serve and charge a request of a refused connection. */
  override emit(event: string, ...args: unknown[]): boolean {
    if (event === 'connection' && !this.#admit(args[0] as Socket)) return true
    return super.emit(event, ...args)
  }
}
