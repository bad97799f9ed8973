import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashOf, words } from '../../test/support/builders/abi-words.ts'
import { rawLog } from '../../test/support/builders/raw-log.ts'
import { NOTHING_COMMITTED } from '../../test/support/rigs/memory-state.ts'
import type { BlockEnvelope, Fact, InspectionFact, RawLog } from '../domain/envelope.ts'
import { findingsBy, type Inspection } from '../domain/inspection.ts'
import { ReaderIndex } from './reader-index.ts'

const address = (at: number): string => `0x${at.toString(16).padStart(40, '0')}`
const hash = (at: number): string => `0x${at.toString(16).padStart(64, '0')}`
const UPGRADED = '0xbc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b'
const [A, B, C] = [address(0xa), address(0xb), address(0xc)]

const works = { works: true, taxPpm: 0, gas: undefined, reason: undefined }
const TRIED: Inspection['trial'] = {
  ...{ pair: address(1), method: 'simulate' },
  ...{ buy: works, transfer: works, sell: works },
}

function token(at: string): Fact {
  const nothing = new Uint8Array()
  return { type: 'token', address: at, nameRaw: nothing, symbolRaw: nothing, decimals: 18, supplyRaw: 1n }
}

function examined(at: string, block: number, trial: Inspection['trial'] = TRIED): InspectionFact {
  const unknown = { creator: undefined, owner: undefined, proxy: undefined, findings: findingsBy(() => []) }
  const inspection = { token: at, block: { number: block, hash: hash(block) }, codeHash: hash(1), trial }
  return { type: 'inspection', address: at, inspection: { ...inspection, ...unknown } }
}

function failed(at: string, block: number): Fact {
  return { type: 'inspectionFailure', address: at, block }
}

function upgraded(at: string): RawLog {
  return rawLog(at, [UPGRADED, hash(5)], '0x')
}

class Rig {
  readonly index = new ReaderIndex(NOTHING_COMMITTED)
  #number = 0

  block(facts: readonly Fact[] = [], logs: readonly RawLog[] = []): this {
    this.#number++
    const block: BlockEnvelope = {
      ...{ kind: 'block', chain: 'testchain', number: this.#number, hash: hash(this.#number) },
      ...{ parentHash: hash(this.#number - 1), time: this.#number, facts },
      transactions: logs.length === 0 ? [] : [{ index: 0, hash: hash(9), from: address(9), logs }],
    }
    this.index.apply(block)
    return this
  }

  blocks(count: number): this {
    for (let each = 0; each < count; each++) this.block()
    return this
  }

  undo(count: number): this {
    this.#number -= count
    const lastValid = { number: this.#number, hash: hash(this.#number) }
    this.index.apply({ kind: 'undo', chain: 'testchain', lastValid })
    return this
  }

  get due(): string[] {
    return this.index.inspections.due(this.#number)
  }
}

test('a new token is due two blocks after it was met, and once', () => {
  const rig = new Rig().block([token(A)]).block()
  assert.deepEqual(rig.due, [])
  assert.deepEqual(rig.block().due, [A])
  assert.deepEqual(rig.block([examined(A, 3)]).blocks(5_000).due, [])
})

test('a token without a simulated trade is retried less and less often, and delays no other', () => {
  const rig = new Rig().block([token(A)])
  const looks: number[] = []
  for (let number = 2; number < 5_000; number++) {
    const isDue = rig.due.includes(A)
    if (isDue) looks.push(number)
    rig.block(isDue ? [examined(A, number - 1, 'no_liquidity')] : [])
  }
  const waits = looks.map((at, index) => at - (looks[index - 1] ?? 1))
  assert.deepEqual(waits, [3, 9, 33, 129, 513, 2_049])

  const other = new Rig().block([token(A)]).blocks(2)
  for (const wait of [8, 32, 128]) other.block([examined(A, 3 + wait, 'no_pair')]).blocks(wait)
  other.block([examined(A, 2_000, 'no_pair'), token(B)]).blocks(2)
  assert.deepEqual(other.due, [B])
})

test('a token without a valid result delays no other and is retried later', () => {
  const all = [1, 2, 3, 4].map(address)
  const rig = new Rig().block([...all, A].map(token)).blocks(2)
  assert.deepEqual(rig.due, all)
  rig.block(all.map((each) => failed(each, 3)))
  assert.deepEqual(rig.due, [A])
  assert.deepEqual(rig.block([examined(A, 3)]).blocks(8).due, all)
  rig.block([token(B)], [upgraded(B)]).block([failed(B, 14)])
  assert.ok(!rig.due.includes(B), 'a change is not looked at for ever')
})

test('a contract that emitted a change event is due at once, until it was inspected after it', () => {
  const rig = new Rig()
    .block([token(A), token(C)])
    .blocks(2)
    .block([examined(A, 3)])
    .block([examined(C, 4)])
  assert.deepEqual(rig.block([], [upgraded(A), upgraded(A), upgraded(B)]).due, [A])
  assert.deepEqual(rig.block([examined(A, 5)]).due, [A], 'that was before')
  assert.deepEqual(rig.block([examined(C, 7)], [upgraded(A)]).due, [A])
  assert.deepEqual(rig.block([examined(A, 7)]).due, [A], 'it changed again meanwhile')
  assert.deepEqual(rig.block([examined(A, 9)]).due, [])
})

test('some are due together, and may come in any order', () => {
  const all = [1, 2, 3, 4, 5, 6].map(address)
  const rig = new Rig().block(all.map(token)).blocks(2)
  assert.deepEqual(rig.due, all.slice(0, 4))
  rig.block([examined(address(3), 3), examined(address(2), 3, 'no_pair')])
  assert.deepEqual(rig.due, [1, 4, 5, 6].map(address))
  assert.deepEqual(rig.undo(1).due, all.slice(0, 4))
  rig.block([4, 1, 2, 3].map((each) => examined(address(each), 3)))
  assert.deepEqual(rig.due, [5, 6].map(address))
})

test('inspections that a reorg undoes are due again', () => {
  const rig = new Rig()
    .block([token(A)])
    .blocks(2)
    .block([examined(A, 3)])
    .block([], [upgraded(A)])
    .block([examined(A, 5)])
  assert.deepEqual(rig.due, [])
  assert.deepEqual(rig.undo(1).due, [A], 'the change is still there')
  assert.deepEqual(rig.undo(1).due, [])
  assert.deepEqual(rig.undo(1).due, [A], 'it is new again')
})

test('the key of a known pool is stored with its announcement, and undone with it', () => {
  const [fee, spacing, hooks] = [hash(500), hash(10), hash(0)]
  const [first, second] = [hash(0), hash(0xb)]
  const pool = hashOf(0n, 0xbn, 500n, 10n, 0n)
  const fact: Fact = {
    ...{ type: 'pool', address: pool, factory: C, tokens: [address(0), B] },
    ...{ pricing: { kind: 'sqrtPrice' }, reservesBefore: undefined },
  }
  const initialize = '0xdd466e674ea557f56295e2d0218a125ea4b4f0f6f3307b95f85e6110838d6438'
  const log = (id: string) => rawLog(C, [initialize, id, first, second], words(500n, 10n, 0n, 1n << 96n, 0n))
  const rig = new Rig().block([], [log(pool)])
  assert.equal(rig.index.inspections.keyOf(pool), undefined, 'a pool of no listed exchange')
  rig.block([fact], [log(hash(7)), log(pool)])
  assert.deepEqual(rig.index.inspections.keyOf(pool), [first, second, fee, spacing, hooks])
  assert.equal(rig.index.inspections.keyOf(hash(7)), undefined, 'the id is not the hash of the key')
  assert.equal(rig.undo(1).index.inspections.keyOf(pool), undefined)
})
