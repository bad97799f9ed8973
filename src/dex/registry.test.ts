import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RawLog } from '../domain/envelope.ts'
import { PAIR_CREATED, SWAP, SYNC } from './evm/uniswap-v2/decode.ts'
import { DexRegistry } from './registry.ts'

const FACTORY = `0x${'f1'.repeat(20)}`
const OTHER_FACTORY = `0x${'f2'.repeat(20)}`
const POOL = `0x${'aa'.repeat(20)}`
const TOKEN0 = `0x${'01'.repeat(20)}`
const TOKEN1 = `0x${'02'.repeat(20)}`
const registry = new DexRegistry([{ amm: 'uniswap_v2', protocol: 'uniswap_v2', factory: FACTORY }])

function padded(address: string): string {
  return `0x${address.slice(2).padStart(64, '0')}`
}

function pairCreated(emitter: string): RawLog {
  const data = Buffer.concat([Buffer.from(padded(POOL).slice(2), 'hex'), Buffer.alloc(32)])
  return { index: 0, address: emitter, topics: [PAIR_CREATED, padded(TOKEN0), padded(TOKEN1)], data }
}

const sync: RawLog = { index: 0, address: POOL, topics: [SYNC], data: Buffer.alloc(64) }
const swap: RawLog = {
  index: 0,
  address: POOL,
  topics: [SWAP, padded(TOKEN0), padded(TOKEN0)],
  data: Buffer.alloc(128),
}

test('a pair counts when an allow-listed factory announces it, and only then', () => {
  assert.deepEqual(registry.decodeFactoryLog(pairCreated(FACTORY)), {
    type: 'poolCreated',
    pool: POOL,
    token0: TOKEN0,
    token1: TOKEN1,
  })
  for (const emitter of [OTHER_FACTORY, POOL, TOKEN0, FACTORY.toUpperCase()]) {
    assert.equal(registry.decodeFactoryLog(pairCreated(emitter)), undefined)
  }
})

test("a factory's other events announce nothing", () => {
  for (const log of [sync, swap, { ...sync, topics: [] }]) {
    assert.equal(registry.decodeFactoryLog({ ...log, address: FACTORY }), undefined)
  }
})

test('a Swap or Sync might come from a pool; nothing else does', () => {
  assert.equal(registry.looksLikePool(swap), true)
  assert.equal(registry.looksLikePool(sync), true)
  assert.equal(registry.looksLikePool(pairCreated(FACTORY)), false)
  assert.equal(registry.looksLikePool({ ...sync, topics: [] }), false)
  assert.equal(new DexRegistry([]).looksLikePool(swap), false)
})

test('an exchange that is not listed decodes nothing', () => {
  assert.equal(registry.decodePoolLog('uniswap_v2', sync)?.type, 'reservesSet')
  assert.equal(registry.decodePoolLog('uniswap_v2', swap)?.type, 'swapped')
  assert.equal(registry.decodePoolLog('sushiswap_v2', swap), undefined)
  assert.equal(registry.deploymentOf(OTHER_FACTORY), undefined)
})

test('two deployments of one protocol are told apart by their factory', () => {
  const both = new DexRegistry([
    { amm: 'uniswap_v2', protocol: 'uniswap_v2', factory: FACTORY },
    { amm: 'sushiswap_v2', protocol: 'uniswap_v2', factory: OTHER_FACTORY },
  ])
  assert.equal(both.deploymentOf(FACTORY)?.amm, 'uniswap_v2')
  assert.equal(both.deploymentOf(OTHER_FACTORY)?.amm, 'sushiswap_v2')
})
