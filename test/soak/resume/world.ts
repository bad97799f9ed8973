import { join } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { loadConfig } from '../../../src/config/load.ts'
import type { ChangeSet } from '../../../src/domain/change.ts'
import type { LogPosition } from '../../../src/domain/log-position.ts'
import type { Common } from '../../../src/lib/common.ts'
import { Shutdown } from '../../../src/lib/shutdown.ts'
import { connectLogs } from '../../../src/log/connect.ts'
import { type Stack, startStack } from '../../../src/sandbox/servers/stack.ts'
import { openHistoryStore } from '../../../src/store/clickhouse/history-store.ts'
import { migrate } from '../../../src/store/clickhouse/migrate.ts'
import { type HotStore, openHotStore } from '../../../src/store/redis/hot-store.ts'
import { encodeChangeSet } from '../../../src/wire/change-codec.ts'
import { putTestKey, TEST_PLANS } from '../../support/builders/test-key.ts'
import { latestOf, rowsOfSets } from '../../support/reference/rows-of-sets.ts'
import { Pipeline, RoleProcess } from '../../support/rigs/pipeline.ts'
import { CHAIN } from './subject.ts'

const NAME = 'resume'
const GATEWAYS = 2
const SETS_PER_WRITE = 200
/** Replays have their default limits, so that they queue. */
const PLAN = { ...TEST_PLANS.default, sockets: { connections: 10_000 } }

type Publisher = { publish(body: Uint8Array): Promise<LogPosition> }
type Published = { readonly set: ChangeSet; readonly position: LogPosition }

/** Real servers and two gateway processes. The soak itself plays the engine (`publish`) and the writer (`store`). */
export class ResumeWorld {
  readonly #stack: Stack
  readonly #pipeline: Pipeline
  readonly #common: Common
  readonly #publisher: Publisher
  readonly #store: HotStore
  readonly #gateways: RoleProcess[] = []
  #unstored: Published[] = []
  readonly #all: Published[] = []
  /** Sum over the gateways that were killed. */
  #conflations = 0

  private constructor(
    parts: { stack: Stack; pipeline: Pipeline; common: Common },
    publisher: Publisher,
    store: HotStore,
  ) {
    this.#stack = parts.stack
    this.#pipeline = parts.pipeline
    this.#common = parts.common
    this.#publisher = publisher
    this.#store = store
  }

  static async start(): Promise<ResumeWorld> {
    const stack = await startStack({ services: ['nats', 'redis', 'clickhouse'] })
    const { natsUrls, redisUrl, clickhouseUrl } = stack
    // No reader runs.
    const rpcUrl = 'http://127.0.0.1:1'
    const pipeline = new Pipeline(
      { natsUrls, redisUrl, clickhouseUrl, rpcUrl },
      NAME,
      {},
      {
        plans: { default: PLAN },
      },
    )
    const logger = pino({ level: 'silent' })
    const common: Common = { logger, metrics: new Registry(), shutdown: new Shutdown(logger) }
    const config = loadConfig(pipeline.configFile, {})
    await migrate(config.clickhouse, common)
    const store = await openHotStore(config.redis, common)
    common.shutdown.onClose('hot store', () => store.close())
    const logs = await connectLogs(config.nats, common)
    common.shutdown.onClose('log', () => logs.close())
    await putTestKey(logs)
    const publisher = await (await logs.open('CHANGES', CHAIN)).openPublisher()
    return new ResumeWorld({ stack, pipeline, common }, publisher, store)
  }

  async startGateways(): Promise<void> {
    for (let index = 0; index < GATEWAYS; index++) this.#gateways.push(this.#spawn(index))
    await Promise.all(this.#gateways.map((gateway) => gateway.ready()))
  }

  async urls(): Promise<string[]> {
    const lines = await Promise.all(this.#gateways.map((gateway) => gateway.logged('Gateway listening')))
    return lines.map(({ port }) => `ws://127.0.0.1:${port}`)
  }

  /** Kills a gateway and starts another in its place. */
  async killGateway(index: number): Promise<void> {
    const place = index % GATEWAYS
    this.#conflations += await conflationsOf(this.#gateways[place])
    await this.#gateways[place]?.kill('SIGKILL')
    const gateway = this.#spawn(place)
    this.#gateways[place] = gateway
    await gateway.ready()
  }

  /** Candles that the gateways conflated for slow clients, as their metrics report. */
  async conflations(): Promise<number> {
    const counts = await Promise.all(this.#gateways.map(conflationsOf))
    return counts.reduce((sum, count) => sum + count, this.#conflations)
  }

  /** Subscriptions at all gateways. */
  async subscriptions(): Promise<number> {
    const counts = await Promise.all(this.#gateways.map((gateway) => metricOf(gateway, '_subscriptions')))
    return counts.reduce((sum, count) => sum + count, 0)
  }

  async publish(set: ChangeSet): Promise<void> {
    const position = await this.#publisher.publish(encodeChangeSet(set))
    this.#unstored.push({ set, position })
    this.#all.push({ set, position })
  }

  /** Writes the change sets published since the last call to Redis. */
  async store(): Promise<void> {
    const last = this.#unstored.at(-1)
    if (last === undefined) return
    const sets = this.#unstored.map(({ set }) => set)
    this.#unstored = []
    const { seq, head, finalNumber } = last.set
    await this.#store.apply(latestOf(sets), {
      chain: CHAIN,
      seq,
      ...head,
      finalNumber,
      position: last.position,
    })
  }

  /** Writes everything to ClickHouse, truncates CHANGES to its last message and restarts the gateways, so that replays read history. */
  async truncateLog(): Promise<void> {
    const last = this.#all.at(-1)
    if (last === undefined) return
    const { clickhouse, nats } = loadConfig(this.#pipeline.configFile, {})
    const history = openHistoryStore(clickhouse, this.#common)
    for (let from = 0; from < this.#all.length; from += SETS_PER_WRITE) {
      await history.write(rowsOfSets(this.#all.slice(from, from + SETS_PER_WRITE).map(({ set }) => set)))
    }
    const { seq, head, finalNumber } = last.set
    await history.commit({ chain: CHAIN, seq, ...head, finalNumber, position: last.position })
    await history.close()
    const connection = await connect({ servers: [...nats.urls] })
    // Truncating a long stream is slow.
    const manager = await jetstreamManager(connection, { timeout: 60_000 })
    for await (const { config } of manager.streams.list()) {
      if (!config.name.includes('CHANGES')) continue
      await manager.streams.update(config.name, { ...config, max_msgs: 1 })
      await manager.streams.update(config.name, { ...config, max_msgs: -1 })
    }
    await connection.close()
    for (let index = 0; index < GATEWAYS; index++) await this.killGateway(index)
  }

  async stop(): Promise<void> {
    await Promise.all(this.#gateways.map((gateway) => gateway.kill('SIGKILL')))
    await this.#common.shutdown.finish()
    await this.#pipeline.stop()
    await this.#stack.stop()
  }

  #spawn(index: number): RoleProcess {
    const { configFile, dir } = this.#pipeline
    return new RoleProcess('gateway', configFile, join(dir, `gateway-${index}.log`))
  }
}

function conflationsOf(gateway: RoleProcess | undefined): Promise<number> {
  return metricOf(gateway, '_conflations_total')
}

async function metricOf(gateway: RoleProcess | undefined, ending: string): Promise<number> {
  const line = await gateway?.logged('Admin server listening')
  const metrics = await (await fetch(`http://127.0.0.1:${line?.admin_port}/metrics`)).text()
  const [, count] = new RegExp(`^\\w+${ending} (\\d+)$`, 'm').exec(metrics) ?? []
  if (count === undefined) throw new Error(`the gateway does not report ${ending}`)
  return Number(count)
}
