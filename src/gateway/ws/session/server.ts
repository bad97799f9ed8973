import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { TurnBudget } from '../../../lib/turn-budget.ts'
import type { Grant } from '../../access/keys/key-ring.ts'
import type { Meter } from '../../access/metering/meter.ts'
import { ANY_ORIGIN } from '../../http/cors.ts'
import { keyRefused } from '../../http/key-refusal.ts'
import type { GatewayMetrics } from '../../http/metrics.ts'
import { RequestError } from '../../http/problem.ts'
import { writeRawProblem } from '../../http/raw-problem.ts'
import { DEFAULT_WS_LIMITS, type WsLimits } from '../limits.ts'
import { Replays } from '../replay/replays.ts'
import { Flusher } from '../send/flusher.ts'
import { Connections } from './connections.ts'
import { FairQueue } from './fair-queue.ts'
import { type MayConnect, originRule } from './origin.ts'
import { Session, type SessionOptions } from './session.ts'

export type WsServerOptions = Omit<
  SessionOptions,
  'limits' | 'metrics' | 'connections' | 'flusher' | 'replays' | 'subscribes' | 'messages'
> & {
  readonly meter: Pick<Meter, 'open'>
  readonly limits?: Partial<WsLimits>
  /** The largest that any plan allows; a session applies that of its own plan. */
  readonly maxMessageBytes: number
  /** Some plan has it: a client without a key yet may turn out to have that plan. */
  readonly isCompressionOffered?: boolean
  readonly metrics: GatewayMetrics
  /** Origins whose pages may connect, besides the gateway's own host; `*` (the default) is every origin. */
  readonly allowedOrigins?: readonly string[]
}

export type WsServer = {
  /** Sends a close frame to every client, and waits a moment for the close handshakes. */
  close(): Promise<void>
  /** Ends the connections of a key that is not good any more. */
  recheck(keyId: string): void
  /** Asks all clients to connect again. */
  reset(): void
}

const PATH = '/ws'
const GOODBYE_MS = 1_000
/** A client that does not complete the close handshake in this time is disconnected. (The types of `ws` lack this option.) */
const CLOSING = { closeTimeout: 10_000 }
const TICKS_PER_PING = 4
/**
 * Pushes are compressed once for all sockets, so no socket has a context of its own, and none is kept for what clients
 * send. What they send is inflated to `maxPayload` bytes at most, in small pieces.
 */
const DEFLATE = {
  serverNoContextTakeover: true,
  clientNoContextTakeover: true,
  concurrencyLimit: 4,
  zlibInflateOptions: { chunkSize: 4 * 1_024 },
}

/** Serves WebSocket clients on the upgrades of an HTTP server. */
export function attachWsServer(http: Server, options: WsServerOptions): WsServer {
  const limits: WsLimits = { ...DEFAULT_WS_LIMITS, ...options.limits }
  const sessions = new Map<WebSocket, Session>()
  const settings = {
    noServer: true,
    clientTracking: false,
    maxPayload: options.maxMessageBytes,
    maxFragments: 16,
    maxBufferedChunks: 1_024,
    // One message per socket and turn: a client that sends thousands at once waits for all others in between.
    allowSynchronousEvents: false,
    // Sessions answer pings themselves, limited like other messages: otherwise unread pongs would pile up.
    autoPong: false,
    ...CLOSING,
  }
  const plain = new WebSocketServer({ ...settings, perMessageDeflate: false })
  const deflating = new WebSocketServer({ ...settings, perMessageDeflate: DEFLATE })
  for (const server of [plain, deflating]) {
    server.on('wsClientError', (error, stream) =>
      writeRawProblem(stream, new RequestError('malformed_request', error.message)),
    )
  }
  const mayConnect: MayConnect = originRule(options.allowedOrigins ?? [ANY_ORIGIN])
  let isClosing = false

  const connections = new Connections<Session>()
  const flusher = new Flusher()
  const replays = new Replays(options.meter)
  const messages = new TurnBudget()
  const subscribes = new FairQueue(messages)
  const strangers = new TurnBudget()
  const sessionOptions = { ...options, limits, connections, flusher, replays, messages, subscribes }
  const open = (socket: WebSocket, stream: Duplex, grant: Grant | undefined): void => {
    const session = new Session(socket, stream, grant, sessionOptions)
    sessions.set(socket, session)
    if (grant === undefined) readInTurn(stream, session, strangers)
    options.metrics.sockets.inc()
    socket.once('close', () => {
      sessions.delete(socket)
      options.metrics.sockets.dec()
    })
  }

  const onUpgrade = (request: IncomingMessage, stream: Duplex, head: Buffer): void => {
    const admitted = isClosing ? SHUTTING_DOWN : checkUpgrade(request)
    if (admitted !== undefined && !(admitted instanceof RequestError)) {
      accept(request, stream, head, admitted)
      return
    }
    // A client that hangs up before its turn.
    stream.on('error', () => stream.destroy())
    strangers.add(() => {
      if (admitted === undefined) accept(request, stream, head, undefined)
      else writeRawProblem(stream, admitted)
    })
  }

  const accept = (
    request: IncomingMessage,
    stream: Duplex,
    head: Buffer,
    admitted: Grant | undefined,
  ): void => {
    const mayCompress = admitted?.plan.sockets.isCompressed ?? options.isCompressionOffered ?? false
    const server = mayCompress && acceptsFullWindow(request) ? deflating : plain
    server.handleUpgrade(request, stream, head, (socket) => open(socket, stream, admitted))
  }

  /** No key at all is fine here: a browser cannot set the header and sends `auth` instead. */
  const checkUpgrade = (request: IncomingMessage): Grant | RequestError | undefined => {
    const [path, query] = (request.url ?? '').split('?', 2)
    if (path !== PATH) return new RequestError('not_found', 'WebSocket clients connect to /ws')
    if (query !== undefined) {
      // Queries end up in logs and histories: a key has no place there, and nothing else is understood.
      return new RequestError(
        'malformed_request',
        '/ws takes no query; send the key in X-API-KEY or in an auth message',
      )
    }
    const given = request.headers['x-api-key']
    if (!mayConnect(request.headers, given !== undefined)) {
      return new RequestError('origin_refused', "the page's origin is not in gateway.allowed_origins")
    }
    if (given === undefined) return undefined
    const checked = options.check(given)
    if (typeof checked === 'string') return keyRefused(checked, given)
    if (connections.hasRoomFor(checked)) return checked
    const { maxConnections } = checked.plan.sockets
    return new RequestError(
      'limit_exceeded',
      `the key already has ${maxConnections} connections; close one first`,
    )
  }

  http.on('upgrade', onUpgrade)
  const ticker = setInterval(() => {
    for (const session of sessions.values()) session.tick()
  }, limits.pingMs / TICKS_PER_PING)

  return {
    recheck: (keyId) => {
      for (const session of connections.of(keyId)) session.endIfKeyEnded()
    },
    reset: () => {
      for (const session of sessions.values()) {
        session.shutDown(Math.round(Math.random() * limits.reconnectSpreadMs))
      }
    },
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

/** Until the client has given its key. With a `readable` listener the socket gets data only when the stream is read. */
function readInTurn(stream: Duplex, session: Session, strangers: TurnBudget): void {
  const onReadable = (): void => {
    if (session.hasKey) stream.off('readable', onReadable)
    else strangers.add(() => stream.read())
  }
  stream.on('readable', onReadable)
}

const SHUTTING_DOWN = new RequestError('internal', 'the server is shutting down')

/** A client with a window of its own size would need pushes of its own; it gets them uncompressed. */
function acceptsFullWindow({ headers }: IncomingMessage): boolean {
  return !headers['sec-websocket-extensions']?.includes('server_max_window_bits')
}
