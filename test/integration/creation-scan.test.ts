import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Hex, zeroAddress } from 'viem'
import { compile } from '../../dev/market/artifacts.ts'
import { Market } from '../../dev/market/market.ts'
import { CreationScan } from '../../src/chain/evm/facts/creation-scan.ts'
import { createEvmRpc } from '../../src/chain/evm/rpc/rpc.ts'
import { DexRegistry } from '../../src/dex/registry.ts'
import type { DexDeployment } from '../../src/domain/chain-settings.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { openPoolIndex, type PoolIndex } from '../../src/store/lmdb/pool-index.ts'
import { createTestCommon } from '../support/rigs/test-common.ts'

/** 200000 for the figures in docs/operations.md. */
const DORMANT = Number(process.env['CHAINTAPE_DORMANT_POOLS'] ?? 10_000)
const PER_TRANSACTION = DORMANT / 25
const ANNOUNCER = compile('ManyPairs', new URL('../support/tokens/ManyPairs.sol', import.meta.url))
const MANAGER = compile('TestTokenManager2', new URL('../e2e/TestLaunchpads.sol', import.meta.url))
const QUOTE = '0x9999999999999999999999999999999999999999'
const SMALL = { firstSpan: 3, maxSpan: 4, retryMs: 10 }

let stack: Stack
let market: Market
let announcer: Hex
const dirs: string[] = []

before(async () => {
  stack = await startStack({ services: ['anvil'], anvil: ['--no-mining', '--gas-limit', '60000000'] })
  market = await Market.deploy(stack.rpcUrl)
  announcer = await market.deploy(ANNOUNCER, [])
  for (let n = 0; n < DORMANT; n += PER_TRANSACTION) {
    const args = [QUOTE, n, PER_TRANSACTION]
    await market.send({ to: announcer, abi: ANNOUNCER.abi, name: 'announce', args, gas: 50_000_000n })
    await market.mine()
  }
})

after(async () => {
  await stack?.stop()
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true })
})

function newDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'chaintape-pools-'))
  dirs.push(dir)
  return dir
}

type Run = {
  readonly index: PoolIndex
  readonly upTo: number
  readonly stopAfter?: number
  readonly platforms?: readonly DexDeployment[]
}

type Scanned = {
  /** To the node, of any kind. */
  readonly requests: number
  /** Blocks whose creation events were read. */
  readonly blocks: readonly number[]
}

/** Scans until it is done, or after some ranges. */
async function scan(
  { index, upTo, stopAfter = Number.POSITIVE_INFINITY, platforms = [] }: Run,
  settings = {},
): Promise<Scanned> {
  const { logger } = createTestCommon()
  const stop = new AbortController()
  const { signal } = stop
  let requests = 0
  const ranges: [from: number, to: number][] = []
  const rpc = createEvmRpc({
    urls: [stack.rpcUrl],
    chainId: 31_337,
    logger,
    signal,
    metrics: { answered: () => requests++, up: () => undefined },
  })
  const dexes = [
    { amm: 'many', protocol: 'uniswap_v2', factory: announcer.toLowerCase() },
    // Nothing was announced here: it is part of the same requests.
    { amm: 'uniswap_v2', protocol: 'uniswap_v2', factory: market.factory.toLowerCase() },
    ...platforms,
  ]
  await new CreationScan({
    nodes: {
      verified: (ask) =>
        rpc.verified((node) =>
          ask({
            ...node,
            pastLogs: async (filter) => {
              const logs = await node.pastLogs(filter)
              ranges.push([filter.from, filter.to])
              return logs
            },
          }),
        ),
    },
    index,
    registry: new DexRegistry(dexes),
    upTo: () => upTo,
    logger,
    signal,
    onProgress: () => {
      if (ranges.length >= stopAfter) stop.abort()
    },
    settings,
  }).run()
  const blocks = ranges.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, at) => from + at))
  return { requests, blocks }
}

function pairAt(n: number): string {
  return `0x2${n.toString(16).padStart(39, '0')}`
}

function tokenAt(n: number): string {
  return `0x1${n.toString(16).padStart(39, '0')}`
}

test('dormant pools are indexed from their creation events alone', async (t) => {
  const dir = newDir()
  const index = openPoolIndex(dir)
  const { number: upTo } = await market.head()
  const startedAt = performance.now()
  const { requests } = await scan({ index, upTo })
  const seconds = (performance.now() - startedAt) / 1_000
  assert.equal(index.size, DORMANT)
  for (const n of [0, 1, DORMANT / 2, DORMANT - 1]) {
    assert.deepEqual(index.pool(pairAt(n)), {
      address: pairAt(n),
      factory: announcer.toLowerCase(),
      tokens: [tokenAt(n), QUOTE],
      pricing: { kind: 'reserves' },
      tickSpacing: undefined,
      goalRaw: undefined,
    })
    assert.deepEqual(index.poolsOf(tokenAt(n), undefined, 10), [pairAt(n)])
    assert.deepEqual(index.poolsOf(tokenAt(n), QUOTE, 10), [pairAt(n)])
    assert.deepEqual(index.poolsOf(QUOTE, tokenAt(n), 10), [pairAt(n)])
  }
  assert.equal(index.hasToken(tokenAt(DORMANT)), false)
  assert.equal(index.poolsOf(QUOTE, undefined, 100).length, 100)
  await index.close()
  // Far fewer requests than pools: the cost of a dormant pool is its log.
  assert.ok(requests < 100, `${requests} requests`)
  const bytes = readdirSync(dir).reduce((sum, name) => sum + statSync(join(dir, name)).size, 0)
  assert.ok(bytes < DORMANT * 600, `${bytes} bytes`)
  t.diagnostic(
    `${requests} requests (${(requests / DORMANT).toFixed(5)} per pool), ${seconds.toFixed(1)} s ` +
      `(${((seconds / DORMANT) * 1e6).toFixed(0)} us per pool), ${Math.round(bytes / DORMANT)} bytes per pool`,
  )
})

test('continues after a restart where it stopped, and reads nothing twice', async () => {
  const dir = newDir()
  const { number: upTo } = await market.head()
  let index = openPoolIndex(dir)
  const first = await scan({ index, upTo, stopAfter: 2 }, SMALL)
  const found = index.size
  await index.close()
  index = openPoolIndex(dir)
  assert.equal(index.size, found)
  const second = await scan({ index, upTo: upTo + 5 }, SMALL)
  assert.equal(index.size, DORMANT)
  assert.deepEqual(
    [...first.blocks, ...second.blocks],
    Array.from({ length: upTo + 1 }, (_, block) => block),
  )
  const again = await scan({ index, upTo: upTo + 9 }, SMALL)
  assert.equal(again.requests, 0, 'the scan ends where the log began')
  await index.close()
})

test('launches are indexed by the events of listed platforms, and of no other contract', async () => {
  const goal = 10n ** 15n
  const [first, second, impostor] = [
    await market.deploy(MANAGER, [market.router]),
    await market.deploy(MANAGER, [market.router]),
    await market.deploy(MANAGER, [market.router]),
  ]
  const newToken = () =>
    market.createToken({ name: 'Meme', symbol: 'MEME', decimals: 18, supply: 2n * 10n ** 27n })
  const send = (to: Hex, name: string, args: readonly unknown[], value = 0n) =>
    market.send({ to, abi: MANAGER.abi, name, args, value, gas: 8_000_000n })
  /** Each in a block of its own, whose number it returns. */
  const mined = async (sent: Promise<unknown>): Promise<number> => {
    await sent
    await market.mine()
    return (await market.head()).number
  }
  const open = async (platform: Hex, token: Hex): Promise<number> => {
    await market.approve(token, platform)
    return mined(send(platform, 'open', [token, zeroAddress, goal]))
  }
  const [done, onCurve, claimedTwice, forged] = [
    await newToken(),
    await newToken(),
    await newToken(),
    await newToken(),
  ]
  const openedIn = await open(first, done)
  const closedIn = await mined(send(first, 'buy', [done, goal], goal + goal / 100n))
  const onCurveSince = await open(first, onCurve)
  const claimedIn = await open(second, claimedTwice)
  await open(first, claimedTwice)
  await open(impostor, forged)
  const { number: upTo } = await market.head()
  for (const receipt of await market.receipts(closedIn)) assert.equal(receipt.status, 'success')
  const index = openPoolIndex(newDir())
  const factories = [first, second].map((platform) => platform.toLowerCase())
  const platforms = factories.map((factory) => ({ amm: 'fourmeme', protocol: 'four_meme', factory }))
  await scan({ index, upTo, platforms })
  const [factory = '', other = ''] = factories
  const launchOf = (token: Hex) => index.launchOf(token.toLowerCase())
  assert.deepEqual(launchOf(done), { factory, createdIn: openedIn, graduatedIn: closedIn })
  assert.deepEqual(launchOf(onCurve), { factory, createdIn: onCurveSince, graduatedIn: undefined })
  assert.deepEqual(launchOf(claimedTwice), { factory: other, createdIn: claimedIn, graduatedIn: undefined })
  assert.equal(launchOf(forged), undefined)
  await index.close()
})
