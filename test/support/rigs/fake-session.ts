import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import type { WebSocket } from 'ws'
import type { Candle, ChangeSet, Pair } from '../../../src/domain/change.ts'
import type { Grant } from '../../../src/gateway/access/keys/key-ring.ts'
import type { Meter } from '../../../src/gateway/access/metering/meter.ts'
import { createGatewayMetrics } from '../../../src/gateway/http/metrics.ts'
import type { MarketReader } from '../../../src/gateway/market/market-view.ts'
import type { Version } from '../../../src/gateway/market/overlay-documents.ts'
import type { ChainPlace } from '../../../src/gateway/ws/cursor.ts'
import { Hub } from '../../../src/gateway/ws/fanout/hub.ts'
import { DEFAULT_WS_LIMITS, type WsLimits } from '../../../src/gateway/ws/limits.ts'
import type { HistoryReplay } from '../../../src/gateway/ws/replay/history-replay.ts'
import type { LogReplay } from '../../../src/gateway/ws/replay/log-replay.ts'
import { Replays } from '../../../src/gateway/ws/replay/replays.ts'
import { Connections } from '../../../src/gateway/ws/session/connections.ts'
import { FairQueue } from '../../../src/gateway/ws/session/fair-queue.ts'
import { Session } from '../../../src/gateway/ws/session/session.ts'
import type { TurnBudget } from '../../../src/lib/turn-budget.ts'
import { MEME, MEME_WETH, sampleCandle, samplePair, sampleToken } from '../builders/market-samples.ts'

const END = { after: { epoch: 'e', sequence: 5, link: 0 }, seq: 5, time: 5 }

/** As much of a WebSocket as a session uses. */
class FakeSocket extends EventEmitter {
  readonly OPEN = 1
  readyState = 1
  extensions = ''
  readonly sent: unknown[] = []
  readonly closed: unknown[] = []
  pings = 0
  readonly pongs: string[] = []

  isPaused = false

  pause(): void {
    this.isPaused = true
  }

  resume(): void {
    this.isPaused = false
  }

  pong(data: Buffer): void {
    this.pongs.push(data.toString())
  }

  ping(): void {
    this.pings++
  }

  close(code: number, reason: string): void {
    if (this.readyState !== this.OPEN) return
    this.readyState = 2
    this.closed.push([code, reason])
  }
}

/** What a socket writes to; what the kernel does not take is said by the test. */
export class FakeStream extends EventEmitter {
  writableLength = 0
  readonly texts: string[] = []
  writes = 0

  write(frames: Buffer): boolean {
    this.writes++
    this.texts.push(...readFrames(frames))
    return this.writableLength === 0
  }

  drain(): void {
    this.writableLength = 0
    this.emit('drain')
  }
}

/** The texts of whole, unmasked frames. */
export function readFrames(bytes: Buffer): string[] {
  const texts: string[] = []
  for (let at = 0; at < bytes.length; ) {
    assert.equal(bytes[at], 0x81)
    const short = bytes[at + 1] as number
    const [header, size] =
      short < 126
        ? [2, short]
        : short === 126
          ? [4, bytes.readUInt16BE(at + 2)]
          : [10, Number(bytes.readBigUInt64BE(at + 2))]
    texts.push(bytes.toString('utf8', at + header, at + header + size))
    at += header + size
  }
  return texts
}

/** A session on a fake socket, with a clock and a market that stand still by default. */
export function startSession(
  options: {
    limits?: Partial<WsLimits>
    isAuthorised?: boolean
    view?: Partial<MarketReader>
    grant?: Partial<Grant>
    missed?: Pick<LogReplay, 'locate' | 'page'>
    meter?: Pick<Meter, 'open'>
    messages?: Pick<TurnBudget, 'add'>
  } = {},
) {
  const socket = new FakeSocket()
  const stream = new FakeStream()
  stream.texts.push = (...texts) => socket.sent.push(...texts.map((text) => JSON.parse(text)))
  const clock = { now: 1_000_000 }
  const hub = new Hub(() => clock.now)
  const pair: Version<Pair> = { seq: 5, record: samplePair() }
  const view = {
    pairs: async (refs) =>
      refs.map(({ address }) => (address === MEME_WETH ? pair : { seq: 5, record: undefined })),
    tokens: async (refs) =>
      refs.map(({ address }) => ({ seq: 5, record: address === MEME ? sampleToken() : undefined })),
    candles: async (refs) => refs.map((): Version<Candle> => ({ seq: 5, record: sampleCandle() })),
    mainPairs: async (refs) => refs.map(() => pair),
    windows: async (refs) => refs.map(() => ({ seq: 5, record: undefined })),
    topPairs: async () => [],
    ranked: async () => [],
    head: () => undefined,
    end: () => END,
    readEnd: () => END,
    chainsBehind: [],
    isAvailable: () => true,
    generation: () => 1,
    switches: 0,
    ...options.view,
  } satisfies MarketReader
  const metrics = createGatewayMetrics(new Registry())
  const limits = { ...DEFAULT_WS_LIMITS, ...options.limits }
  const grant: Grant = {
    keyId: 'somebody',
    plan: {
      name: 'default',
      requestsPerSecond: 1,
      historyReads: 1,
      burst: 1,
      cuPerMonth: 1,
      // No plan overrides what a test sets.
      sockets: { ...limits, maxConnections: 1 },
    },
    isValid: () => true,
    ...options.grant,
  }
  const isAuthorised = options.isAuthorised ?? true
  const connections = new Connections<Session>()
  const wanted: string[][] = []
  const session = new Session(socket as unknown as WebSocket, stream, isAuthorised ? grant : undefined, {
    hub,
    view,
    wantedHolders: {
      ask: (tokens, keyId) => void wanted.push(...tokens.map(({ address }) => [keyId, address])),
    },
    missed: {
      translate: async (_chain: string, place: ChainPlace) => place,
      locate: async () => 'held',
      page: async () => [],
      ...options.missed,
    } as unknown as LogReplay,
    events: { reach: async () => undefined } as unknown as HistoryReplay,
    replays: new Replays(options.meter ?? { open: () => PAID }),
    messages: options.messages ?? AT_ONCE,
    subscribes: new FairQueue(AT_ONCE),
    // Nothing is gathered here: what is sent is there at once.
    flusher: { wake: (queue) => queue.flush() },
    check: (given) => (given === 'right' ? grant : given === 'old' ? 'ended' : 'unknown'),
    connections,
    familyOf: (chain) => (chain === 'eth' ? 'evm' : undefined),
    limits,
    metrics,
    logger: pino({ level: 'silent' }),
    now: () => clock.now,
  })
  const receive = async (message: unknown): Promise<void> => {
    socket.emit('message', Buffer.from(JSON.stringify(message)), false)
    await turn()
  }
  const apply = (set: ChangeSet): void => hub.apply(set, originOf(set))
  return { apply, socket, stream, clock, hub, session, metrics, connections, grant, receive, wanted }
}

const AT_ONCE = { add: (work: () => void): void => work() }
const PAID = { cu: 50, charge: () => undefined, release: () => undefined }

export const TX = ['tx', MEME_WETH, 'eth']
export const KLINE = ['kline', MEME_WETH, 'k1', 'eth']
export const request = (id: number, method: string, params: unknown) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
})
export const ack = (id: number, action: string, params: unknown) => ({
  jsonrpc: '2.0',
  id,
  result: { status: 'ok', action, params },
})
export const failure = (id: number | null, code: number, message: string, data?: object) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message, ...(data === undefined ? {} : { data }) },
})
export const push = (id: number, result: object, sent_time = 1_000_000) => ({
  id,
  jsonrpc: '2.0',
  result,
  sent_time,
})

/** Where a set stands that follows right on the one before it, in a log where each has one message. */
export const originOf = ({ seq }: Pick<ChangeSet, 'seq'>) => ({
  after: { epoch: 'e', sequence: seq - 1, link: 0 },
  seq: seq - 1,
  time: 1_700_000_000 + seq - 1,
})
