import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MemoryState, NOTHING_COMMITTED } from '../../test/support/rigs/memory-state.ts'
import type { BlockEnvelope, Envelope, Fact } from '../domain/envelope.ts'
import { ChaintapeError } from '../domain/errors.ts'
import { ReaderIndex } from './reader-index.ts'

const CHAIN = 'testchain'

function block(number: number, branch = 'a', facts: readonly Fact[] = [], parent = branch): BlockEnvelope {
  const hash = (at: number, of: string): string => `${at}${of}`
  return {
    kind: 'block',
    chain: CHAIN,
    number,
    hash: hash(number, branch),
    parentHash: hash(number - 1, parent),
    time: number,
    transactions: [],
    facts,
  }
}

function pool(address: string): Fact {
  const pricing = { kind: 'reserves' } as const
  return { type: 'pool', address, factory: 'f', tokens: ['t0', 't1'], pricing, reservesBefore: undefined }
}

function token(address: string): Fact {
  const nothing = new Uint8Array()
  return { type: 'token', address, nameRaw: nothing, symbolRaw: nothing, decimals: 18, supplyRaw: 1n }
}

const undo = (number: number, branch = 'a'): Envelope => {
  return { kind: 'undo', chain: CHAIN, lastValid: { number, hash: `${number}${branch}` } }
}
const final = (number: number, branch = 'a'): Envelope => {
  return { kind: 'final', chain: CHAIN, upTo: { number, hash: `${number}${branch}` } }
}

function indexOf(...envelopes: Envelope[]): ReaderIndex {
  const index = new ReaderIndex(NOTHING_COMMITTED)
  for (const envelope of envelopes) index.apply(envelope)
  return index
}

test('an empty log has no tip and no floor', () => {
  const index = indexOf()
  assert.deepEqual([index.tip, index.floor, index.hashAt(0)], [undefined, undefined, undefined])
})

test('the block before the first one is where a fork may still end', () => {
  const index = indexOf(block(100), block(101))
  assert.deepEqual(index.tip, { number: 101, hash: '101a' })
  assert.deepEqual(index.floor, { number: 99, hash: '99a' })
  assert.deepEqual(
    [98, 99, 100, 101, 102].map((number) => index.hashAt(number)),
    [undefined, '99a', '100a', '101a', undefined],
  )
})

test('a log that starts at the very first block can be undone down to it, and it cannot be undone', () => {
  const index = indexOf(block(0), block(1), block(2))
  assert.deepEqual(index.floor, { number: 0, hash: '0a' })
  assert.equal(index.hashAt(0), '0a')
  index.apply(undo(0))
  assert.deepEqual(index.tip, { number: 0, hash: '0a' })
})

test('a fact of an undone block is published again', () => {
  const index = indexOf(
    block(100, 'a', [pool('p0'), token('t0')]),
    block(101, 'a', [pool('p1'), token('t1')]),
  )
  index.apply(undo(100))
  assert.deepEqual(
    ['p0', 'p1'].map((address) => index.knowsPool(address)),
    [true, false],
  )
  assert.deepEqual(
    ['t0', 't1'].map((address) => index.knowsToken(address)),
    [true, false],
  )
  assert.equal(index.knowsToken('p0'), false, 'a pool is no token')
  index.apply(block(101, 'b', [pool('p1')], 'a'))
  assert.equal(index.knowsPool('p1'), true)
})

test('final blocks are dropped; the last one remains as the floor', () => {
  const index = indexOf(block(100, 'a', [pool('p0')]), block(101), block(102), final(101))
  assert.deepEqual(index.floor, { number: 101, hash: '101a' })
  assert.deepEqual(
    [100, 101, 102].map((number) => index.hashAt(number)),
    [undefined, '101a', '102a'],
  )
  assert.equal(index.knowsPool('p0'), true)
  assert.throws(
    () => index.apply(undo(100)),
    (error) => error instanceof ChaintapeError && error.code === 'fork_below_final',
  )
  index.apply(undo(101))
  assert.deepEqual(index.tip, { number: 101, hash: '101a' })
})

test('where commits and crashes fall makes no difference', () => {
  const step = fc.constantFrom('block', 'block', 'block', 'undo', 'final')
  const event = fc.constantFrom('commit', 'crash', 'go on')
  fc.assert(
    fc.property(fc.array(fc.tuple(step, event), { maxLength: 40 }), (script) => {
      const envelopes: Envelope[] = []
      const chain = [block(9)]
      let floor = 9
      for (const [at, [kind]] of script.entries()) {
        const tip = chain.at(-1) as BlockEnvelope
        if (kind === 'block') {
          const next = block(tip.number + 1, `s${at}`, [pool(`p${at % 3}`), token(`t${at % 5}`)])
          chain.push({ ...next, parentHash: tip.hash })
          envelopes.push(chain.at(-1) as BlockEnvelope)
        } else if (kind === 'undo' && tip.number > floor) {
          chain.pop()
          const { number, hash } = chain.at(-1) as BlockEnvelope
          envelopes.push({ kind, chain: CHAIN, lastValid: { number, hash } })
        } else if (kind === 'final' && tip.number - 1 > floor) {
          const { number, hash } = chain.at(-2) as BlockEnvelope
          floor = number
          envelopes.push({ kind, chain: CHAIN, upTo: { number, hash } })
        }
      }
      const whole = indexOf(...envelopes)
      const store = new MemoryState()
      const index = new ReaderIndex(store)
      let committed = 0
      let crashes = 0
      for (let next = 0; next < envelopes.length; next++) {
        index.apply(envelopes[next] as Envelope)
        const what = script[(next + crashes) % script.length]?.[1]
        if (what === 'crash' && crashes++ < 5) {
          index.abandon()
          next = committed - 1
        } else if (what === 'commit') {
          commit(index, store)
          committed = next + 1
        }
      }
      assert.deepEqual(index.tip, whole.tip)
      commit(index, store)
      const wholeStore = new MemoryState()
      commit(whole, wholeStore)
      assert.deepEqual(store.entries().map(hex), wholeStore.entries().map(hex))
    }),
    { numRuns: 200 },
  )
})

function commit(index: ReaderIndex, store: MemoryState): void {
  store.write(index.pending())
  index.committed()
}

function hex([key, value]: [string, Uint8Array]): [string, string] {
  return [key, Buffer.from(value).toString('hex')]
}

test('a chain without transfer histories queues none', () => {
  const index = new ReaderIndex(NOTHING_COMMITTED, { hasHistories: false })
  index.apply(block(100, 'a', [token('t0'), { ...pool('p0'), pricing: { kind: 'reserves' } } as Fact]))
  assert.deepEqual(
    [index.knowsToken('t0'), index.histories.length, index.lacksNonCirculating('t0')],
    [true, 0, false],
  )
})
