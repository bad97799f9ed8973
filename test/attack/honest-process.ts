import { setTimeout as sleep } from 'node:timers/promises'
import { Listener } from './listener.ts'
import { CHAIN, IS_SMOKE } from './settings.ts'

/** Well-behaved clients: they request, they listen, and new ones connect all the time. None of it may fail. */
export type HonestStart = {
  readonly port: number
  readonly apiKey: string
  readonly pairs: readonly string[]
  readonly tokens: readonly string[]
}

/** Ends a time span: every client must have received this set. */
export type HonestOrder = { readonly reach: number }

export type HonestReport = {
  readonly requests: number
  readonly pushes: number
  readonly newcomers: number
  readonly failures: number
  readonly shown: readonly string[]
  readonly requestMs: Quantiles
  readonly pushMs: Quantiles
}
export type Quantiles = { readonly p50: number; readonly p99: number }

const LISTENERS = 30
const REQUEST_MS = 25
const NEWCOMER_MS = 400
const PATIENCE_MS = 8_000
const SHOWN = 10
const LOCAL = '127.0.0.1'
const RUSH_ROUNDS = IS_SMOKE ? 1 : 4
const RUSH_VISITORS = 500

const start = JSON.parse(process.argv[2] ?? '{}') as HonestStart
const [pair = '', token = ''] = [start.pairs[0], start.tokens[0]]
const QUESTIONS: readonly (readonly [string, object?])[] = [
  [`/v2/pairs/${pair}-${CHAIN}`],
  [`/v2/tokens/${token}-${CHAIN}`],
  ['/v2/tokens/price', { token_ids: start.tokens.map((each) => `${each}-${CHAIN}`), tvl_min: 0 }],
  [`/v2/klines/pair/${pair}-${CHAIN}?interval=k1&limit=5`],
  ['/v2/chains'],
]

let failures = 0
let shown: string[] = []
let newcomers = 0
let requestMs: number[] = []
let pushMs: number[] = []

const fail = (what: string): void => {
  failures++
  if (shown.length < SHOWN) shown.push(what)
}

async function ask(nth: number): Promise<void> {
  const [path, body] = QUESTIONS[nth % QUESTIONS.length] as (typeof QUESTIONS)[number]
  const began = performance.now()
  try {
    const response = await fetch(`http://127.0.0.1:${start.port}${path}`, {
      headers: { 'x-api-key': start.apiKey, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    const text = await response.text()
    requestMs.push(performance.now() - began)
    if (response.status !== 200) fail(`${path}: ${response.status} ${text}`)
  } catch (error) {
    fail(`${path}: ${error} ${(error as Error).cause ?? ''}`)
  }
}

const options = { port: start.port, apiKey: start.apiKey, localAddress: LOCAL }
const tx = (index: number): readonly unknown[] => ['tx', start.pairs[index % start.pairs.length], CHAIN]

/** Connects, subscribes, waits for the first swap, and leaves. */
async function visit(nth: number): Promise<void> {
  const arrived = Promise.withResolvers<void>()
  const listener = await Listener.open(
    options,
    () => arrived.resolve(),
    (fault) => fail(`newcomer: ${fault}`),
  )
  listener.subscribe([tx(nth)])
  const hasArrived = await Promise.race([arrived.promise.then(() => true), sleep(PATIENCE_MS, false)])
  if (!hasArrived) fail('newcomer: no swap came')
  listener.leave()
  newcomers++
}

/** Warm-up: a gateway allocates memory under load, so growth can be measured only afterwards. */
async function rush(): Promise<void> {
  for (let round = 0; round < RUSH_ROUNDS; round++) {
    const visitors = await Promise.all(
      Array.from({ length: RUSH_VISITORS }, async (_, index) => {
        const localAddress = `127.0.3.${1 + (index % 10)}`
        const visitor = await Listener.open({ ...options, localAddress }, () => undefined, fail)
        visitor.subscribe([tx(index)])
        // They have other addresses, but this client has only one.
        if (index % 5 === 0) await ask(index)
        return visitor
      }),
    )
    await sleep(500)
    for (const visitor of visitors) visitor.leave()
    await sleep(300)
  }
}

await rush()
requestMs = []
const listeners = await Promise.all(
  Array.from({ length: LISTENERS }, async (_, index) => {
    const listener = await Listener.open(
      options,
      (ms) => pushMs.push(ms),
      (fault) => fail(`listener: ${fault}`),
    )
    const kline = ['kline', start.pairs[index % start.pairs.length], 'k1', CHAIN]
    listener.subscribe(index % 3 === 0 ? [tx(index), kline] : [tx(index)])
    return listener
  }),
)
let asked = 0
let visits = 0
setInterval(() => void ask(asked++), REQUEST_MS)
setInterval(() => void visit(visits++).catch((error: unknown) => fail(`newcomer: ${error}`)), NEWCOMER_MS)

async function report(reach: number): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  while (listeners.some(({ reached }) => reached < reach) && performance.now() < deadline) await sleep(10)
  const late = listeners.filter(({ reached }) => reached < reach).length
  if (late > 0) fail(`${late} listeners did not receive set ${reach}`)
  const report: HonestReport = {
    ...{ requests: requestMs.length, pushes: pushMs.length, newcomers, failures, shown },
    ...{ requestMs: quantiles(requestMs), pushMs: quantiles(pushMs) },
  }
  failures = newcomers = 0
  shown = []
  requestMs = []
  pushMs = []
  process.send?.(report)
}

function quantiles(values: readonly number[]): Quantiles {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99) }
}

process.on('message', ({ reach }: HonestOrder) => void report(reach))
// The parent is gone.
process.on('disconnect', () => process.exit())
process.send?.('ready')
