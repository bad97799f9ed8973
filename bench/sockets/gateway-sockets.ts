import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import type { Grant } from '../../src/gateway/access/keys/key-ring.ts'
import { createGatewayMetrics } from '../../src/gateway/http/metrics.ts'
import type { MarketReader } from '../../src/gateway/market/market-view.ts'
import { Hub } from '../../src/gateway/ws/fanout/hub.ts'
import { DEFAULT_WS_LIMITS } from '../../src/gateway/ws/limits.ts'
import { HistoryReplay } from '../../src/gateway/ws/replay/history-replay.ts'
import { LogReplay } from '../../src/gateway/ws/replay/log-replay.ts'
import { Freshness } from '../../src/gateway/ws/send/freshness.ts'
import { attachWsServer } from '../../src/gateway/ws/session/server.ts'
import { samplePair, sampleToken } from '../../test/support/builders/market-samples.ts'
import { makeTrades, NOW, sendTicks, setOf, type Tick } from './pushed-trades.ts'
import { settledMemory } from './settled-memory.ts'

/**
 * The gateway's sockets, whole. The market behind them stands still and has every pair that is asked for: what the
 * stores take is measured elsewhere, and here would only make the start long.
 */
const seq = 1
const end = { after: { epoch: 'e', sequence: seq, link: 0 }, seq, time: 1 }
const view: MarketReader = {
  pairs: async (refs) => refs.map(({ address }) => ({ seq, record: samplePair({ address }) })),
  tokens: async (refs) => refs.map(({ address }) => ({ seq, record: sampleToken({ address }) })),
  candles: async (refs) => refs.map(() => ({ seq, record: undefined })),
  mainPairs: async (refs) => refs.map(() => ({ seq, record: undefined })),
  windows: async (refs) => refs.map(() => ({ seq, record: undefined })),
  topPairs: async () => [],
  ranked: async () => [],
  head: () => undefined,
  end: () => end,
  readEnd: () => end,
  chainsBehind: [],
  isAvailable: () => true,
  generation: () => 1,
  switches: 0,
}
const grant: Grant = {
  keyId: 'bench',
  plan: {
    ...{ name: 'bench', requestsPerSecond: 1, burst: 1, cuPerMonth: 1, historyReads: 1 },
    // Only for clients that offer to take it.
    sockets: { ...DEFAULT_WS_LIMITS, maxConnections: 100_000, isCompressed: true },
  },
  isValid: () => true,
}
const history = {
  marker: async () => undefined,
  tradesSince: async () => [],
  liquiditySince: async () => [],
}
const now = (): number => NOW
const hub = new Hub(now)
const metrics = createGatewayMetrics(new Registry())
const freshness = new Freshness(metrics, Date.now)
const http = createServer()
attachWsServer(http, {
  ...{ hub, view, metrics, now, check: () => grant, logger: pino({ level: 'silent' }) },
  familyOf: (chain) => (chain === 'eth' ? 'evm' : undefined),
  wantedHolders: { ask: () => undefined },
  // Nobody comes back here.
  meter: { open: () => ({ cu: 0, charge: () => undefined, release: () => undefined }) },
  missed: new LogReplay({
    recent: new Map(),
    logs: { get: () => undefined, ofEpoch: async () => undefined },
    end: () => end,
    signal: new AbortController().signal,
  }),
  events: new HistoryReplay({
    history,
    logs: new Map(),
    retentionDays: { tx: undefined, liq: undefined },
    now,
  }),
  maxMessageBytes: DEFAULT_WS_LIMITS.maxMessageBytes,
})

const trades = makeTrades()
let sent = 0
let applied = seq

async function send(tick: Tick): Promise<void> {
  await sendTicks(tick, sent, (indexes) => {
    const set = setOf(indexes.flatMap((index) => trades[index] ?? []))
    const live = freshness.liveBlock(set, Date.now(), true)
    hub.apply({ ...set, seq: ++applied }, { ...end, seq: applied - 1 }, live)
  })
  sent += tick.ticks * tick.eventsPerTick
}

async function reportMemory(): Promise<void> {
  const subscriptions = (await metrics.subscriptions.get()).values[0]?.value ?? 0
  process.send?.({ bytes: settledMemory(), subscriptions })
}

process.on('message', (message) => {
  if (message === 'memory') void reportMemory()
  else if (message !== 'cpu') void send(message as Tick).then(() => process.send?.('sent'))
})
// Nobody is left to ask.
process.on('disconnect', () => process.exit())
http.listen({ host: '127.0.0.1', port: 0, backlog: 4_096 }, () => {
  process.send?.((http.address() as AddressInfo).port)
})
