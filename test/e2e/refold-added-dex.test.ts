import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { createClient } from '@clickhouse/client'
import { type Hex, toEventSelector } from 'viem'
import { parse, stringify } from 'yaml'
import { Market } from '../../dev/market/market.ts'
import { rangeAround, sqrtPrice, UniswapV3, type V3Pool } from '../../dev/market/uniswap-v3.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { Config } from '../../src/config/schema.ts'
import { type Generation, storedName } from '../../src/domain/generation.ts'
import { connectLogs, type Logs } from '../../src/log/connect.ts'
import type { Generations } from '../../src/log/generations.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { type BlockArchive, openBlockArchive } from '../../src/store/clickhouse/block-archive.ts'
import { openHistoryStore } from '../../src/store/clickhouse/history-store.ts'
import { decodeEnvelopeHead } from '../../src/wire/envelope-codec.ts'
import { withoutHoldings } from '../support/reference/same-facts.ts'
import { FaultyProxy } from '../support/rigs/faulty-proxy.ts'
import { readAll } from '../support/rigs/log-reading.ts'
import { Pipeline } from '../support/rigs/pipeline.ts'
import { createTestCommon } from '../support/rigs/test-common.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { FreshFold } from './fresh-fold.ts'
import { Scenario } from './scenario.ts'

/** Two exchanges trade unknown for a while; a refold reads their blocks from the node, and those alone. */

const NAME = 'added_dex'
const FRESH = 'fresh_dex'
const CHAIN = 'local'
const SUPPLEMENT = `${CHAIN}@2#`
const PATIENCE_MS = 120_000
const FIRST: Generation = { number: 1 }
const WETH_OF_POOL = 20n * 10n ** 18n

const common = createTestCommon()
let stack: Stack
let scenario: Scenario
/** A second Uniswap V2, with a wrapped native coin and a token of its own. */
let second: Market
let token: Hex
let v3: UniswapV3
let vee: Hex
let pool: V3Pool | undefined
let pipeline: Pipeline
let fresh: Pipeline | undefined
let config: Config
let logs: Logs
let generations: Generations
let archive: BlockArchive
let liar: FaultyProxy
let honest: FaultyProxy
let round = 0

before(async () => {
  stack = await startStack({ anvil: ['--no-mining', '--timestamp', '1750000000'] })
  scenario = await Scenario.deploy(stack.rpcUrl)
  const { market } = scenario
  second = await Market.deploy(stack.rpcUrl)
  token = await second.createToken({ name: 'Second', symbol: 'SEC', decimals: 18, supply: 10n ** 27n })
  await second.addLiquidityNative(token, 10n ** 24n, 10n ** 20n)
  v3 = await UniswapV3.deploy(market)
  vee = await market.createToken({ name: 'Vee', symbol: 'VEE', decimals: 18, supply: 10n ** 27n })
  await market.wrap(10n * WETH_OF_POOL)
  for (const each of [vee, market.weth])
    for (const spender of [v3.positions, v3.router]) await market.approve(each, spender)
  await market.mine()
  const { number } = await market.head()
  liar = await FaultyProxy.start(stack.rpcUrl, 0)
  honest = await FaultyProxy.start(stack.rpcUrl, 1)
  // The second V2 pool is older than the first block that is read, and the V3 pool younger.
  const chain = { finality_depth: 3, start_block: number + 1, read_ahead_blocks: 2 }
  pipeline = new Pipeline(stack, NAME, chain, { snapshots: { every_seconds: 0 } })
  config = loadConfig(pipeline.configFile, {})
  logs = await connectLogs(config.nats, common)
  generations = await logs.generations()
  archive = openBlockArchive(config.clickhouse)
  await pipeline.start('reader', 'engine', 'writer', 'gateway')
})

after(async () => {
  await Promise.all([pipeline?.stop(), fresh?.stop()])
  await Promise.all([liar?.close(), honest?.close()])
  await Promise.all([logs?.close(), archive?.close()])
  await stack?.stop()
})

/** The exchanges that are unknown at first trade in some of the blocks. */
async function trade(blocks: number): Promise<void> {
  for (let block = 0; block < blocks; block++, round++) {
    if (pool !== undefined && round % 3 === 0) {
      const tokenIn = round % 2 === 0 ? vee : scenario.market.weth
      await v3.sell(tokenIn, pool, 10n ** 17n + BigInt(round))
    }
    if (round % 4 === 1) await second.buyWithNative(token, 10n ** 17n + BigInt(round))
    await scenario.tradeBlock()
  }
}

async function openPool(): Promise<V3Pool> {
  const { weth } = scenario.market
  await v3.createPool(vee, weth, 3000, sqrtPrice(vee, 10n ** 18n, weth, 10n ** 16n))
  await scenario.tradeBlock()
  const opened = await v3.poolOf(vee, weth, 3000)
  const { tick } = await v3.slot0(opened)
  const range = rangeAround(tick, 60, 200)
  const amounts = opened.token0 === vee ? [10n ** 21n, WETH_OF_POOL] : [WETH_OF_POOL, 10n ** 21n]
  await v3.addLiquidity(opened, range, amounts[0] as bigint, amounts[1] as bigint)
  await scenario.tradeBlock()
  return opened
}

/** All that was mined is in this generation; returns the sequence in BLOCKS. */
async function written(of: Config, generation: Generation): Promise<number> {
  const { number } = await scenario.market.head()
  const history = openHistoryStore(of.clickhouse, common)
  try {
    const look = async (): Promise<number | undefined> => {
      // A writer that has just started may still be creating the tables.
      const marker = await history.marker(storedName(CHAIN, generation)).catch(() => undefined)
      return marker !== undefined && marker.number >= number ? marker.seq : undefined
    }
    return await waitFor(`block ${number} to be written`, look, PATIENCE_MS)
  } finally {
    await history.close()
  }
}

function changeChain(file: string, change: object): void {
  const found = parse(readFileSync(file, 'utf8')) as { chains: { local: object } }
  const chains = { local: { ...found.chains.local, ...change } }
  writeFileSync(file, stringify({ ...found, chains }))
}

/** The blocks before a number in which the added exchanges have logs, as the node has them. */
async function blocksWithLogs(before: number, from: number): Promise<number[]> {
  const signatures = [
    'event PairCreated(address indexed, address indexed, address, uint256)',
    'event Sync(uint112, uint112)',
    'event PoolCreated(address indexed, address indexed, uint24 indexed, int24, address)',
    'event Initialize(uint160, int24)',
    'event Mint(address, address indexed, int24 indexed, int24 indexed, uint128, uint256, uint256)',
    'event Swap(address indexed, address indexed, int256, int256, uint160, uint128, int24)',
  ]
  const address = [second.factory, await second.pairOf(token, second.weth), v3.factory, pool?.address]
  const hex = (number: number): string => `0x${number.toString(16)}`
  const topics = [signatures.map((each) => toEventSelector(each))]
  const filter = { address, topics, fromBlock: hex(from), toBlock: hex(before - 1) }
  const request = { jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params: [filter] }
  const answer = await fetch(stack.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
  })
  const { result } = (await answer.json()) as { result: { blockNumber: string }[] }
  return [...new Set(result.map(({ blockNumber }) => Number(blockNumber)))]
}

/** Numbers of the blocks in a supplement. */
async function supplementBlocks(attempt: number): Promise<number[]> {
  const client = createClient({ url: stack.clickhouseUrl, database: NAME })
  const query = `SELECT toUInt32(number) AS number FROM archived_blocks FINAL WHERE chain = '${SUPPLEMENT}${attempt}' ORDER BY seq`
  const rows = await (await client.query({ query, format: 'JSONEachRow' })).json<{ number: number }>()
  await client.close()
  return rows.map(({ number }) => number)
}

test('history of added exchanges is read from the blocks that have their logs, and served', async () => {
  await trade(6)
  pool = await openPool()
  await trade(40)
  await written(config, FIRST)
  const pair = (await second.pairOf(token, second.weth)).toLowerCase()
  for (const each of [pair, pool.address.toLowerCase()])
    assert.match(JSON.stringify((await pipeline.get(`/v2/pairs/${each}-${CHAIN}`)).body), /unknown_pair/)

  const known = config.chains[CHAIN]
  assert.ok(known)
  const dexes = [
    ...known.dexes,
    { amm: 'second_v2', protocol: 'uniswap_v2', factory: second.factory.toLowerCase() },
    { amm: 'added_v3', protocol: 'uniswap_v3', factory: v3.factory.toLowerCase() },
  ]
  const quote_assets = [...known.quote_assets, { address: second.weth.toLowerCase(), kind: 'native' }]
  await pipeline.role('reader').kill('SIGTERM')
  changeChain(pipeline.configFile, { dexes, quote_assets })
  await pipeline.start('reader')
  await trade(12)
  await written(config, FIRST)

  // The first attempt is killed in the middle, after some of its rows are there.
  changeChain(pipeline.configFile, { rpc_urls: [honest.url] })
  honest.fault = { kind: 'delay', delayMs: 150 }
  const { epoch } = await logs.open('BLOCKS', CHAIN)
  const killed = pipeline.spawnCommand('refold', CHAIN)
  await waitFor('the first rows', () => archive.end(`${SUPPLEMENT}1`, epoch), PATIENCE_MS)
  killed.kill('SIGKILL')
  honest.fault = { kind: 'none' }
  const { building, serving } = generations.of(CHAIN)
  assert.equal(serving.number, 1)
  assert.deepEqual(building?.supplement, { attempt: 1 })
  const copied = await supplementBlocks(1)

  // The second one has a node that alters receipts, and is asked first because it is the fastest.
  changeChain(pipeline.configFile, { rpc_urls: [liar.url, honest.url] })
  liar.fault = { kind: 'lie' }
  honest.fault = { kind: 'delay', delayMs: 50 }
  honest.methods.clear()
  const { code, output } = await pipeline.run('refold', CHAIN)
  assert.equal(code, 0, output)
  assert.match(output, /RPC endpoint returned invalid data/)
  const settingsAt = building?.settingsAt ?? 0
  const firstAfter = await archive.blockFrom(CHAIN, epoch, settingsAt, Number.MAX_SAFE_INTEGER)
  assert.ok(firstAfter)
  const { number: until } = decodeEnvelopeHead(firstAfter.body)
  const expected = await blocksWithLogs(until, known.start_block)
  assert.ok(copied.length > 0 && copied.length < expected.length, `${copied.length} of ${expected.length}`)
  assert.ok(expected.length < (until - known.start_block) / 1.5)
  assert.deepEqual(await supplementBlocks(2), expected)
  assert.equal(honest.methods.get('eth_getBlockReceipts'), expected.length - copied.length)
  for (const each of [pair, pool.address.toLowerCase()])
    await waitFor('the pairs to be served', async () => {
      const { status } = await pipeline.get(`/v2/pairs/${each}-${CHAIN}`)
      return status === 200 ? true : undefined
    })
})

test('a replay of the generation gives the same bytes, and its rows', async () => {
  await trade(6)
  const { serving } = generations.of(CHAIN)
  await written(config, serving)
  // Facts that it reads in the background would follow while the logs are compared.
  await pipeline.role('reader').kill('SIGTERM')
  const until = await (await logs.open('BLOCKS', CHAIN)).lastSequence()
  const replay = new FreshFold(stack, loadConfig(pipeline.configFile, {}), logs, CHAIN)
  await replay.written(serving, until)
  const sets = await replay.fold(serving, until, 'replayed')
  const changes = await logs.openChanges(CHAIN, serving)
  assert.deepEqual(
    (await readAll(changes)).map(({ body }) => Buffer.from(body).toString('base64')),
    sets.map((set) => Buffer.from(set).toString('base64')),
  )
  assert.deepEqual(await replay.rowsIn(`${CHAIN}@2`), await replay.rowsIn('replayed'))
})

test('rows equal those of a service that knew the exchanges from its first block on', async () => {
  fresh = new Pipeline(stack, FRESH, {}, { snapshots: { every_seconds: 0 } })
  const chain = (parse(readFileSync(pipeline.configFile, 'utf8')) as { chains: { local: object } }).chains
    .local
  changeChain(fresh.configFile, chain)
  changeChain(fresh.configFile, { rpc_urls: [stack.rpcUrl] })
  const freshConfig = loadConfig(fresh.configFile, {})
  await fresh.start('reader', 'engine', 'writer')
  await written(freshConfig, FIRST)
  const rowsOf = (of: Config, name: string) => new FreshFold(stack, of, logs, CHAIN).rowsIn(name)
  const [refolded, expected] = await Promise.all([rowsOf(config, `${CHAIN}@2`), rowsOf(freshConfig, CHAIN)])
  for (const table of ['trades', 'liquidity', 'candles', 'pairs', 'windows', 'tokens']) {
    const [ours, theirs] = [refolded, expected].map((rows) => rows[table]?.map(comparable))
    assert.ok((theirs?.length ?? 0) > 0, table)
    assert.deepEqual(ours, theirs, table)
  }
  const added = (expected['trades'] as { amm: string }[]).filter(({ amm }) => amm !== 'uniswap_v2')
  assert.ok(added.length > 20, String(added.length))
})

/** Sequences differ, and facts that are read in the background arrive with other blocks. */
function comparable(row: unknown): unknown {
  const own = row as Record<string, unknown>
  const { seq: _, ...rest } = withoutHoldings(own)
  if (!('supply_raw' in own)) return rest
  const fields = [
    'address',
    'name',
    'symbol',
    'decimals',
    'supply_raw',
    'price_usd',
    'price_native',
    'main_pair',
  ]
  return [...fields, 'tvl_usd', 'fdv_usd'].map((field) => own[field])
}
