import { setTimeout as sleep } from 'node:timers/promises'
import { Listener } from './listener.ts'
import { CHAIN } from './settings.ts'

/** Clients, some of which stop reading on command. */
export type ReadersStart = {
  readonly port: number
  readonly apiKey: string
  readonly pairs: readonly string[]
  readonly clients: number
  /** Half of them listen to swaps, half to candles. */
  readonly slow: number
}

export type ReadersOrder = 'measure' | 'stop reading' | 'read again'

export type ReadersReport = {
  /** Figures of all others since the last report. */
  readonly latencyP99Ms: number
  readonly latencyP50Ms: number
  readonly pushes: number
  readonly faults: readonly string[]
  /** How each slow reader of swaps, and of candles, stands. */
  readonly slowSwaps: Readonly<Record<string, number>>
  readonly slowCandles: Readonly<Record<string, number>>
}

const AT_ONCE = 50
/** Fewer than one address may have. */
const CLIENTS_PER_ADDRESS = 100
/** For what was waiting, and the goodbye behind it: on a busy machine megabytes take their time. */
const AGAIN_MS = 4_000
const MAX_AGAIN_MS = 60_000

const start = JSON.parse(process.argv[2] ?? '{}') as ReadersStart
let latencies: number[] = []
let faults: string[] = []

const outcomes = new Map<number, string>()

async function open(index: number): Promise<Listener> {
  const { port, apiKey, pairs } = start
  const localAddress = `127.0.2.${1 + Math.floor(index / CLIENTS_PER_ADDRESS)}`
  const isSlow = index < start.slow
  const listener = await Listener.open(
    { port, apiKey, localAddress },
    (ms) => {
      if (!isSlow) latencies.push(ms)
    },
    (fault) => {
      if (isSlow) outcomes.set(index, fault.slice(0, 'closed 4408'.length))
      else faults.push(`client ${index}: ${fault}`)
    },
  )
  listener.subscribe([['tx', pairs[index % pairs.length], CHAIN]])
  return listener
}

const listeners: Listener[] = []
while (listeners.length < start.clients) {
  const group = Array.from(
    { length: Math.min(AT_ONCE, start.clients - listeners.length) },
    (_, at) => listeners.length + at,
  )
  listeners.push(...(await Promise.all(group.map(open))))
}

function report(): ReadersReport {
  const sorted = latencies.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN
  const report = {
    ...{ latencyP99Ms: at(0.99), latencyP50Ms: at(0.5), pushes: sorted.length, faults },
    ...{ slowSwaps: standing(0), slowCandles: standing(1) },
  }
  latencies = []
  faults = []
  return report
}

function standing(rest: number): Record<string, number> {
  const counts: Record<string, number> = {}
  for (let index = rest; index < start.slow; index += 2) {
    const what = outcomes.get(index) ?? 'open'
    counts[what] = (counts[what] ?? 0) + 1
  }
  return counts
}

/**
 * It subscribes to much and then reads none of it. Before that it received little: the kernel would buffer tens of
 * megabytes for a client that has read much.
 */
function stopReading(index: number, listener: Listener): void {
  const { pairs } = start
  if (index % 2 === 0) listener.subscribe(pairs.map((pair) => ['tx', pair, CHAIN]))
  else listener.subscribe([['multi_kline', ...pairs.map((pair) => [pair, 'k1', CHAIN])]])
  listener.pause()
  // Readers of candles stay open for as long as readers of swaps take to be closed, which may be minutes on a busy machine.
  if (index % 2 === 1) listener.keepAlive()
}

async function obey(order: ReadersOrder): Promise<void> {
  const slow = listeners.slice(0, start.slow)
  if (order === 'stop reading') for (const [index, each] of slow.entries()) stopReading(index, each)
  if (order === 'read again') {
    for (const each of slow) each.resume()
    const endsAt = performance.now() + MAX_AGAIN_MS
    await sleep(AGAIN_MS)
    while (standing(0)['open'] !== undefined && performance.now() < endsAt) await sleep(100)
  }
  process.send?.(report())
}

process.on('message', (order: ReadersOrder) => void obey(order))
// The parent is gone.
process.on('disconnect', () => process.exit())
process.send?.('ready')
