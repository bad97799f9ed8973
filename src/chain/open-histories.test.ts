import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { NOTHING_COMMITTED } from '../../test/support/rigs/memory-state.ts'
import type { Fact, TransfersFact } from '../domain/envelope.ts'
import { JournaledState } from '../state/journaled-state.ts'
import { OpenHistories, type OpenHistory } from './open-histories.ts'

const address = (at: number): string => `0x${at.toString(16).padStart(40, '0')}`
const nothing = new Uint8Array()

function token(at: number): Fact {
  const common = { nameRaw: nothing, symbolRaw: nothing, decimals: 18, supplyRaw: 1n }
  return { type: 'token', address: address(at), ...common }
}

function pool(
  at: number,
  reservesBefore?: readonly bigint[],
  kind: 'reserves' | 'sqrtPrice' = 'reserves',
): Fact {
  const common = { factory: address(1), tokens: [address(2), address(3)], pricing: { kind }, reservesBefore }
  return { type: 'pool', address: address(at), ...common }
}

function piece(at: number, upTo: number, isLast = false, isFirst = false): TransfersFact {
  const first = isFirst ? { time: 1, sender: address(9) } : undefined
  const sums = { gains: [], issuedRaw: 0n, burnedRaw: 0n, mintedToZeroRaw: 0n }
  return { type: 'transfers', address: address(at), upTo, isLast, first, ...sums }
}

class Rig {
  readonly state = new JournaledState(NOTHING_COMMITTED)
  readonly histories = new OpenHistories(this.state)

  block(number: number, ...facts: readonly Fact[]): this {
    for (const fact of facts) this.histories.apply(fact, number)
    this.state.sealBlock(number)
    return this
  }

  all(): OpenHistory[] {
    const { first, next } = this.histories.places
    return Array.from({ length: next - first }, (_, at) => this.histories.at(first + at)).filter(
      (open) => open !== undefined,
    )
  }

  undo(first: number, last: number): void {
    this.state.undoBlocks(first, last)
    this.histories.reload()
  }

  order(): number[] {
    return this.all().map((open) => Number(open.address))
  }
}

describe('the open histories', () => {
  test('tokens, and pools that may have had shares before, up to the block before they were met', () => {
    const rig = new Rig().block(100, token(5), pool(6), pool(7, [1n, 2n]))
    assert.equal(rig.histories.length, 3)
    assert.deepEqual(rig.all().slice(0, 2), [
      { address: address(5), from: 1, upTo: 99, isBegun: false },
      { address: address(6), from: 1, upTo: 99, isBegun: false },
    ])
  })

  test('not the native coin, new pools, and pools without shares', () => {
    const rig = new Rig().block(100, token(0), pool(6, [0n, 0n]), pool(7, undefined, 'sqrtPrice'))
    assert.deepEqual(rig.order(), [])
  })

  test('no address twice, even if it is a pool and a token', () => {
    const rig = new Rig()
      .block(100, pool(5), pool(6, [0n, 0n]))
      .block(200, token(5), token(6), token(7), pool(7))
    assert.deepEqual(
      rig.all().map((open) => [Number(open.address), open.upTo]),
      [
        [5, 99],
        [7, 199],
      ],
    )
    // Its own events contain no LP tokens, so they were not followed before.
    assert.deepEqual(
      new Rig()
        .block(100, pool(5, undefined, 'sqrtPrice'))
        .block(200, token(5))
        .order(),
      [5],
    )
  })

  test('a token discovered in the very first block has no history left, which is published', () => {
    assert.deepEqual(new Rig().block(1, token(5)).all(), [
      { address: address(5), from: 1, upTo: 0, isBegun: false },
    ])
  })
})

describe('a piece of history', () => {
  test('is continued after its last block, whatever comes between', () => {
    const rig = new Rig().block(100, token(5), token(6)).block(101, piece(6, 40, false, true))
    assert.deepEqual(rig.histories.get(address(6)), {
      ...{ address: address(6), from: 41, upTo: 99, isBegun: true },
    })
    rig.block(102, piece(5, 99, true)).block(103, piece(6, 60))
    assert.deepEqual(rig.all(), [{ address: address(6), from: 61, upTo: 99, isBegun: true }])
    rig.block(104, piece(6, 99, true))
    assert.deepEqual([rig.histories.length, rig.histories.get(address(6))], [0, undefined])
  })

  test('of an unknown token, or one that is read, changes nothing', () => {
    const rig = new Rig().block(100, token(5), token(6)).block(101, piece(6, 99, true), piece(7, 1))
    rig.block(102, piece(6, 50))
    assert.deepEqual(rig.order(), [5])
  })

  test('without progress changes nothing, and neither does one that is covered', () => {
    const rig = new Rig().block(100, token(5)).block(101, piece(5, 0))
    assert.deepEqual(rig.all(), [{ address: address(5), from: 1, upTo: 99, isBegun: false }])
    rig.block(102, piece(5, 40)).block(103, piece(5, 30))
    assert.equal(rig.histories.get(address(5))?.from, 41)
  })
})

test('undoing blocks restores what was open', () => {
  const facts: fc.Arbitrary<Fact> = fc.oneof(
    fc.nat(12).map((at) => token(at)),
    fc.nat(12).map((at) => pool(at)),
    fc
      .record({ at: fc.nat(12), upTo: fc.nat(50), isLast: fc.boolean() })
      .map(({ at, upTo, isLast }) => piece(at, upTo, isLast)),
  )
  const blocks = fc.array(fc.array(facts, { maxLength: 4 }), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(blocks, fc.nat(), (all, at) => {
      const kept = at % all.length
      const apply = (rig: Rig, number: number): void => {
        rig.block(100 + number, ...(all[number] ?? []))
        for (const open of rig.all()) assert.deepEqual(rig.histories.get(open.address), open)
        assert.equal(rig.all().length, rig.histories.length)
      }
      const undone = new Rig()
      for (let number = 0; number < all.length; number++) apply(undone, number)
      undone.undo(100 + kept, 100 + all.length - 1)
      const never = new Rig()
      for (let number = 0; number < kept; number++) apply(never, number)
      assert.deepEqual(undone.all(), never.all())
      // And it goes on alike from there.
      for (let number = kept; number < all.length; number++) {
        apply(undone, number)
        apply(never, number)
      }
      assert.deepEqual(undone.all(), never.all())
    }),
  )
})
