import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { ZERO_ADDRESS } from '../../domain/known-addresses.ts'
import { flowsOf } from './token-flows.ts'
import type { TokenMove } from './token-moves.ts'

const TOKEN = `0x${'7'.repeat(40)}`
const VAULT = `0x${'e'.repeat(40)}`
const ROUTER = `0x${'1'.repeat(40)}`
const NEXT_POOL = `0x${'2'.repeat(40)}`
const ALICE = `0x${'a'.repeat(40)}`
const BOB = `0x${'b'.repeat(40)}`
const MOST = 2n ** 256n - 1n

type Step = readonly [from: string, to: string, amount: bigint]

function recipient(amount: bigint, ...steps: readonly Step[]): string | undefined {
  const moves = steps.map(([from, to, each]) => ({ token: TOKEN, from, to, amount: each }))
  return flowsOf(moves).get(TOKEN)?.recipientOf(VAULT, amount)
}

describe('the recipient of a swap', () => {
  test('is the payee, or the address that the routers passed everything on to', () => {
    assert.equal(recipient(5n, [VAULT, ALICE, 5n]), ALICE)
    assert.equal(recipient(5n, [VAULT, ROUTER, 5n], [ROUTER, ALICE, 5n]), ALICE)
    assert.equal(recipient(5n, [VAULT, ROUTER, 5n], [ROUTER, ALICE, 3n], [ROUTER, ALICE, 2n]), ALICE)
    assert.equal(recipient(5n, [VAULT, ROUTER, 5n], [ROUTER, NEXT_POOL, 5n]), NEXT_POOL)
  })

  test('is the last one who has the token before it is unwrapped', () => {
    assert.equal(recipient(5n, [VAULT, ROUTER, 5n], [ROUTER, ZERO_ADDRESS, 5n]), ROUTER)
  })

  test('is the same for several swaps that pay into one address', () => {
    assert.equal(recipient(5n, [VAULT, ROUTER, 5n], [NEXT_POOL, ROUTER, 9n], [ROUTER, ALICE, 14n]), ALICE)
  })

  test('is the payee that keeps it, whatever else happens to the token', () => {
    assert.equal(recipient(5n, [VAULT, ALICE, 5n], [NEXT_POOL, BOB, 9n]), ALICE)
  })

  test('is unknown if the router kept a fee, or paid several', () => {
    assert.equal(recipient(100n, [VAULT, ROUTER, 100n], [ROUTER, ALICE, 99n]), undefined)
    assert.equal(recipient(100n, [VAULT, ROUTER, 100n], [ROUTER, ALICE, 99n], [ROUTER, BOB, 1n]), undefined)
  })

  test('is unknown if the token takes a part of the transfer', () => {
    assert.equal(recipient(100n, [VAULT, ALICE, 98n], [VAULT, TOKEN, 2n]), undefined)
    assert.equal(recipient(100n, [VAULT, ALICE, 98n]), undefined)
    assert.equal(recipient(100n, [VAULT, ALICE, 100n], [ALICE, TOKEN, 2n]), undefined)
  })

  test('is unknown if what was bought never left the singleton, or was paid out together with more', () => {
    assert.equal(recipient(5n, [NEXT_POOL, ALICE, 5n]), undefined)
    assert.equal(recipient(5n, [VAULT, ALICE, 12n]), undefined)
    assert.equal(recipient(5n, [VAULT, ROUTER, 5n], [ROUTER, VAULT, 5n]), undefined)
    assert.equal(recipient(5n, [VAULT, ROUTER, 5n], [ROUTER, VAULT, 5n], [BOB, VAULT, 1n]), undefined)
  })

  test('is never the zero address, nor one that transferred to itself', () => {
    assert.equal(recipient(5n, [VAULT, ZERO_ADDRESS, 5n]), undefined)
    assert.equal(recipient(5n, [VAULT, VAULT, 5n]), undefined)
    assert.equal(recipient(0n, [VAULT, ALICE, 0n]), undefined)
  })

  test('holds at the limit of amounts', () => {
    const round: Step[] = [
      [VAULT, ROUTER, MOST],
      [VAULT, ROUTER, MOST],
      [ROUTER, ALICE, MOST],
      [ROUTER, ALICE, MOST],
    ]
    assert.equal(recipient(MOST, ...round), ALICE)
  })
})

const addresses = [VAULT, ROUTER, ALICE, BOB, ZERO_ADDRESS]
const anyMove: fc.Arbitrary<TokenMove> = fc.record({
  token: fc.constantFrom(TOKEN, TOKEN, TOKEN, ROUTER),
  from: fc.constantFrom(...addresses),
  to: fc.constantFrom(...addresses),
  amount: fc.constantFrom(0n, 1n, 1n, 2n, MOST),
})

/** The balance of an address after these moves, if it had none before and nobody burned anything. */
function gainOf(address: string, moves: readonly TokenMove[]): bigint {
  const sum = (own: readonly TokenMove[]) => own.reduce((total, { amount }) => total + amount, 0n)
  return sum(moves.filter(({ to }) => to === address)) - sum(moves.filter(({ from }) => from === address))
}

test('any transfers: a recipient got more than it gave, and of the payer exactly that was paid', () => {
  let known = 0
  fc.assert(
    fc.property(
      fc.array(anyMove, { maxLength: 8 }),
      fc.constantFrom(0n, 1n, 1n, 2n, MOST),
      (moves, amount) => {
        const own = moves.filter(({ token, to }) => token === TOKEN && to !== ZERO_ADDRESS)
        const found = flowsOf(moves).get(TOKEN)?.recipientOf(VAULT, amount)
        const paid = own.filter(({ from, to }) => from === VAULT && to !== VAULT && amount > 0n)
        const isPaid = paid.some((move) => move.amount === amount)
        const payees = [...new Set(paid.filter((move) => move.amount > 0n).map(({ to }) => to))]
        const gainers = addresses.filter((each) => each !== ZERO_ADDRESS && gainOf(each, own) > 0n)
        const kept = payees.filter((payee) =>
          own.every(({ from, to, amount: sent }) => from !== payee || to === payee || sent === 0n),
        )
        const only = gainers.length === 1 && gainers[0] !== VAULT ? gainers[0] : undefined
        const expected = payees.length === 1 && kept.length === 1 ? kept[0] : only
        assert.equal(found, isPaid ? expected : undefined)
        if (found !== undefined) known++
      },
    ),
    { numRuns: 3_000 },
  )
  assert.ok(known > 100, `${known} known`)
})

test('ten thousand swaps and transfers of one token in one transaction take no longer than the transfers', () => {
  const steps = 10_000
  const moves = Array.from({ length: steps }, (_, at): TokenMove => {
    return { token: TOKEN, from: VAULT, to: `0x${at.toString(16).padStart(40, '0')}`, amount: BigInt(at + 1) }
  })
  const flows = flowsOf(moves).get(TOKEN)
  const before = process.cpuUsage()
  for (let at = 0; at < steps; at++) assert.equal(flows?.recipientOf(VAULT, BigInt(at + 1)), undefined)
  const { user } = process.cpuUsage(before)
  // A look at every transfer for every swap would take 100,000,000 steps.
  assert.ok(user < 1_000_000, `${user} µs`)
})
