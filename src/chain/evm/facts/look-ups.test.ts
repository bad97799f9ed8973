import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { words } from '../../../../test/support/builders/abi-words.ts'
import { DexRegistry } from '../../../dex/registry.ts'
import type { CreatedPool } from '../../../domain/created-pool.ts'
import type { LookedUp } from '../../facts/block-facts.ts'
import { LookUps } from './look-ups.ts'

const V2 = '0x00000000000000000000000000000000000000f2'
const FORK = '0x00000000000000000000000000000000000000f3'
const USD = '0x00000000000000000000000000000000000000d0'
const WETH = '0x00000000000000000000000000000000000000e0'
const TOKEN = '0x0000000000000000000000000000000000000a00'
const OTHER = '0x0000000000000000000000000000000000000a01'
const GET_RESERVES = '0x0902f1ac'

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
  readonly known = new Set<string>()
  readonly lookUps = new LookUps({
    pools: {
      pool: (id) => this.pools.get(id),
      poolsOf: (token, other, limit) =>
        [...this.pools.values()]
          .filter(({ tokens }) => tokens.includes(token) && (other === undefined || tokens.includes(other)))
          .map((pool) => pool.address)
          .slice(0, limit),
      add: () => undefined,
    },
    registry: new DexRegistry([
      { amm: 'v2', protocol: 'uniswap_v2', factory: V2 },
      { amm: 'fork', protocol: 'uniswap_v2', factory: FORK },
    ]),
    quoteAssets: [
      { address: USD, kind: 'stable' },
      { address: WETH, kind: 'native' },
    ],
  })
  asked = 0
  #reserve = 0n
  /** The node is about to add a block whenever it is asked. */
  isChanging = false

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
    const knows = (id: string): boolean => this.known.has(id)
    const known = { knowsPool: knows, knowsToken: knows }
    const block = headerAt(number)
    const found = await this.lookUps.lookUp(
      { ask, askExactly: ask },
      { block, known, head, met: new Map(), touched: new Set() },
    )
    this.lookUps.learn(found, block)
    for (const { address: pool, tokens } of found.pools)
      for (const id of [pool, ...tokens]) this.known.add(id)
    for (const token of found.tokens) this.known.add(token)
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

  test('a fork makes wanted again what its blocks had answered', async () => {
    const world = new World()
    const pool = world.add(1, [TOKEN, USD])
    world.lookUps.want(TOKEN)
    await world.block(100)
    world.known.clear()
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
