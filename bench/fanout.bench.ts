import { setTimeout as sleep } from 'node:timers/promises'
import { sized } from './form.ts'
import type { Bench, Sides, Slice } from './measure.ts'
import { leaveServerCore, MeasuredProcess } from './rest/measured-process.ts'
import type { BareMode } from './sockets/bare-sockets.ts'
import { type ClientPlan, connectAll, openClients } from './sockets/clients.ts'
import { PUSHED_PAIR, requestIdOf, type Tick, TRADES } from './sockets/pushed-trades.ts'

const CONNECTIONS = sized({ full: 500, short: 500, smoke: 50 })
/** Memory is taken in pages, and some of it was taken before: fewer would be lost in that. */
const IDLE_CONNECTIONS = sized({ full: 5_000, short: 5_000, smoke: 1_000 })
const SUBSCRIPTIONS = 10
const PAIRS = 200

/** Several ticks for each word to the server, so that the word itself costs next to nothing. */
const SINGLE: Tick = { ticks: 10, eventsPerTick: 1 }
const BURST: Tick = { ticks: 1, eventsPerTick: TRADES }

/** The gateway's sockets in one process, bare ones in another, as many clients of each in this one. */
export const bench: Bench = {
  figures: [
    {
      name: `one event per tick to ${CONNECTIONS} sockets / bare write of ready frames`,
      bar: 0.75,
      goal: 0.9,
      direction: 'at least',
      per: 'cpu second',
      open: () => openSides(() => openGateway(SINGLE)),
    },
    {
      name: `bursts of ${TRADES} events to ${CONNECTIONS} sockets / bare write of ready frames, one per tick`,
      bar: 3,
      goal: 6,
      direction: 'at least',
      per: 'cpu second',
      open: () => openSides(() => openGateway(BURST)),
    },
    {
      name: `one event per tick to ${CONNECTIONS} sockets, compressed / bare write of ready frames, uncompressed`,
      bar: 0.4,
      goal: 0.65,
      direction: 'at least',
      per: 'cpu second',
      open: () => openSides(() => openGateway(SINGLE, true)),
    },
    {
      // The baseline is honest only if it is well above what anybody would write at first.
      name: 'plain ws.send, one event per tick / bare write of ready frames',
      bar: 0.667,
      goal: 0.667,
      direction: 'at most',
      per: 'cpu second',
      open: () => openSides(() => openBare('send', SINGLE, CONNECTIONS)),
    },
    {
      name: `memory of ${IDLE_CONNECTIONS} idle sockets with ${SUBSCRIPTIONS} subscriptions each / bare ws`,
      bar: 3,
      goal: 1.75,
      direction: 'at most',
      per: 'slice',
      open: openIdle,
    },
  ],
}

export type Side = { readonly slice: Slice; readonly close: () => Promise<void> }

async function openSides(openSubject: () => Promise<Side>): Promise<Sides> {
  leaveServerCore()
  const subject = await openSubject()
  const baseline = await openBare('frames', SINGLE, CONNECTIONS)
  return {
    subject: subject.slice,
    baseline: baseline.slice,
    close: async () => {
      await subject.close()
      await baseline.close()
    },
  }
}

export async function openGateway(tick: Tick, isCompressed = false, count = CONNECTIONS): Promise<Side> {
  const greeting = (client: number) => [
    subscribe(requestIdOf(client), ['tx', PUSHED_PAIR, 'eth']),
    // An idle pair, so that the index holds more than what is pushed.
    subscribe(1_000, ['tx', addressOf(client), 'eth']),
  ]
  return openPushed(startGateway(), tick, { count, greeting, isCompressed })
}

export function openBare(mode: BareMode, tick: Tick, connections: number): Promise<Side> {
  return openPushed(startBare(mode), tick, { count: connections, greeting: () => ({}) })
}

async function openPushed(
  server: MeasuredProcess,
  tick: Tick,
  plan: Omit<ClientPlan, 'port'>,
): Promise<Side> {
  const port = (await server.hear()) as number
  const clients = await openClients(server, { ...plan, port }, tick)
  return {
    slice: clients.slice,
    close: async () => {
      clients.close()
      await server.stop()
    },
  }
}

async function openIdle(): Promise<Sides> {
  leaveServerCore()
  const subject = await openHeld(startGateway(), IDLE_CONNECTIONS * SUBSCRIPTIONS, (client) =>
    Array.from({ length: SUBSCRIPTIONS }, (_, at) => {
      const pair = addressOf((client * 7 + at) % PAIRS)
      return subscribe(at, topicOf(pair, at))
    }),
  )
  const baseline = await openHeld(startBare('send'), 0, () => ({}))
  return {
    subject: subject.slice,
    baseline: baseline.slice,
    close: async () => {
      await subject.close()
      await baseline.close()
    },
  }
}

/** Half of them of what happens, half of how things stand. */
function topicOf(pair: string, nth: number): unknown[] {
  const topics = [
    ['tx', pair, 'eth'],
    ['liq', pair, 'eth'],
    ['kline', pair, 'k1', 'eth'],
    ['price', [`${pair}-eth`]],
  ]
  return topics[nth % topics.length] as unknown[]
}

type Memory = { readonly bytes: number; readonly subscriptions: number }

/** The memory that its clients take in a server that does nothing else; looked at once in every slice. */
async function openHeld(
  server: MeasuredProcess,
  subscriptions: number,
  greeting: ClientPlan['greeting'],
): Promise<Side> {
  const port = (await server.hear()) as number
  // The first connections make what all others share.
  const first = await connectAll({ port, count: 50, greeting })
  for (const socket of first) socket.destroy()
  await sleep(200)
  const before = (await server.ask('memory')) as Memory
  const sockets = await connectAll({ port, count: IDLE_CONNECTIONS, greeting })
  for (const socket of sockets) socket.resume()
  return {
    slice: async (durationMs) => {
      await sleep(durationMs)
      const held = (await server.ask('memory')) as Memory
      const units = (held.bytes - before.bytes) / IDLE_CONNECTIONS
      const isComplete = sockets.every(({ closed }) => !closed) && held.subscriptions === subscriptions
      return isComplete ? { units } : { units, wrong: `${held.subscriptions} subscriptions are held` }
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await server.stop()
    },
  }
}

function startGateway(): MeasuredProcess {
  return new MeasuredProcess(new URL('sockets/gateway-sockets.ts', import.meta.url))
}

function startBare(mode: BareMode): MeasuredProcess {
  return new MeasuredProcess(new URL('sockets/bare-sockets.ts', import.meta.url), [mode])
}

function subscribe(id: number, params: unknown[]): object {
  return { jsonrpc: '2.0', id, method: 'subscribe', params }
}

function addressOf(index: number): string {
  return `0x${(index + 1).toString(16).padStart(40, '0')}`
}
