import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type DestinationStream, pino } from 'pino'
import { Registry } from 'prom-client'
import { WebSocket } from 'ws'
import { loadConfig } from '../../../src/config/load.ts'
import type { Config } from '../../../src/config/schema.ts'
import type { ChainHead } from '../../../src/domain/chain-head.ts'
import type { Change, ChangeSet } from '../../../src/domain/change.ts'
import { FIRST_GENERATIONS, type Generation, storedName } from '../../../src/domain/generation.ts'
import type { LogPosition } from '../../../src/domain/log-position.ts'
import type { Common } from '../../../src/lib/common.ts'
import { Shutdown } from '../../../src/lib/shutdown.ts'
import { connectLogs, type Logs } from '../../../src/log/connect.ts'
import { startGateway } from '../../../src/roles/gateway.ts'
import type { RunningRole } from '../../../src/roles/role.ts'
import { type Stack, startStack } from '../../../src/sandbox/servers/stack.ts'
import { type HistoryStore, openHistoryStore } from '../../../src/store/clickhouse/history-store.ts'
import { migrate } from '../../../src/store/clickhouse/migrate.ts'
import { type HotStore, openHotStore } from '../../../src/store/redis/hot-store.ts'
import { encodeChangeSet } from '../../../src/wire/change-codec.ts'
import { sampleSet, USDC, WETH } from '../builders/market-samples.ts'
import { API_KEY, putTestKey, TEST_PLANS } from '../builders/test-key.ts'
import { latestOf, rowsOfSets } from '../reference/rows-of-sets.ts'

/** Far longer than anything takes, also on a machine that is busy with other tests. */
const MESSAGE_MS = 30_000

export { API_KEY }

type Published = { readonly set: ChangeSet; readonly position: LogPosition }

const FIRST = FIRST_GENERATIONS.serving

/** Real NATS and Redis; the test stands for the engine (it publishes) and for the writer (it stores). */
export class GatewayWorld {
  readonly stack: Stack
  readonly common: Common
  readonly store: HotStore
  readonly logs: Logs
  readonly #publishers = new Map<string, { publish(body: Uint8Array): Promise<LogPosition> }>()
  readonly #published = new Map<string, Published[]>()

  /** Only if it was asked for. */
  readonly history: HistoryStore | undefined

  private constructor(
    stack: Stack,
    common: Common,
    store: HotStore,
    logs: Logs,
    history: HistoryStore | undefined,
  ) {
    this.history = history
    this.stack = stack
    this.common = common
    this.store = store
    this.logs = logs
  }

  /** Serves the chain `solana` too. */
  #hasSolana = false

  static async start({ withHistory = false, withSolana = false } = {}): Promise<GatewayWorld> {
    const stack = await startStack({
      services: ['nats', 'redis', ...(withHistory ? ['clickhouse' as const] : [])],
    })
    const common = makeCommon()
    const config = makeConfig(stack, { withSolana })
    const store = await openHotStore(config.redis, common)
    common.shutdown.onClose('hot store', () => store.close())
    const logs: Logs = await connectLogs(config.nats, common)
    common.shutdown.onClose('log', () => logs.close())
    await putTestKey(logs)
    if (withHistory) await migrate(config.clickhouse, common)
    const history = withHistory ? openHistoryStore(config.clickhouse, common) : undefined
    if (history !== undefined) common.shutdown.onClose('history', () => history.close())
    const world = new GatewayWorld(stack, common, store, logs, history)
    world.#hasSolana = withSolana
    for (const chain of Object.keys(config.chains)) {
      world.#publishers.set(chain, await (await logs.open('CHANGES', chain)).openPublisher())
      world.#published.set(chain, [])
    }
    return world
  }

  async publish(
    changes: readonly Change[],
    overrides: Partial<ChangeSet> = {},
    generation: Generation = FIRST,
  ): Promise<ChangeSet> {
    const chain = overrides.chain ?? 'eth'
    const name = storedName(chain, generation)
    const published = this.#published.get(name) ?? []
    this.#published.set(name, published)
    const publisher =
      this.#publishers.get(name) ?? (await (await this.logs.openChanges(chain, generation)).openPublisher())
    this.#publishers.set(name, publisher)
    const set = sampleSet(published.length + 1, changes, overrides)
    published.push({ set, position: await publisher.publish(encodeChangeSet(set)) })
    return set
  }

  /** The change sets of a generation. */
  setsOf(generation: Generation, chain = 'eth'): ChangeSet[] {
    return (this.#published.get(storedName(chain, generation)) ?? []).map(({ set }) => set)
  }

  /** Puts everything published so far into the stores. */
  async storeAll(chain = 'eth', generation: Generation = FIRST): Promise<void> {
    const name = storedName(chain, generation)
    const published = this.#published.get(name) ?? []
    const last = published.at(-1)
    if (last === undefined) return
    const { seq, head, finalNumber } = last.set
    const stored: ChainHead = { chain: name, seq, ...head, finalNumber, position: last.position }
    const sets = published.map(({ set }) => ({ ...set, chain: name }))
    await this.history?.write(rowsOfSets(sets))
    await this.history?.commit(stored)
    await this.store.apply(latestOf(sets), stored)
  }

  async startGateway(
    plans: object = {},
    settings: object = {},
    natsUrls: string[] = this.stack.natsUrls,
  ): Promise<Gateway> {
    const lines: string[] = []
    const common = makeCommon({ write: (line) => void lines.push(line) })
    const config = makeConfig(this.stack, {
      ...{ plans, gateway: settings, natsUrls },
      withSolana: this.#hasSolana,
    })
    const role = await startGateway(config, common)
    const listening = lines
      .map((line) => JSON.parse(line) as { msg: string; port: number })
      .find(({ msg }) => msg === 'Gateway listening')
    assert.ok(listening !== undefined)
    const gateway = new Gateway(listening.port, role, common, lines)
    await waitUntil('the gateway is ready', () => role.readiness() === undefined)
    return gateway
  }

  async stop(): Promise<void> {
    await this.common.shutdown.finish()
    await this.stack.stop()
  }
}

export class Gateway {
  readonly url: string
  readonly port: number
  readonly role: RunningRole
  readonly common: Common
  readonly logLines: readonly string[]

  constructor(port: number, role: RunningRole, common: Common, logLines: readonly string[]) {
    this.port = port
    this.url = `http://127.0.0.1:${port}`
    this.role = role
    this.common = common
    this.logLines = logLines
  }

  async get(path: string, headers: Record<string, string> = { 'x-api-key': API_KEY }) {
    return readAnswer(await fetch(`${this.url}${path}`, { headers }))
  }

  async post(path: string, body: unknown, headers: Record<string, string> = {}) {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const all = { 'x-api-key': API_KEY, 'content-type': 'application/json', ...headers }
    return readAnswer(await fetch(`${this.url}${path}`, { method: 'POST', body: text, headers: all }))
  }

  /** Waits until answers are made with this set. */
  async applied(set: ChangeSet): Promise<void> {
    await waitUntil(`block ${set.head.number} of ${set.chain}`, async () => {
      const { headers } = await this.get(`/v2/pairs/0x${'0'.repeat(40)}-${set.chain}`)
      return Number(headers['x-block']) >= set.head.number
    })
  }

  async metric(name: string, labels: Record<string, string> = {}): Promise<number | undefined> {
    const metric = await this.common.metrics.getSingleMetric(name)?.get()
    const wanted = Object.entries(labels)
    return metric?.values.find((entry) =>
      wanted.every(([key, value]) => String((entry.labels as Record<string, unknown>)[key]) === value),
    )?.value
  }

  connect(headers: Record<string, string> = { 'x-api-key': API_KEY }): Promise<Client> {
    return Client.connect(`ws://127.0.0.1:${this.port}/ws`, headers)
  }

  async stop(): Promise<void> {
    await this.common.shutdown.finish()
    await this.role.done
  }
}

type Received = { readonly message: unknown; readonly atMs: number }

/** A WebSocket client that keeps what it receives until it is asked for. */
export class Client {
  readonly socket: WebSocket
  readonly closed: Promise<[number, string]>
  readonly #received: Received[] = []
  readonly #waiting: ((received: Received) => void)[] = []

  private constructor(socket: WebSocket) {
    this.socket = socket
    this.closed = new Promise((resolve) => {
      socket.once('close', (code, reason) => resolve([code, reason.toString()]))
    })
    socket.on('message', (data) => {
      const received: Received = { message: JSON.parse(data.toString()), atMs: Date.now() }
      const taker = this.#waiting.shift()
      if (taker === undefined) this.#received.push(received)
      else taker(received)
    })
  }

  static async connect(url: string, headers: Record<string, string>): Promise<Client> {
    const client = new Client(new WebSocket(url, { headers }))
    await once(client.socket, 'open')
    return client
  }

  send(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message))
  }

  /** Received, but not asked for yet. */
  get waiting(): number {
    return this.#received.length
  }

  /** The next message; a push's `sent_time` is checked and then shown as 0, so that whole values compare. */
  async next(): Promise<unknown> {
    const { message, atMs } = this.#received.shift() ?? (await this.#wait())
    if (typeof message === 'object' && message !== null && 'sent_time' in message) {
      assert.ok(Math.abs(Number(message.sent_time) - atMs) < 10_000)
      message.sent_time = 0
    }
    return message
  }

  async take(count: number): Promise<unknown[]> {
    const messages: unknown[] = []
    while (messages.length < count) messages.push(await this.next())
    return messages
  }

  async request(id: number, method: string, params: unknown): Promise<unknown> {
    this.send({ jsonrpc: '2.0', id, method, params })
    return this.next()
  }

  async close(): Promise<void> {
    this.socket.close()
    await this.closed
  }

  #wait(): Promise<Received> {
    return new Promise((resolve, reject) => {
      // Made here, so that its stack names the caller.
      const lost = new Error('no message came')
      const overdue = setTimeout(() => reject(lost), MESSAGE_MS)
      this.#waiting.push((received) => {
        clearTimeout(overdue)
        resolve(received)
      })
    })
  }
}

export async function waitUntil(what: string, check: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + MESSAGE_MS
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error(`waited too long until ${what}`)
    await sleep(10)
  }
}

async function readAnswer(response: Response) {
  const text = await response.text()
  const body: unknown = text === '' ? undefined : JSON.parse(text)
  return { status: response.status, headers: Object.fromEntries(response.headers), body }
}

function makeCommon(destination?: DestinationStream): Common {
  const logger = destination === undefined ? pino({ level: 'silent' }) : pino({ level: 'info' }, destination)
  return { logger, metrics: new Registry(), shutdown: new Shutdown(logger) }
}

type GatewaySettings = {
  readonly plans?: object | undefined
  readonly gateway?: object | undefined
  readonly natsUrls?: string[] | undefined
  readonly withSolana?: boolean
}

/** Made by the real loader, so that settings that tests do not care about have their defaults. */
function makeConfig(
  stack: Stack,
  { plans = {}, gateway = {}, natsUrls = stack.natsUrls, withSolana = false }: GatewaySettings,
): Config {
  const chain = {
    family: 'evm',
    chain_id: 1,
    rpc_urls: ['http://127.0.0.1:1'],
    lockers: [`0x${'10'.repeat(20)}`],
    quote_assets: [
      { address: USDC, kind: 'stable' },
      { address: WETH, kind: 'native' },
    ],
    dexes: [{ amm: 'uniswap_v2', protocol: 'uniswap_v2', factory: `0x${'0'.repeat(40)}` }],
  }
  const file = join(stack.dataDir, 'gateway-test.yaml')
  const settings = {
    nats: { urls: natsUrls, prefix: 'gatewaytest' },
    redis: { url: stack.redisUrl, prefix: 'gatewaytest' },
    ...(stack.services.includes('clickhouse')
      ? { clickhouse: { url: stack.clickhouseUrl, database: 'gatewaytest' } }
      : {}),
    gateway: { port: 0, ...gateway },
    plans: { ...TEST_PLANS, ...plans },
    chains: { eth: chain, bsc: chain, ...(withSolana && { solana: { rpc_urls: chain.rpc_urls } }) },
  }
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(settings))
  return loadConfig(file, {})
}
