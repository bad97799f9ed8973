import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { NOTHING_COMMITTED } from '../../test/support/rigs/memory-state.ts'
import type { Fact, TransfersFact } from '../domain/envelope.ts'
import { JournaledState } from '../state/journaled-state.ts'
import { HistoryQueue, type OpenHistory } from './history-queue.ts'

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
  readonly queue = new HistoryQueue(this.state)

  block(number: number, ...facts: readonly Fact[]): this {
    for (const fact of facts) this.queue.apply(fact, number)
    this.state.sealBlock(number)
    return this
  }

  all(): OpenHistory[] {
    return this.queue.first(this.queue.length)
  }

  order(): number[] {
    return this.all().map((open) => Number(open.address))
  }
}

describe('the members of the queue', () => {
  test('tokens, and pools that may have had shares before, up to the block before they were met', () => {
    const { queue } = new Rig().block(100, token(5), pool(6), pool(7, [1n, 2n]))
    assert.equal(queue.length, 3)
    assert.deepEqual(queue.first(2), [
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

describe('a turn', () => {
  test('continues after the last part, at the end of the queue', () => {
    const rig = new Rig().block(100, token(5), token(6)).block(101, piece(5, 40, false, true))
    assert.deepEqual(rig.order(), [6, 5])
    assert.deepEqual(rig.all()[1], { address: address(5), from: 41, upTo: 99, isBegun: true })
    rig.block(102, piece(6, 99, true)).block(103, piece(5, 60))
    assert.deepEqual(rig.all(), [{ address: address(5), from: 61, upTo: 99, isBegun: true }])
    rig.block(104, piece(5, 99, true))
    assert.equal(rig.queue.length, 0)
  })

  test('out of turn changes nothing', () => {
    const rig = new Rig().block(100, token(5), token(6)).block(101, piece(6, 99, true), piece(7, 1))
    assert.deepEqual(rig.order(), [5, 6])
  })

  test('without having come further still lets the others go first', () => {
    const rig = new Rig().block(100, token(5), token(6)).block(101, piece(5, 0))
    assert.deepEqual(rig.order(), [6, 5])
    assert.deepEqual(rig.all()[1], { address: address(5), from: 1, upTo: 99, isBegun: false })
  })

  test('is fair: no history waits longer than the queue was long', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.array(fc.boolean(), { maxLength: 60 }),
        (count, ends) => {
          const tokens = Array.from({ length: count }, (_, at) => token(at + 5))
          const rig = new Rig().block(1_000, ...tokens)
          const lastTurn = new Map<string, number>()
          for (const [turn, isLast] of ends.entries()) {
            const [open] = rig.queue.first(1)
            if (open === undefined) break
            const waited = turn - (lastTurn.get(open.address) ?? -1)
            assert.ok(waited <= count, `waited for ${waited} turns of ${count}`)
            lastTurn.set(open.address, turn)
            rig.block(1_001 + turn, piece(Number(open.address), open.from, isLast))
          }
        },
      ),
    )
  })
})

test('undoing blocks restores the queue', () => {
  const facts: fc.Arbitrary<Fact> = fc.oneof(
    fc.nat(12).map((at) => token(at)),
    fc.nat(12).map((at) => pool(at)),
    fc.record({ upTo: fc.nat(50), isLast: fc.boolean() }).map(({ upTo, isLast }) => piece(-1, upTo, isLast)),
  )
  const blocks = fc.array(fc.array(facts, { maxLength: 4 }), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(blocks, fc.nat(), (all, at) => {
      const kept = at % all.length
      const apply = (rig: Rig, number: number): void => {
        // Pieces always belong to the first in the queue.
        const own = (all[number] ?? []).map((fact) =>
          fact.type === 'transfers' ? { ...fact, address: rig.queue.first(1)[0]?.address ?? '' } : fact,
        )
        rig.block(100 + number, ...own)
      }
      const undone = new Rig()
      for (let number = 0; number < all.length; number++) apply(undone, number)
      undone.state.undoBlocks(100 + kept, 100 + all.length - 1)
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
