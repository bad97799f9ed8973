import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { GatewayMetrics } from '../metrics.ts'
import { RequestError } from '../problem.ts'
import { writeRawProblem } from '../raw-problem.ts'
import { DEFAULT_WS_LIMITS, type WsLimits } from './limits.ts'
import { Session, type SessionOptions } from './session.ts'

export type WsServerOptions = Omit<SessionOptions, 'limits' | 'metrics'> & {
  readonly limits?: Partial<WsLimits>
  readonly metrics: GatewayMetrics
}

export type WsServer = {
  /** Says goodbye to every client, and waits a moment for them to leave. */
  close(): Promise<void>
}

const PATH = '/ws'
const GOODBYE_MS = 1_000
const TICKS_PER_PING = 4

/** Serves WebSocket clients on the upgrades of an HTTP server. */
export function attachWsServer(http: Server, options: WsServerOptions): WsServer {
  const limits: WsLimits = { ...DEFAULT_WS_LIMITS, ...options.limits }
  const sessions = new Map<WebSocket, Session>()
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: limits.maxMessageBytes,
    maxFragments: 16,
    maxBufferedChunks: 1_024,
  })
  let isClosing = false

  const open = (socket: WebSocket, isAuthorised: boolean): void => {
    sessions.set(socket, new Session(socket, isAuthorised, { ...options, limits }))
    options.metrics.sockets.inc()
    socket.once('close', () => {
      sessions.delete(socket)
      options.metrics.sockets.dec()
    })
  }

  const onUpgrade = (request: IncomingMessage, stream: Duplex, head: Buffer): void => {
    const refusal = isClosing ? SHUTTING_DOWN : checkUpgrade(request, options.isKey)
    if (refusal !== undefined) {
      writeRawProblem(stream, refusal)
      return
    }
    const isAuthorised = request.headers['x-api-key'] !== undefined
    server.handleUpgrade(request, stream, head, (socket) => open(socket, isAuthorised))
  }

  http.on('upgrade', onUpgrade)
  const ticker = setInterval(() => {
    for (const session of sessions.values()) session.tick()
  }, limits.pingMs / TICKS_PER_PING)

  return {
    close: async () => {
      isClosing = true
      clearInterval(ticker)
      const gone = [...sessions.keys()].map(
        (socket) => new Promise<void>((resolve) => socket.once('close', () => resolve())),
      )
      for (const session of sessions.values()) {
        // Spread over a span, so that the next server does not meet them all in one instant.
        session.shutDown(Math.round(Math.random() * limits.reconnectSpreadMs))
      }
      const stragglers = setTimeout(() => {
        for (const socket of sessions.keys()) socket.terminate()
      }, GOODBYE_MS)
      await Promise.all(gone)
      clearTimeout(stragglers)
    },
  }
}

const SHUTTING_DOWN = new RequestError('internal', 'the server is shutting down')

/** No key at all is fine here: a browser cannot set the header and sends `auth` instead. */
function checkUpgrade(request: IncomingMessage, isKey: (given: string) => boolean): RequestError | undefined {
  const [path, query] = (request.url ?? '').split('?', 2)
  if (path !== PATH) return new RequestError('not_found', 'WebSocket clients connect to /ws')
  if (query !== undefined) {
    // Queries end up in logs and histories: a key has no place there, and nothing else is understood.
    return new RequestError('malformed_request', 'no query is accepted here; send the key in X-API-KEY')
  }
  const given = request.headers['x-api-key']
  if (given === undefined || (typeof given === 'string' && isKey(given))) return undefined
  return new RequestError('unauthorized', 'send a valid API key in the X-API-KEY header')
}
