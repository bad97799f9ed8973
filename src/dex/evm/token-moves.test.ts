import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { words } from '../../../test/support/builders/abi-words.ts'
import { padded, rawLog, spoiled } from '../../../test/support/builders/raw-log.ts'
import type { RawLog } from '../../domain/envelope.ts'
import { ZERO_ADDRESS } from '../../domain/known-addresses.ts'
import { noMoves } from '../move-sums.ts'
import { addMove, isMove, movesOf, moveTopics, type TokenMove } from './token-moves.ts'

const [TRANSFER = '', DEPOSIT = '', WITHDRAWAL = ''] = moveTopics(true)
const TOKEN = `0x${'7'.repeat(40)}`
const OTHER = `0x${'8'.repeat(40)}`
const ALICE = `0x${'a'.repeat(40)}`
const BOB = `0x${'b'.repeat(40)}`

const transfer = (from: string, to: string, amount: bigint, token = TOKEN): RawLog =>
  rawLog(token, [TRANSFER, padded(from), padded(to)], words(amount))
const deposit = (owner: string, amount: bigint, token = TOKEN): RawLog =>
  rawLog(token, [DEPOSIT, padded(owner)], words(amount))
const withdrawal = (owner: string, amount: bigint, token = TOKEN): RawLog =>
  rawLog(token, [WITHDRAWAL, padded(owner)], words(amount))

function moves(...logs: readonly RawLog[]): TokenMove[] {
  return movesOf({ logs }, (token) => token === TOKEN)
}

describe('token moves', () => {
  test('include transfers, with or without indexed addresses', () => {
    const move = { token: TOKEN, from: ALICE, to: BOB, amount: 2n ** 256n - 1n }
    assert.deepEqual(moves(transfer(ALICE, BOB, move.amount)), [move])
    assert.deepEqual(moves(rawLog(TOKEN, [TRANSFER], words(padded(ALICE), padded(BOB), move.amount))), [move])
  })

  test('exclude truncated, dirty and NFT transfers', () => {
    for (const log of [transfer(ALICE, BOB, 5n), deposit(ALICE, 5n), withdrawal(ALICE, 5n)]) {
      for (const bad of spoiled(log)) assert.deepEqual(moves(bad), [])
    }
    const unindexed = rawLog(TOKEN, [TRANSFER], words(padded(ALICE), padded(BOB), 5n))
    for (const bad of spoiled(unindexed)) assert.deepEqual(moves(bad), [])
    const { topics, data } = transfer(ALICE, BOB, 5n)
    for (const hex of ['0x', `0x${Buffer.from(data).toString('hex')}`])
      assert.deepEqual(moves(rawLog(TOKEN, [...topics, words(7n)], hex)), [])
  })

  test('include deposits and withdrawals of wrapped native coins only', () => {
    assert.deepEqual(moves(deposit(ALICE, 5n), withdrawal(BOB, 3n), deposit(ALICE, 5n, OTHER)), [
      { token: TOKEN, from: ZERO_ADDRESS, to: ALICE, amount: 5n },
      { token: TOKEN, from: BOB, to: ZERO_ADDRESS, amount: 3n },
    ])
    assert.deepEqual(
      [deposit(ALICE, 5n), transfer(ALICE, BOB, 5n)].map((log) => [isMove(log, true), isMove(log, false)]),
      [
        [true, false],
        [true, true],
      ],
    )
  })

  test('count a deposit that also emits a transfer once', () => {
    const minted = { token: TOKEN, from: ZERO_ADDRESS, to: ALICE, amount: 5n }
    assert.deepEqual(moves(deposit(ALICE, 5n), transfer(ZERO_ADDRESS, ALICE, 5n)), [minted])
    assert.deepEqual(moves(transfer(ZERO_ADDRESS, ALICE, 5n), deposit(ALICE, 5n)), [minted])
    // A different amount or token is a separate move.
    assert.equal(moves(deposit(ALICE, 5n), transfer(ZERO_ADDRESS, ALICE, 4n)).length, 2)
    assert.equal(moves(deposit(ALICE, 5n), transfer(ZERO_ADDRESS, ALICE, 5n, OTHER)).length, 2)
  })
})

describe('sums of moves', () => {
  const party = fc.constantFrom(ZERO_ADDRESS, ALICE, BOB, OTHER)
  const move = fc.record({
    token: fc.constant(TOKEN),
    from: party,
    to: party,
    amount: fc.oneof(fc.bigInt({ min: 0n, max: 20n }), fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })),
  })

  test('are gains minus losses per address, plus issued and burned amounts', () => {
    fc.assert(
      fc.property(fc.array(move), (all) => {
        const total = (wanted: (one: TokenMove) => boolean): bigint =>
          all.filter(wanted).reduce((sum, { amount }) => sum + amount, 0n)
        const sums = noMoves()
        for (const one of all) addMove(sums, one)
        const gains = new Map([...sums.gains].filter(([, gain]) => gain !== 0n))
        const naive = [ALICE, BOB, OTHER].map((holder) => {
          return [holder, total(({ to }) => to === holder) - total(({ from }) => from === holder)] as const
        })
        assert.deepEqual(gains, new Map(naive.filter(([, gain]) => gain !== 0n)))
        const minted = total(({ from }) => from === ZERO_ADDRESS)
        const mintedToZero = total(({ from, to }) => from === ZERO_ADDRESS && to === ZERO_ADDRESS)
        const burned = total(({ to }) => to === ZERO_ADDRESS) - mintedToZero
        assert.deepEqual(
          [sums.issuedRaw, sums.burnedRaw, sums.mintedToZeroRaw],
          [minted - burned, burned, mintedToZero],
        )
        // Every issued unit belongs to an address or was minted to the zero address.
        const held = [...sums.gains.values()].reduce((sum, gain) => sum + gain, 0n)
        assert.equal(held + sums.mintedToZeroRaw, sums.issuedRaw)
      }),
    )
  })

  test('do not depend on how the moves are split', () => {
    fc.assert(
      fc.property(fc.array(move), fc.nat(), (all, at) => {
        const whole = noMoves()
        for (const one of all) addMove(whole, one)
        const cut = all.length === 0 ? 0 : at % all.length
        const pieces = [all.slice(0, cut), all.slice(cut)].map((piece) => {
          const sums = noMoves()
          for (const one of piece) addMove(sums, one)
          return sums
        })
        const both = (of: (sums: ReturnType<typeof noMoves>) => bigint): bigint =>
          pieces.reduce((sum, piece) => sum + of(piece), 0n)
        for (const [holder, gain] of whole.gains)
          assert.equal(
            gain,
            both(({ gains }) => gains.get(holder) ?? 0n),
          )
        assert.equal(
          whole.issuedRaw,
          both(({ issuedRaw }) => issuedRaw),
        )
        assert.equal(
          whole.burnedRaw,
          both(({ burnedRaw }) => burnedRaw),
        )
      }),
    )
  })
})
