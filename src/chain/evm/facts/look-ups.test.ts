import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { words } from '../../../../test/support/builders/abi-words.ts'
import { callData } from '../../../dex/evm/abi.ts'
import { curveId } from '../../../dex/evm/bonding-curve.ts'
import { DexRegistry } from '../../../dex/registry.ts'
import type { DexDeployment } from '../../../domain/chain-settings.ts'
import type { CreatedPool } from '../../../domain/created-pool.ts'
import type { LookedUp } from '../../facts/block-facts.ts'
import { type LookUpParts, LookUps } from './look-ups.ts'

const V2 = '0x00000000000000000000000000000000000000f2'
const FORK = '0x00000000000000000000000000000000000000f3'
const USD = '0x00000000000000000000000000000000000000d0'
const WETH = '0x00000000000000000000000000000000000000e0'
const TOKEN = '0x0000000000000000000000000000000000000a00'
const OTHER = '0x0000000000000000000000000000000000000a01'
const GET_RESERVES = '0x0902f1ac'
const PAD = '0x00000000000000000000000000000000000000f4'
/** _tokenInfos(TOKEN) of four.meme */
const TOKEN_INFOS = callData('0xe684626b', TOKEN)
const PAIRS: readonly DexDeployment[] = [
  { amm: 'v2', protocol: 'uniswap_v2', factory: V2 },
  { amm: 'fork', protocol: 'uniswap_v2', factory: FORK },
]
const WITH_PLATFORM = [...PAIRS, { amm: 'pad', protocol: 'four_meme', factory: PAD }]

const address = (at: number): string => `0x${at.toString(16).padStart(40, 'b')}`
const headerAt = (number: number) => ({
  number,
  hash: `0x${number}`,
  parentHash: `0x${number - 1}`,
  time: number,
})

/** Pairs of Uniswap V2 and a fork of it, each with these reserves. */
class World {
  readonly pools = new Map<string, CreatedPool>()
  readonly answers = new Map<string, string>()
  readonly knownPools = new Set<string>()
  readonly knownTokens = new Set<string>()
  readonly lookUps: LookUps
  asked = 0
  #reserve = 0n
  /** The node is about to add a block whenever it is asked. */
  isChanging = false

  constructor(dexes = PAIRS) {
    this.lookUps = new LookUps({ ...this.#index(), registry: new DexRegistry(dexes) })
  }

  #index() {
    return {
      pools: {
        pool: (id) => this.pools.get(id),
        poolsOf: (token, other, limit) =>
          [...this.pools.values()]
            .filter(({ tokens }) => tokens.includes(token) && (other === undefined || tokens.includes(other)))
            .map((pool) => pool.address)
            .slice(0, limit),
        add: (pools) => {
          for (const pool of pools) this.pools.set(pool.address, pool)
        },
      },
      quoteAssets: [
        { address: USD, kind: 'stable' },
        { address: WETH, kind: 'native' },
      ],
    } satisfies Omit<LookUpParts, 'registry'>
  }

  add(at: number, tokens: readonly string[], { factory = V2, hasState = true } = {}): string {
    const pool = address(at)
    const pricing = { kind: 'reserves' } as const
    this.pools.set(pool, {
      address: pool,
      factory,
      tokens,
      pricing,
      tickSpacing: undefined,
      goalRaw: undefined,
    })
    if (hasState) this.answers.set(`${pool}${GET_RESERVES}`, words(5n, 7n, 0n))
    return pool
  }

  /** Looks up, and takes over what it found as the log would. */
  async block(number: number, head = number): Promise<LookedUp> {
    const ask = async (calls: readonly { to: string; data: string }[]) =>
      calls.map(({ to, data }) => {
        this.asked++
        if (this.isChanging && data === GET_RESERVES) return toBytes(words(this.#reserve++, 7n, 0n))
        return toBytes(this.answers.get(`${to}${data}`))
      })
    const known = {
      knowsPool: (id: string): boolean => this.knownPools.has(id),
      knowsToken: (id: string): boolean => this.knownTokens.has(id),
    }
    const block = headerAt(number)
    const found = await this.lookUps.lookUp(
      { ask, askExactly: ask },
      { block, known, head, met: new Map(), touched: new Set() },
    )
    this.lookUps.learn(found, block)
    for (const { address: pool } of found.pools) this.knownPools.add(pool)
    for (const token of [...found.pools.flatMap(({ tokens }) => tokens), ...found.tokens])
      this.knownTokens.add(token)
    return found
  }
}

function toBytes(hex: string | undefined): Uint8Array | undefined {
  return hex === undefined ? undefined : Buffer.from(hex.slice(2), 'hex')
}

const poolsOf = ({ pools }: LookedUp): string[] => pools.map((pool) => pool.address)

describe('look-ups', () => {
  test('nothing is read of a pool that nobody asked for', async () => {
    const world = new World()
    world.add(1, [TOKEN, USD])
    const found = await world.block(100)
    assert.deepEqual([found.pools, found.states, world.asked], [[], [], 0])
  })

  test('a token brings its pools with their state, once', async () => {
    const world = new World()
    const pool = world.add(1, [TOKEN, USD])
    world.lookUps.want(TOKEN)
    const found = await world.block(100)
    assert.deepEqual(poolsOf(found), [pool])
    assert.deepEqual(found.states, [
      { type: 'poolState', address: pool, reserves: [5n, 7n], price: undefined },
    ])
    const { asked } = world
    world.lookUps.want(TOKEN)
    assert.deepEqual((await world.block(101)).pools, [])
    assert.equal(world.asked, asked)
    assert.equal(world.lookUps.waiting, 0)
  })

  test('pools of quote assets come before all others, without being asked for', async () => {
    const world = new World()
    const anchor = world.add(1, [USD, WETH])
    const pool = world.add(2, [TOKEN, WETH])
    world.lookUps.want(TOKEN)
    world.lookUps.wantQuoteAssets()
    assert.deepEqual(poolsOf(await world.block(100)), [anchor])
    assert.deepEqual(poolsOf(await world.block(101)), [pool])
  })

  test('far from the head nothing is looked up, and nothing is lost', async () => {
    const world = new World()
    const pool = world.add(1, [TOKEN, USD])
    world.lookUps.want(TOKEN)
    assert.deepEqual((await world.block(100, 164)).pools, [])
    assert.deepEqual(poolsOf(await world.block(101, 164)), [pool])
  })

  test('a state that differs between two answers is not believed', async () => {
    const world = new World()
    const pool = world.add(1, [TOKEN, USD])
    world.lookUps.want(TOKEN)
    world.isChanging = true
    assert.deepEqual((await world.block(100)).pools, [])
    world.isChanging = false
    assert.deepEqual(poolsOf(await world.block(101)), [pool])
  })

  test('a pool without state does not enter, and its token only if it answers as one', async () => {
    const world = new World()
    world.add(1, [TOKEN, USD], { hasState: false })
    world.lookUps.want(TOKEN)
    assert.deepEqual((await world.block(100)).pools, [])
    assert.deepEqual((await world.block(101)).tokens, [])
    assert.ok(world.lookUps.isAbsent(TOKEN, 102))
    const { asked } = world
    world.lookUps.want(TOKEN)
    await world.block(102)
    assert.equal(world.asked, asked, 'not again for some blocks')
    world.answers.set(`${TOKEN}0x313ce567`, words(18n))
    world.answers.set(`${TOKEN}0x18160ddd`, words(10n ** 24n))
    world.lookUps.want(TOKEN)
    assert.deepEqual((await world.block(200)).tokens, [])
    assert.deepEqual((await world.block(201)).tokens, [TOKEN])
  })

  test('a token that only a launch platform knows brings its curve, once', async () => {
    const world = new World(WITH_PLATFORM)
    const info = [TOKEN, WETH, 0n, 0n, 0n, 24n, 0n, 50_000n, 7n, 0n, 0n, 0n, 0n] as const
    world.answers.set(`${PAD}${TOKEN_INFOS}`, words(...info))
    world.answers.set(`${PAD}${callData('0x467dffe6', ...info, 5n)}`, words(3n))
    world.lookUps.want(TOKEN)
    const found = await world.block(100)
    const curve = curveId(PAD, TOKEN)
    assert.deepEqual(poolsOf(found), [curve])
    const price = { kind: 'exchange', raw0: 5n, raw1: 3n } as const
    assert.deepEqual(found.states, [{ type: 'poolState', address: curve, reserves: [50_000n, 7n], price }])
    assert.equal(world.lookUps.waiting, 0)
    world.lookUps.want(TOKEN)
    assert.deepEqual((await world.block(101)).pools, [])
    assert.equal(world.lookUps.waiting, 0)
  })

  test('a curve is found beside a pair that anyone may have created', async () => {
    const world = new World(WITH_PLATFORM)
    const pair = world.add(1, [TOKEN, WETH])
    world.answers.set(
      `${PAD}${TOKEN_INFOS}`,
      words(TOKEN, WETH, ...[0, 0, 0, 24, 0, 5, 7, 0, 0, 0, 0].map(BigInt)),
    )
    world.lookUps.want(TOKEN)
    assert.deepEqual(poolsOf(await world.block(100)), [pair, curveId(PAD, TOKEN)])
  })

  test('a known token without another pool is not asked for again for some blocks', async () => {
    const world = new World(WITH_PLATFORM)
    world.knownTokens.add(TOKEN)
    world.lookUps.want(TOKEN)
    await world.block(100)
    assert.ok(world.asked > 0)
    const { asked } = world
    world.lookUps.want(TOKEN)
    await world.block(101)
    assert.deepEqual([world.asked, world.lookUps.waiting], [asked, 0])
  })

  test('a pool whose events do not report its reserves is remembered, to be read again', async () => {
    const world = new World([...PAIRS, { amm: 'curve', protocol: 'curve', factory: PAD }])
    const pool = address(7)
    const bytes = (data: string): string => `${PAD}${data}`
    world.answers.set(bytes(callData('0x6982eb0b', TOKEN, USD, 0)), words(pool))
    world.answers.set(bytes(callData('0x9ac90d3d', pool)), words(TOKEN, USD))
    for (const coin of [0, 1]) world.answers.set(`${pool}${callData('0x4903b0d1', coin)}`, words(70_000n))
    world.lookUps.want(TOKEN)
    const found = await world.block(100)
    assert.deepEqual(poolsOf(found), [pool])
    assert.deepEqual(found.states[0]?.reserves, [70_000n, 70_000n])
    assert.equal(world.lookUps.announced(pool)?.factory, PAD)
  })

  test('a fork makes wanted again what its blocks had answered', async () => {
    const world = new World()
    const pool = world.add(1, [TOKEN, USD])
    world.lookUps.want(TOKEN)
    await world.block(100)
    world.knownPools.clear()
    world.knownTokens.clear()
    world.lookUps.forget()
    assert.deepEqual(poolsOf(await world.block(100)), [pool])
  })

  test('many pools of one exchange do not crowd out those of another', async () => {
    const world = new World()
    for (let at = 0; at < 100; at++) world.add(at, [TOKEN, at % 2 === 0 ? USD : OTHER])
    const genuine = world.add(1_000, [TOKEN, USD], { factory: FORK })
    world.lookUps.want(TOKEN)
    const found = poolsOf(await world.block(100))
    assert.ok(found.includes(genuine))
    assert.ok(found.length <= 12, String(found.length))
  })

  test('a block takes up a bounded number', async () => {
    const world = new World()
    for (let at = 1; at <= 100; at++) {
      const token = `0x${at.toString(16).padStart(40, 'c')}`
      world.add(at, [token, USD])
      world.lookUps.want(token)
    }
    const taken: number[] = []
    for (let number = 100; world.lookUps.waiting > 0; number++)
      taken.push((await world.block(number)).pools.length)
    assert.deepEqual(taken, [16, 16, 16, 16, 16, 16, 4])
  })
})
