import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { loadConfig } from '../../src/config/load.ts'
import { API_KEY_RANDOM_BYTES, formatApiKey } from '../../src/domain/api-key.ts'
import type { ChainHead } from '../../src/domain/chain-head.ts'
import type { ChangeSet } from '../../src/domain/change.ts'
import type { LogPosition } from '../../src/domain/log-position.ts'
import { digestOf, encodeKeyRecord } from '../../src/gateway/access/keys/key-record.ts'
import type { Common } from '../../src/lib/common.ts'
import { Shutdown } from '../../src/lib/shutdown.ts'
import { connectLogs, type Logs } from '../../src/log/connect.ts'
import { startStack } from '../../src/sandbox/servers/stack.ts'
import { type HistoryStore, openHistoryStore } from '../../src/store/clickhouse/history-store.ts'
import { migrate } from '../../src/store/clickhouse/migrate.ts'
import { type HotStore, openHotStore } from '../../src/store/redis/hot-store.ts'
import { encodeChangeSet } from '../../src/wire/change-codec.ts'
import { putTestKey, TEST_PLANS } from '../support/builders/test-key.ts'
import { latestOf } from '../support/reference/rows-of-sets.ts'
import { Pipeline, RoleProcess } from '../support/rigs/pipeline.ts'
import { settledMemory, Watch } from './figures.ts'
import type { AttackMarket } from './market.ts'
import { leaveGatewayCpu, placeBystander, placeGateway } from './priority.ts'
import {
  ALLOWED_ORIGIN,
  ATTACKER_CONNECTIONS,
  ATTACKER_SUBSCRIPTIONS,
  CHAIN,
  CONNECTIONS_PER_IP,
} from './settings.ts'

const NAME = 'attack'
/** Until then the gateway keeps what was published in memory. */
const COMMIT_EVERY_MS = 1_000
const SETTINGS = {
  gateway: {
    port: 0,
    connections_per_ip: CONNECTIONS_PER_IP,
    allowed_origins: [ALLOWED_ORIGIN],
    // Everybody here comes over the loopback, attackers and others.
    proxies: [],
  },
  plans: {
    ...TEST_PLANS,
    attacker: {
      requests_per_second: 1_000,
      sockets: { connections: ATTACKER_CONNECTIONS, subscriptions: ATTACKER_SUBSCRIPTIONS },
    },
  },
}

/** Real engines and one gateway, each a process; the test stands for the engine (it publishes) and the writer (it stores). */
export class AttackWorld {
  readonly market: AttackMarket
  readonly port: number
  readonly adminUrl: string
  readonly #gateway: RoleProcess
  readonly #stop: () => Promise<void>
  readonly #logs: Logs
  readonly #publish: (body: Uint8Array) => Promise<LogPosition>
  readonly #store: HotStore
  readonly #history: HistoryStore
  #publishing: Promise<void> | undefined
  #isOver = false

  private constructor(parts: {
    market: AttackMarket
    gateway: RoleProcess
    ports: { port: number; adminPort: number }
    logs: Logs
    store: HotStore
    history: HistoryStore
    publish: (body: Uint8Array) => Promise<LogPosition>
    stop: () => Promise<void>
  }) {
    this.market = parts.market
    this.port = parts.ports.port
    this.adminUrl = `http://127.0.0.1:${parts.ports.adminPort}`
    this.#gateway = parts.gateway
    this.#logs = parts.logs
    this.#store = parts.store
    this.#history = parts.history
    this.#publish = parts.publish
    this.#stop = parts.stop
  }

  static async start(market: AttackMarket): Promise<AttackWorld> {
    // No fsync per message: disk latency is not what an attack on the gateway changes.
    const stack = await startStack({ services: ['nats', 'redis', 'clickhouse'], natsSync: 'lazy' })
    const { natsUrls, redisUrl, clickhouseUrl } = stack
    const rpcUrl = 'http://127.0.0.1:1'
    const pipeline = new Pipeline({ natsUrls, redisUrl, clickhouseUrl, rpcUrl }, NAME, {}, SETTINGS)
    const logger = pino({ level: 'silent' })
    const common: Common = { logger, metrics: new Registry(), shutdown: new Shutdown(logger) }
    const config = loadConfig(pipeline.configFile, {})
    await migrate(config.clickhouse, common)
    const store = await openHotStore(config.redis, common)
    const logs = await connectLogs(config.nats, common)
    await putTestKey(logs)
    const publisher = await (await logs.open('CHANGES', CHAIN)).openPublisher()
    const publish = (body: Uint8Array): Promise<LogPosition> => publisher.publish(body)
    const history = openHistoryStore(config.clickhouse, common)
    await history.commit(await apply(store, market.first(), publish))
    const gateway = new RoleProcess('gateway', pipeline.configFile, join(pipeline.dir, 'gateway.log'))
    const stop = async (): Promise<void> => {
      await gateway.kill('SIGKILL')
      await Promise.all([store.close(), history.close()])
      await logs.close()
      await common.shutdown.finish()
      await pipeline.stop()
      await stack.stop()
    }
    const { port = 0 } = await gateway.logged('Gateway listening')
    const { admin_port: adminPort = 0 } = await gateway.logged('Admin server listening')
    await gateway.ready()
    if (gateway.pid !== undefined) placeGateway(gateway.pid)
    for (const name of ['nats', 'redis']) placeBystander(stack.pids[name] as number)
    leaveGatewayCpu(stack.pids['clickhouse'] as number)
    placeBystander(process.pid)
    return new AttackWorld({
      market,
      gateway,
      ports: { port, adminPort },
      logs,
      store,
      history,
      publish,
      stop,
    })
  }

  /** A key of the attackers' plan. */
  async attackerKey(nth: number): Promise<string> {
    const apiKey = formatApiKey(Buffer.alloc(API_KEY_RANDOM_BYTES, nth + 1))
    const secrets = [{ sha256: digestOf(apiKey) }]
    const id = `attacker${String(nth).padStart(4, '0')}`
    const record = { id, name: 'attacker', plan: 'attacker', created_at: 0, secrets }
    await (await this.#logs.openLatest('KEYS')).put(id, encodeKeyRecord(record))
    return apiKey
  }

  /** The market trades from here on, at this pace; what is published is stored soon after. */
  trade(setsPerSecond: number): void {
    let written: ChainHead | undefined
    const publish = async (): Promise<void> => {
      for (let due = performance.now(); !this.#isOver; due += 1_000 / setsPerSecond) {
        await sleep(Math.max(0, due - performance.now()))
        written = await apply(this.#store, this.market.next(), this.#publish)
      }
    }
    // In a loop of its own, so that a slow ClickHouse does not delay publishing.
    const commit = async (): Promise<void> => {
      while (!this.#isOver) {
        await sleep(COMMIT_EVERY_MS)
        if (written !== undefined) await this.#history.commit(written)
      }
    }
    this.#publishing = Promise.all([publish(), commit()]).then(() => undefined)
    // Reported when it is stopped; until then a failure must not count as unhandled.
    this.#publishing.catch(() => undefined)
  }

  /** Also measures how long these other processes wait for a CPU. */
  watch(bystanders: readonly number[] = []): Promise<Watch> {
    return Watch.begin(this.adminUrl, this.#pid, bystanders)
  }

  /** Until the gateway takes no more memory for what it is asked now. */
  settled(maxSeconds: number): Promise<void> {
    return settledMemory(this.#pid, maxSeconds)
  }

  get #pid(): number {
    if (this.#gateway.pid === undefined) throw new Error('the gateway does not run')
    return this.#gateway.pid
  }

  /** It would have ended at the first thing that it did not foresee. */
  get isAlive(): boolean {
    return this.#gateway.exitCode === null
  }

  async stop(): Promise<void> {
    this.#isOver = true
    try {
      await this.#publishing
    } finally {
      await this.#stop()
    }
  }
}

async function apply(
  store: HotStore,
  set: ChangeSet,
  publish: (body: Uint8Array) => Promise<LogPosition>,
): Promise<ChainHead> {
  const position = await publish(encodeChangeSet(set))
  const { seq, head, finalNumber } = set
  const written = { chain: CHAIN, seq, ...head, finalNumber, position }
  await store.apply(latestOf([set]), written)
  return written
}
