import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import type { Hex } from 'viem'
import { parse, stringify } from 'yaml'
import { Market } from '../../dev/market/market.ts'
import { loadConfig } from '../../src/config/load.ts'
import { Engine } from '../../src/engine/engine.ts'
import { engineSettings } from '../../src/engine/settings.ts'
import { connectLogs, type Logs } from '../../src/log/connect.ts'
import { chainSettings } from '../../src/roles/chain-settings.ts'
import { STATE_FORMAT } from '../../src/roles/engine.ts'
import { replayBlocks } from '../../src/roles/replay-blocks.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { openBlockArchive } from '../../src/store/clickhouse/block-archive.ts'
import { openStateStore } from '../../src/store/lmdb/state-store.ts'
import { decodeEnvelopeHead } from '../../src/wire/envelope-codec.ts'
import { memoryStore } from '../support/rigs/engine-run.ts'
import { readAll } from '../support/rigs/log-reading.ts'
import { Pipeline, RoleProcess } from '../support/rigs/pipeline.ts'
import { createTestCommon } from '../support/rigs/test-common.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { Scenario } from './scenario.ts'

const NAME = 'settings'
const CHAIN = 'local'

type ConfigTree = {
  data_dir: string
  chains: { local: { dexes?: readonly object[]; quote_assets?: readonly object[] } }
}

const common = createTestCommon()
let stack: Stack
let logs: Logs
let nats: NatsConnection
let manager: JetStreamManager
let scenario: Scenario
/** A second exchange with tokens of its own, in the same blocks. */
let second: Market
let token: Hex
let pair: string
let pipeline: Pipeline
let firstConfig: string
const engines: RoleProcess[] = []

before(async () => {
  stack = await startStack({ anvil: ['--no-mining', '--timestamp', '1750000000'] })
  nats = await connect({ servers: stack.natsUrls })
  manager = await jetstreamManager(nats)
  scenario = await Scenario.deploy(stack.rpcUrl)
  second = await Market.deploy(stack.rpcUrl)
  token = await second.createToken({ name: 'Second', symbol: 'SEC', decimals: 18, supply: 10n ** 27n })
  await second.addLiquidityNative(token, 10n ** 24n, 10n ** 20n)
  await second.mine()
  pair = (await second.pairOf(token, second.weth)).toLowerCase()
  pipeline = new Pipeline(
    stack,
    NAME,
    { finality_depth: 5 },
    { logs: { blocks: { max_age_seconds: 1 } }, snapshots: { every_seconds: 0 } },
  )
  firstConfig = readFileSync(pipeline.configFile, 'utf8')
  logs = await connectLogs(loadConfig(pipeline.configFile, {}).nats, common)
  await pipeline.start('reader', 'engine', 'writer', 'gateway')
  await startEngine('standby')
})

after(async () => {
  await Promise.all(engines.map((engine) => (engine.exitCode === null ? engine.kill('SIGKILL') : undefined)))
  await pipeline?.stop()
  await logs?.close()
  await nats?.close()
  await stack?.stop()
})

/** An engine with its own disk, and the file as it was at first. */
async function startEngine(name: string): Promise<RoleProcess> {
  const config = parse(firstConfig) as ConfigTree
  const file = join(pipeline.dir, `${name}.yaml`)
  writeFileSync(file, stringify({ ...config, data_dir: join(pipeline.dir, name) }))
  const engine = new RoleProcess('engine', file, join(pipeline.dir, `${name}.log`))
  engines.push(engine)
  await engine.ready()
  return engine
}

async function trade(blocks: number): Promise<void> {
  for (let block = 0; block < blocks; block++) {
    await second.buyWithNative(token, 10n ** 17n + BigInt(block))
    await scenario.tradeBlock()
  }
  await pipeline.reaches(`/v2/pairs/${scenario.tokenPair}-${CHAIN}`, await scenario.market.head())
}

test('an exchange and a quote asset enter with a restart of the reader alone', async () => {
  await trade(10)
  const unknown = await pipeline.get(`/v2/pairs/${pair}-${CHAIN}`)
  assert.match(JSON.stringify(unknown.body), /unknown_pair/)
  const config = parse(firstConfig) as ConfigTree
  const known = loadConfig(pipeline.configFile, {}).chains[CHAIN]
  assert.ok(known)
  const dexes = [...known.dexes, { amm: 'second_v2', protocol: 'uniswap_v2', factory: second.factory }]
  const quote_assets = [...known.quote_assets, { address: second.weth, kind: 'native' }]
  const chains = { local: { ...config.chains.local, dexes, quote_assets } }
  await pipeline.role('reader').kill('SIGTERM')
  writeFileSync(pipeline.configFile, stringify({ ...config, chains }))
  await pipeline.start('reader')
  await trade(10)
  const change = await pipeline.role('reader').logged('Settings change')
  const { added = [] } = change as { added?: string[] }
  assert.deepEqual(
    added.map((row) => row.split(' ').slice(0, 2).join(' ')),
    ['dex second_v2', 'quote asset'],
  )
  const { status, body } = await pipeline.get(`/v2/pairs/${pair}-${CHAIN}`)
  assert.equal(status, 200)
  assert.match(JSON.stringify(body), /second_v2/)
})

test('a reader that starts again with the same file repeats nothing', async () => {
  await pipeline.killAndRestart('reader')
  await trade(5)
  assert.deepEqual(pipeline.role('reader').linesOf('Settings change'), [])
})

test('a replay from the archive gives every change set again, byte for byte', async () => {
  const { clickhouse, chains } = loadConfig(join(pipeline.dir, 'standby.yaml'), {})
  const config = chains[CHAIN]
  assert.ok(config)
  await waitFor('the settings to leave the log', async () => {
    await trade(1)
    const { state } = await manager.streams.info(`${NAME}_BLOCKS_${CHAIN}`)
    return state.first_seq > 40 ? true : undefined
  })
  await pipeline.role('reader').kill('SIGTERM')
  const [blocks, changes] = await Promise.all([logs.open('BLOCKS', CHAIN), logs.open('CHANGES', CHAIN)])
  const until = await blocks.lastSequence()
  const archive = openBlockArchive(clickhouse)
  const engine = new Engine(engineSettings(CHAIN, chainSettings(config)), memoryStore())
  const folded: Uint8Array[] = []
  const kinds = new Map<string, number>()
  try {
    const { signal } = common.shutdown
    const parts = { chain: CHAIN, log: blocks, archive, logger: common.logger }
    for await (const { body, position } of replayBlocks(parts, { after: undefined, signal, until })) {
      const { kind } = decodeEnvelopeHead(body)
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
      folded.push(engine.apply(body, position.sequence))
    }
  } finally {
    await archive.close()
  }
  assert.equal(kinds.get('settings'), 2)
  await waitFor('the last change set', async () =>
    (await changes.lastSequence()) >= folded.length ? true : undefined,
  )
  const published = (await readAll(changes)).map(({ body }) => Buffer.from(body).toString('base64'))
  assert.deepEqual(
    folded.map((body) => Buffer.from(body).toString('base64')),
    published,
  )
})

test('engine, standby, and an engine that replays the archive to an empty disk end in the same state', async () => {
  const replaying = await startEngine('replaying')
  await replaying.logged('Reading BLOCKS from the archive')
  await Promise.all([pipeline.role('engine'), ...engines].map((engine) => engine.kill('SIGTERM')))
  const end = await (await logs.open('BLOCKS', CHAIN)).lastSequence()
  const folders = ['data', 'standby', 'replaying'].map((name) => join(pipeline.dir, name, 'engine', CHAIN))
  const states = []
  for (const dir of folders) {
    const store = openStateStore({ dir, format: STATE_FORMAT })
    assert.equal(store.position?.sequence, end, dir)
    states.push(Array.from(store.entries(), ([key, value]) => [key, Buffer.from(value).toString('base64')]))
    await store.close()
  }
  assert.deepEqual(states[1], states[0])
  assert.deepEqual(states[2], states[0])
})
