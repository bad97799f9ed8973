import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MemoryState } from '../../test/support/rigs/memory-state.ts'
import { ReaderSetup } from '../../test/support/rigs/reader-setup.ts'
import type { ChainSettings } from '../domain/chain-settings.ts'
import type { Fact } from '../domain/envelope.ts'
import { settingsChanges, uncoveredPast } from '../domain/settings-changes.ts'
import { ReaderIndex } from './reader-index.ts'

const FACTORY = `0x${'f1'.repeat(20)}`
const OTHER = `0x${'f2'.repeat(20)}`
const POOL = `0x${'aa'.repeat(20)}`
const TOKEN = `0x${'bb'.repeat(20)}`
const LOCKER = `0x${'cc'.repeat(20)}`
const hash = (number: number): string => `0x${String(number).padStart(64, '0')}`

const dex = (factory: string) => ({ amm: factory.slice(2, 4), protocol: 'uniswap_v2', factory })
const one: ChainSettings = {
  rules: 1,
  dexes: [dex(FACTORY)],
  quoteAssets: [{ address: TOKEN, kind: 'stable' }],
  minDepthUsd: 5n,
  lockers: [],
}
const two: ChainSettings = { ...one, dexes: [dex(FACTORY), dex(OTHER)] }

describe('a reader', () => {
  const read = async (settings: ChainSettings, blocks: number, setup = new ReaderSetup()) => {
    const from = setup.log.length
    setup.settings = settings
    setup.chain.mine(blocks)
    await setup.catchUp(2)
    return { setup, kinds: setup.kinds(from) }
  }

  test('appends its settings before the first block, once', async () => {
    const { setup, kinds } = await read(one, 2)
    assert.deepEqual(kinds, ['settings', 'block 100', 'block 101'])
    assert.deepEqual((await read(one, 1, setup)).kinds, ['block 102'])
  })

  test('with other settings appends them before the next block, and not without one', async () => {
    const { setup } = await read(one, 2)
    assert.deepEqual((await read(two, 0, setup)).kinds, [])
    assert.deepEqual((await read(two, 2, setup)).kinds, ['settings', 'block 102', 'block 103'])
    assert.deepEqual((await read(one, 1, setup)).kinds, ['settings', 'block 104'])
  })

  test('does not repeat them after a fork below them', async () => {
    const { setup } = await read(one, 3)
    await read(two, 1, setup)
    const from = setup.log.length
    setup.chain.fork(3, 4)
    await setup.catchUp(2)
    assert.deepEqual(setup.kinds(from)[0], 'undo to 100')
    assert.ok(!setup.kinds(from).includes('settings'))
    assert.deepEqual(setup.canonical(), setup.chain.hashes())
  })
})

describe('after a change of settings', () => {
  const blockWith = (number: number, ...facts: Fact[]) =>
    ({
      kind: 'block',
      chain: 'test',
      number,
      hash: hash(number),
      parentHash: hash(number - 1),
      time: number,
      transactions: [],
      facts,
    }) as const
  const pool: Fact = {
    type: 'pool',
    address: POOL,
    factory: OTHER,
    tokens: [TOKEN, LOCKER],
    pricing: { kind: 'reserves' },
    reservesBefore: undefined,
  }
  const token: Fact = {
    type: 'token',
    address: TOKEN,
    nameRaw: new Uint8Array(),
    symbolRaw: new Uint8Array(),
    decimals: 6,
    supplyRaw: 1n,
  }
  const answer: Fact = { type: 'nonCirculating', address: TOKEN, balances: [] }
  const change = (index: ReaderIndex, settings: ChainSettings): void =>
    index.apply({ kind: 'settings', chain: 'test', settings })

  test('pools of an exchange that comes back are identified again, also after a restart and a fork', () => {
    const store = new MemoryState()
    let index = new ReaderIndex(store)
    change(index, two)
    index.apply(blockWith(1, pool))
    change(index, one)
    assert.equal(index.isOutdatedPool(POOL), false)
    change(index, two)
    assert.equal(index.isOutdatedPool(POOL), true)
    store.write(index.pending())
    index = new ReaderIndex(store)
    assert.ok(index.knowsPool(POOL))
    assert.equal(index.isOutdatedPool(POOL), true)
    index.apply(blockWith(2, pool))
    assert.equal(index.isOutdatedPool(POOL), false)
    index.apply({ kind: 'undo', chain: 'test', lastValid: { number: 1, hash: hash(1) } })
    assert.equal(index.isOutdatedPool(POOL), true)
    change(index, { ...two, minDepthUsd: 6n })
    index.abandon()
    assert.deepEqual(index.settings.last?.minDepthUsd, 5n)
  })

  test('tokens are asked about new lockers', () => {
    const index = new ReaderIndex(new MemoryState())
    change(index, one)
    index.apply(blockWith(1, token, answer))
    assert.equal(index.lacksNonCirculating(TOKEN), false)
    change(index, { ...one, lockers: [LOCKER] })
    assert.equal(index.lacksNonCirculating(TOKEN), true)
    index.apply(blockWith(2, answer))
    assert.equal(index.lacksNonCirculating(TOKEN), false)
  })
})

test('changes are reported by row, with what they do not cover', () => {
  const changes = settingsChanges(two, {
    ...one,
    dexes: [{ ...dex(FACTORY), untilBlock: 7 }],
    quoteAssets: [],
    lockers: [LOCKER],
  })
  assert.deepEqual(changes, {
    added: [`locker ${LOCKER}`],
    removed: [`dex f2 (uniswap_v2, ${OTHER})`, `quote asset ${TOKEN}`],
    changed: [`dex f1 (uniswap_v2, ${FACTORY})`],
  })
  assert.deepEqual(uncoveredPast(changes, 9), [
    'pools and trades of added or changed exchanges before block 9',
    'pools of removed exchanges stay as they were before block 9',
    'prices and target tokens of pairs without an event since block 9',
    'locked amounts of tokens without a transfer since block 9',
  ])
  assert.deepEqual(settingsChanges(two, { ...two, dexes: two.dexes.toReversed() }).changed, ['order of rows'])
})
