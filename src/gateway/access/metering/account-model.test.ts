import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  AccountWorld,
  GATEWAYS,
  type Happening,
  LEASE_MS,
  OVERDRAFT_MS,
} from '../../../../test/support/reference/account-world.ts'

class Command implements fc.Command<object, AccountWorld> {
  readonly #happening: Happening

  constructor(happening: Happening) {
    this.#happening = happening
  }

  check(): boolean {
    return true
  }

  run(_model: object, world: AccountWorld): void {
    world.apply(this.#happening)
    world.check()
  }

  toString(): string {
    return JSON.stringify(this.#happening)
  }
}

const at = fc.nat(2 * GATEWAYS - 1)
const units = fc.constantFrom(1, 5, 10, 100)
const happenings: fc.Arbitrary<Happening>[] = [
  fc.record({ type: fc.constantFrom('spend', 'reserve', 'wait', 'wait'), at, units }),
  fc.record({ type: fc.constant('end'), at, nth: fc.nat(5), isCharged: fc.boolean() }),
  fc.record({ type: fc.constantFrom('giveBack', 'maintain', 'refresh', 'close', 'timer', 'timer'), at }),
  fc.record({
    type: fc.constant('deliver'),
    at,
    fate: fc.constantFrom('answer', 'answer', 'answer', 'lost', 'answer lost', 'late'),
  }),
  fc.record({ type: fc.constant('late call'), nth: fc.nat(5) }),
  fc.record({ type: fc.constant('advance'), ms: fc.constantFrom(1, 20, 500, 1_500, LEASE_MS) }),
  fc.record({ type: fc.constant('next month') }),
]

function commands(): fc.Arbitrary<Iterable<fc.Command<object, AccountWorld>>> {
  return fc.commands(
    happenings.map((each) => each.map((happening) => new Command(happening))),
    { maxCommands: 80, size: 'max' },
  )
}

for (const [title, overdraftMs] of [
  ['no unit is spent twice and none is lost, even if calls or answers are', 0],
  ['on credit, no more than the credited units exceed the limit', OVERDRAFT_MS],
] as const) {
  test(title, () => {
    fc.assert(
      fc.property(fc.nat(500), fc.integer({ min: 1, max: 200 }), commands(), (limit, leaseUnits, all) => {
        const world = new AccountWorld(limit, leaseUnits, overdraftMs)
        fc.modelRun(() => ({ model: {}, real: world }), all)
        world.finish()
      }),
      { numRuns: 1_000 },
    )
  })
}

test('a request waits for the lease of a lost answer, while units of the month before are not reported', () => {
  const world = new AccountWorld(1, 1, 0)
  const happenings: readonly Happening[] = [
    { type: 'wait', at: 1, units: 1 },
    { type: 'deliver', at: 1, fate: 'answer' },
    { type: 'advance', ms: 500 },
    { type: 'next month' },
    { type: 'advance', ms: 500 },
    { type: 'wait', at: 0, units: 1 },
    { type: 'deliver', at: 2, fate: 'late' },
    { type: 'end', at: 1, nth: 0, isCharged: true },
    { type: 'advance', ms: 500 },
    { type: 'late call', nth: 0 },
    { type: 'wait', at: 3, units: 1 },
  ]
  for (const happening of happenings) assert.ok(world.apply(happening), happening.type)
  world.finish()
})

test('a lease that ended during a call may belong to others, so it is not spent from', () => {
  const limit = 1_000
  const world = new AccountWorld(limit, 100, 0)
  const happenings: readonly Happening[] = [
    { type: 'wait', at: 0, units: 1 },
    { type: 'deliver', at: 0, fate: 'answer' },
    { type: 'end', at: 0, nth: 0, isCharged: false },
    { type: 'advance', ms: LEASE_MS - 1 },
    { type: 'refresh', at: 0 },
    { type: 'advance', ms: 1 },
    { type: 'wait', at: 1, units: limit },
    { type: 'deliver', at: 1, fate: 'answer' },
    { type: 'deliver', at: 0, fate: 'answer' },
  ]
  for (const happening of happenings) assert.ok(world.apply(happening), happening.type)
  assert.equal(world.apply({ type: 'spend', at: 0, units: 1 }), false)
  world.finish()
})
