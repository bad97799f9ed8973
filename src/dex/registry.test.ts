import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { encodeAbiParameters, type Hex, toEventSelector } from 'viem'
import { padded, rawLog } from '../../test/support/builders/raw-log.ts'
import type { RawLog } from '../domain/envelope.ts'
import { balancerV3 } from './evm/balancer-v3/protocol.ts'
import { solidly } from './evm/solidly/protocol.ts'
import { uniswapV2 } from './evm/uniswap-v2/protocol.ts'
import type { DexDeployment } from './protocol.ts'
import { DexRegistry } from './registry.ts'

const FACTORY = `0x${'f1'.repeat(20)}`
const OTHER_FACTORY = `0x${'f2'.repeat(20)}`
const SOLIDLY_FACTORY = `0x${'f3'.repeat(20)}`
const VAULT = `0x${'f4'.repeat(20)}`
const POOL = `0x${'aa'.repeat(20)}`
const TOKEN0 = `0x${'01'.repeat(20)}`
const TOKEN1 = `0x${'02'.repeat(20)}`
const BLOCK = 100

const uniswap: DexDeployment = { amm: 'uniswap_v2', protocol: 'uniswap_v2', factory: FACTORY }
const sushi: DexDeployment = { amm: 'sushiswap_v2', protocol: 'uniswap_v2', factory: OTHER_FACTORY }
const velodrome: DexDeployment = { amm: 'velodrome', protocol: 'solidly', factory: SOLIDLY_FACTORY }
const balancer: DexDeployment = { amm: 'balancer_v3', protocol: 'balancer_v3', factory: VAULT }
const registry = new DexRegistry([uniswap])
const all = new DexRegistry([uniswap, sushi, velodrome, balancer])

const sync = rawLog(POOL, [toEventSelector('Sync(uint112,uint112)')], `0x${'00'.repeat(64)}`)
const swap = rawLog(
  POOL,
  [toEventSelector('Swap(address,uint256,uint256,uint256,uint256,address)'), padded(TOKEN0), padded(TOKEN0)],
  `0x${'00'.repeat(128)}`,
)
const vaultSwap = rawLog(
  VAULT,
  [
    toEventSelector('Swap(address,address,address,uint256,uint256,uint256,uint256)'),
    padded(POOL),
    padded(TOKEN0),
    padded(TOKEN1),
  ],
  `0x${'00'.repeat(128)}`,
)
const silent: RawLog = { ...sync, topics: [] }

function pairCreated(emitter: string): RawLog {
  const topic = toEventSelector('PairCreated(address,address,address,uint256)')
  const data = encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [POOL as Hex, 0n])
  return rawLog(emitter, [topic, padded(TOKEN0), padded(TOKEN1)], data)
}

describe('announced', () => {
  test('only an allow-listed factory can announce a pair', () => {
    assert.deepEqual(registry.announced(pairCreated(FACTORY), BLOCK), {
      type: 'poolCreated',
      pool: POOL,
      tokens: [TOKEN0, TOKEN1],
      pricing: { kind: 'reserves' },
    })
    for (const emitter of [OTHER_FACTORY, POOL, TOKEN0, FACTORY.toUpperCase()]) {
      assert.equal(registry.announced(pairCreated(emitter), BLOCK), undefined)
    }
  })

  test('other events of a factory announce nothing', () => {
    for (const log of [sync, swap, silent]) {
      assert.equal(registry.announced({ ...log, address: FACTORY }, BLOCK), undefined)
    }
    assert.equal(all.announced(pairCreated(SOLIDLY_FACTORY), BLOCK), undefined)
  })

  test('a factory counts from its first block to its last', () => {
    const brief = new DexRegistry([{ ...uniswap, fromBlock: 10, untilBlock: 20 }])
    for (const block of [10, 15, 20]) assert.ok(brief.announced(pairCreated(FACTORY), block))
    for (const block of [9, 21]) assert.equal(brief.announced(pairCreated(FACTORY), block), undefined)
  })
})

describe('poolOf', () => {
  test('a pool with a contract of its own is the emitter of the event', () => {
    assert.equal(registry.poolOf(swap, BLOCK), POOL)
    assert.equal(registry.poolOf(sync, BLOCK), POOL)
    assert.equal(registry.poolOf(pairCreated(FACTORY), BLOCK), undefined)
    assert.equal(registry.poolOf(silent, BLOCK), undefined)
    assert.equal(new DexRegistry([]).poolOf(swap, BLOCK), undefined)
  })

  test("a singleton's pool is taken from the event", () => {
    assert.equal(all.poolOf(vaultSwap, BLOCK), POOL)
    assert.equal(all.poolOf({ ...vaultSwap, address: POOL }, BLOCK), undefined)
    assert.equal(all.poolOf({ ...vaultSwap, data: new Uint8Array(0) }, BLOCK), undefined)
    const late = new DexRegistry([{ ...balancer, fromBlock: BLOCK + 1 }])
    assert.equal(late.poolOf(vaultSwap, BLOCK), undefined)
    assert.equal(late.poolOf(vaultSwap, BLOCK + 1), POOL)
  })
})

describe('candidates', () => {
  test('every protocol with the event is a candidate, with all its factories', () => {
    const [first, second, ...rest] = all.candidates(swap, BLOCK)
    assert.deepEqual(rest, [])
    assert.equal(first?.identify, uniswapV2.identify)
    assert.deepEqual(
      first.deployments.map(({ factory }) => factory),
      [FACTORY, OTHER_FACTORY],
    )
    assert.equal(second?.identify, solidly.identify)
    assert.deepEqual(
      second.deployments.map(({ factory }) => factory),
      [SOLIDLY_FACTORY],
    )
  })

  test('only exchanges active at that block are candidates', () => {
    const late = new DexRegistry([
      uniswap,
      { ...sushi, fromBlock: BLOCK + 1 },
      { ...velodrome, untilBlock: 1 },
    ])
    const [only, ...rest] = late.candidates(swap, BLOCK)
    assert.deepEqual(rest, [])
    assert.deepEqual(
      only?.deployments.map(({ amm }) => amm),
      ['uniswap_v2'],
    )
    assert.deepEqual(new DexRegistry([{ ...uniswap, fromBlock: BLOCK + 1 }]).candidates(swap, BLOCK), [])
  })

  test('only the singleton that emitted the event is a candidate for its pool', () => {
    const [only, ...rest] = all.candidates(vaultSwap, BLOCK)
    assert.deepEqual(rest, [])
    assert.equal(only?.identify, balancerV3.identify)
    assert.equal(only.deployments[0]?.factory, VAULT)
  })

  test('a foreign log has no candidates', () => {
    assert.deepEqual(all.candidates(silent, BLOCK), [])
    assert.deepEqual(all.candidates({ ...vaultSwap, address: POOL }, BLOCK), [])
  })
})

describe('decode and deploymentOf', () => {
  test('an unlisted factory decodes nothing', () => {
    assert.equal(registry.decode(FACTORY, sync, BLOCK)?.type, 'reservesSet')
    assert.equal(registry.decode(FACTORY, swap, BLOCK)?.type, 'swapped')
    assert.equal(registry.decode(FACTORY, silent, BLOCK), undefined)
    assert.equal(registry.decode(FACTORY, pairCreated(FACTORY), BLOCK), undefined)
    assert.equal(registry.decode(OTHER_FACTORY, swap, BLOCK), undefined)
    assert.equal(registry.deploymentOf(OTHER_FACTORY, BLOCK), undefined)
  })

  test('a pool is decoded by the protocol of its factory', () => {
    assert.equal(all.decode(SOLIDLY_FACTORY, swap, BLOCK)?.type, 'swapped')
    assert.equal(all.decode(SOLIDLY_FACTORY, sync, BLOCK), undefined)
    assert.equal(all.decode(VAULT, vaultSwap, BLOCK)?.type, 'swapped')
  })

  test('the factory distinguishes two deployments of one protocol', () => {
    assert.equal(all.deploymentOf(FACTORY, BLOCK)?.amm, 'uniswap_v2')
    assert.equal(all.deploymentOf(OTHER_FACTORY, BLOCK)?.amm, 'sushiswap_v2')
  })

  test('a factory may change its protocol at a block', () => {
    const renamed = new DexRegistry([
      { ...uniswap, untilBlock: 10 },
      { ...uniswap, amm: 'renamed', fromBlock: 11 },
    ])
    assert.equal(renamed.deploymentOf(FACTORY, 10)?.amm, 'uniswap_v2')
    assert.equal(renamed.deploymentOf(FACTORY, 11)?.amm, 'renamed')
  })

  test('an unknown protocol is a configuration error', () => {
    assert.throws(() => new DexRegistry([{ ...uniswap, protocol: 'nonesuch' }]), /no such protocol: nonesuch/)
  })
})
