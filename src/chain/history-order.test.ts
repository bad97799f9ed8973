import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { NOTHING_COMMITTED } from '../../test/support/rigs/memory-state.ts'
import type { TransfersFact } from '../domain/envelope.ts'
import { JournaledState } from '../state/journaled-state.ts'
import { HistoryOrder, LAUNCH_BLOCKS } from './history-order.ts'
import { OpenHistories } from './open-histories.ts'

const nothing = new Uint8Array()
const name = (at: number): string => `0x${at.toString(16).padStart(40, '0')}`

class Rig {
  readonly state = new JournaledState(NOTHING_COMMITTED)
  readonly histories = new OpenHistories(this.state)
  readonly order = new HistoryOrder(this.histories)
  #block = 1

  meet(block: number, ...tokens: readonly number[]): this {
    for (const at of tokens) {
      const about = { nameRaw: nothing, symbolRaw: nothing, decimals: 18, supplyRaw: 1n }
      this.histories.apply({ type: 'token', address: name(at), ...about }, block)
    }
    this.state.sealBlock(this.#block++)
    return this
  }

  read(address: string, isLast = true): void {
    const sums = { first: undefined, gains: [], issuedRaw: 0n, burnedRaw: 0n, mintedToZeroRaw: 0n }
    const upTo = (this.histories.get(address)?.from ?? 1) + 1
    const fact: TransfersFact = { type: 'transfers', address, upTo, isLast, ...sums }
    this.histories.apply(fact, this.#block)
    this.state.sealBlock(this.#block++)
  }

  /** The next turns, each with the whole history. */
  turns(count: number): string[] {
    return Array.from({ length: count }, () => {
      const turn = this.order.next(() => true)
      if (turn === undefined) return 'none'
      this.read(turn.open.address)
      return `${turn.why} ${Number(turn.open.address)}`
    })
  }
}

test('asked, then the latest launches, then by liquidity, then the rest', () => {
  const rig = new Rig()
    .meet(10, 1, 2, 3)
    .meet(10 + LAUNCH_BLOCKS, 4)
    .meet(20 + LAUNCH_BLOCKS, 5)
  rig.order.rank([name(3), name(1)])
  rig.order.ask(name(2))
  assert.deepEqual(rig.turns(6), ['asked 2', 'launch 5', 'launch 4', 'liquid 3', 'liquid 1', 'none'])
})

test('a discovery with an old contract is no launch', () => {
  const rig = new Rig().meet(10, 1, 2)
  rig.order.isNoLaunch(name(2))
  rig.order.rank([name(2)])
  assert.deepEqual(rig.turns(2), ['launch 1', 'liquid 2'])
})

test('a ranking gives each one turn, and a new one begins at the top', () => {
  const rig = new Rig().meet(10, 1, 2, 3)
  for (const at of [1, 2, 3]) rig.order.isNoLaunch(name(at))
  const next = (): number => Number(rig.order.next(() => true)?.open.address)
  rig.order.rank([name(3), name(2)])
  assert.deepEqual([next(), next()], [3, 2])
  rig.order.rank([name(2), name(3)])
  assert.deepEqual([next(), next()], [2, 3])
})

test('only an open history can be asked for, and a thousand at once', () => {
  const rig = new Rig().meet(10, ...Array.from({ length: 1_100 }, (_, at) => at + 1))
  rig.order.ask(name(5_000))
  for (let at = 1; at <= 1_100; at++) rig.order.ask(name(at))
  assert.deepEqual(
    [5_000, 1, 1_000, 1_001].map((at) => rig.order.isAsked(name(at))),
    [false, true, true, false],
  )
})

test('a restart sorts what is open again', () => {
  const rig = new Rig().meet(10, 1).meet(10 + LAUNCH_BLOCKS + 1, 2)
  const again = new HistoryOrder(rig.histories)
  const first = again.next(() => true)
  assert.deepEqual([first?.why, first?.open.address], ['launch', name(2)])
})

test('an undone discovery has no turn', () => {
  const rig = new Rig().meet(10, 1).meet(11, 2)
  rig.order.next(() => true)
  rig.state.undoBlocks(2, 2)
  rig.histories.reload()
  rig.order.forget()
  assert.deepEqual(rig.turns(2), ['launch 1', 'none'])
})

test('no class waits forever, however much the others have to do', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 40 }), (asked, others) => {
      const tokens = Array.from({ length: asked + others }, (_, at) => at + 1)
      const rig = new Rig().meet(10, ...tokens)
      for (const at of tokens.slice(asked)) if (at % 2 === 0) rig.order.isNoLaunch(name(at))
      rig.order.rank(tokens.map(name))
      for (const at of tokens.slice(0, asked)) rig.order.ask(name(at))
      const seen = new Set<string>()
      let forAsked = 0
      const turns = 64 * tokens.length
      for (let turn = 0; turn < turns; turn++) {
        const { open, why } = rig.order.next(() => true) ?? assert.fail('nothing to read')
        seen.add(open.address)
        if (why === 'asked') forAsked++
        // Nothing is ever complete.
        rig.read(open.address, false)
      }
      assert.equal(seen.size, tokens.length)
      assert.ok(forAsked >= (turns * 7) / 8)
    }),
    { numRuns: 30 },
  )
})
