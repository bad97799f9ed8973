import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { roleArgs } from '../../dev/main-args.ts'
import type { Change, ChangeSet, Token } from '../../src/domain/change.ts'
import { formatChainAddress } from '../../src/domain/ids.ts'
import { connectLogs } from '../../src/log/connect.ts'
import { freePorts } from '../../src/sandbox/servers/process.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { openHistoryStore } from '../../src/store/clickhouse/history-store.ts'
import { migrate } from '../../src/store/clickhouse/migrate.ts'
import { openHotStore } from '../../src/store/redis/hot-store.ts'
import { encodeChangeSet } from '../../src/wire/change-codec.ts'
import { API_KEY, putTestKey, TEST_PLANS } from '../../test/support/builders/test-key.ts'
import { latestOf } from '../../test/support/reference/rows-of-sets.ts'
import { makeSet } from '../stores/made-changes.ts'
import { historyOptions, silentCommon } from '../stores/opened.ts'
import { MeasuredProcess } from './measured-process.ts'

export const TOKENS = 200
/** The first token has as many, so that its answer is as long as one can be. */
export const PAIRS_OF_FIRST = 5
export const PREFIX = 'rest_bench'
const START_MS = 20_000
/** About what the key spends in a second: a realistic lease for a key with this rate. */
const LEASE_CU = 100_000

/** The gateway as it is started in earnest, over its three servers, with a market in Redis that stands still. */
export type BenchGateway = {
  readonly process: MeasuredProcess
  readonly stack: Stack
  readonly port: number
  readonly tokens: readonly Token[]
  /** As text, to be written to a socket. */
  request(method: 'GET' | 'POST', path: string, body?: string): string
  ask(method: 'GET' | 'POST', path: string, body?: string): Promise<Buffer>
  stop(): Promise<void>
}

export const idOf = ({ address }: Token): string => formatChainAddress(address, 'eth')

export async function openGateway(set = makeMarket(), running?: Stack): Promise<BenchGateway> {
  const stack = running ?? (await startStack({ services: ['nats', 'redis', 'clickhouse'] }))
  await store(stack, set)
  const [port = 0] = await freePorts(1)
  const gateway = new MeasuredProcess(roleArgs('gateway'), ['--config', writeConfig(stack, port)])
  const headers = { 'x-api-key': API_KEY }
  const json = { 'content-type': 'application/json' }
  const tokens = set.changes.flatMap((change) => (change.type === 'token' ? [change.token] : []))
  const ask: BenchGateway['ask'] = async (method, path, body) => {
    const all = body === undefined ? headers : { ...headers, ...json }
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: all,
      body: body ?? null,
    })
    const bytes = Buffer.from(await answer.arrayBuffer())
    if (answer.status !== 200) throw new Error(`${path} was answered ${answer.status}: ${bytes}`)
    return bytes
  }
  await waitForAnswer(() => ask('GET', `/v2/tokens/${tokens.map(idOf)[0]}`))
  return {
    ...{ process: gateway, stack, port, tokens, ask },
    request: (method, path, body) => {
      const lines = [`${method} ${path} HTTP/1.1`, 'host: 127.0.0.1', `x-api-key: ${API_KEY}`]
      if (body !== undefined) {
        lines.push('content-type: application/json', `content-length: ${Buffer.byteLength(body)}`)
      }
      return `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`
    },
    stop: async () => {
      await gateway.stop()
      await stack.stop()
    },
  }
}

function makeMarket(): ChangeSet {
  const made = makeSet(1, TOKENS)
  const [first] = made.changes.flatMap((change) => (change.type === 'token' ? [change.token.address] : []))
  let pairs = 0
  const changes = made.changes.flatMap((change): Change[] => {
    if (change.type === 'token') {
      // Above the default `tvl_min`.
      return [{ type: 'token', token: { ...change.token, tvlUsd: (change.token.tvlUsd ?? 0n) * 1_000_000n } }]
    }
    if (change.type === 'pair' && first !== undefined && pairs++ < PAIRS_OF_FIRST) {
      return [{ type: 'pair', pair: { ...change.pair, token0: { ...change.pair.token0, token: first } } }]
    }
    return change.type === 'pair' || change.type === 'windows' ? [change] : []
  })
  return { ...made, changes }
}

/** Does what engine and writer do. */
async function store(stack: Stack, set: ChangeSet): Promise<void> {
  const common = silentCommon()
  const nats = { urls: stack.natsUrls, prefix: PREFIX, replicas: 1, max_frame_bytes: 900_000 }
  const logs = await connectLogs(nats, common)
  const hot = await openHotStore({ url: stack.redisUrl, prefix: PREFIX }, common)
  const options = historyOptions(stack.clickhouseUrl, PREFIX)
  await migrate({ ...options, retention_days: {} }, common)
  const history = openHistoryStore(options, common)
  try {
    await putTestKey(logs)
    const publisher = await (await logs.open('CHANGES', set.chain)).openPublisher()
    const position = await publisher.publish(encodeChangeSet(set))
    const { chain, seq, head, finalNumber } = set
    const written = { chain, seq, ...head, finalNumber, position }
    await hot.apply(latestOf([set]), written)
    await history.commit(written)
  } finally {
    await Promise.all([logs.close(), hot.close(), history.close()])
  }
}

function writeConfig(stack: Stack, port: number): string {
  const file = join(stack.dataDir, 'gateway.yaml')
  const settings = {
    nats: { urls: stack.natsUrls, prefix: PREFIX },
    redis: { url: stack.redisUrl, prefix: PREFIX },
    clickhouse: { url: stack.clickhouseUrl, database: PREFIX },
    gateway: { port, lease_cu: LEASE_CU },
    admin: { gateway_port: 0 },
    plans: TEST_PLANS,
    chains: { eth: { rpc_urls: ['http://127.0.0.1:1'] } },
  }
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(settings))
  return file
}

async function waitForAnswer(ask: () => Promise<unknown>): Promise<void> {
  const deadline = performance.now() + START_MS
  for (;;) {
    try {
      await ask()
      return
    } catch (error) {
      if (performance.now() > deadline) throw error
      await sleep(50)
    }
  }
}
