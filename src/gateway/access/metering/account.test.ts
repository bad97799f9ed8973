import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LeaseCall } from '../../../store/redis/quota-store.ts'
import { Account } from './account.ts'
import { Overdraft } from './overdraft.ts'

const LEASE_UNITS = 100
const LEASE_MS = 1_000

const OVERDRAFT_MS = 5_000

/** An account of a store that grants all it is asked for, and what it was asked. */
function open(limit = 10_000) {
  const clock = { ms: 0 }
  const calls: LeaseCall[] = []
  const store = { isAway: false, failures: 0 }
  const account = new Account({
    ...{ limit, leaseUnits: LEASE_UNITS, leaseMs: LEASE_MS, now: () => clock.ms },
    overdraft: new Overdraft({ maxMs: OVERDRAFT_MS, now: () => clock.ms }),
    lease: async (call) => {
      calls.push(call)
      if (store.isAway) throw new Error('away')
      return { granted: call.want, spentByAll: call.spent, leasedToOthers: 0, othersEndMs: 0 }
    },
    recall: () => assert.fail('nobody else has any'),
    onFailure: (error) => {
      assert.ok(store.isAway, String(error))
      store.failures++
    },
  })
  return { account, calls, clock, store }
}

async function leased(opened: ReturnType<typeof open>): Promise<void> {
  const reservation = await opened.account.reserve(1)
  assert.ok('charge' in reservation)
  reservation.release()
}

test('spends at once what is leased, and nothing without a lease or beyond it', async () => {
  const opened = open()
  const { account, calls } = opened
  assert.equal(account.spendNow(1), false)
  assert.equal(account.spent, 0)
  await leased(opened)
  assert.equal(account.spendNow(60), true)
  assert.equal(account.spendNow(41), false)
  assert.equal(account.spendNow(10), true)
  assert.equal(account.spent, 70)
  assert.equal(account.remaining, 10_000 - 70)
  assert.equal(calls.length, 1)
})

test('units reserved for running requests are not spent twice', async () => {
  const opened = open()
  await leased(opened)
  const reservation = await opened.account.reserve(95)
  assert.equal(opened.account.spendNow(6), false)
  assert.equal(opened.account.spendNow(5), true)
  assert.ok('charge' in reservation)
  reservation.charge()
  assert.equal(opened.account.spent, 100)
})

test('the next lease is fetched before the present one is used up', async () => {
  const opened = open()
  await leased(opened)
  assert.equal(opened.account.spendNow(80), true)
  await new Promise(setImmediate)
  assert.equal(opened.calls.length, 2)
  assert.equal(opened.calls[1]?.spent, 80)
  assert.equal(opened.account.spendNow(100), true)
})

test('a lease that has ended is not spent from', async () => {
  const opened = open()
  await leased(opened)
  opened.clock.ms = LEASE_MS
  assert.equal(opened.account.spendNow(1), false)
})

test('while others are out of units, what is left goes back after each spending', async () => {
  const opened = open()
  await leased(opened)
  opened.account.giveBack()
  await new Promise(setImmediate)
  assert.equal(opened.account.spendNow(1), false)
  const last = opened.calls.at(-1)
  assert.deepEqual([last?.ceiling, last?.want], [0, 0])
})

async function spend(account: Account, units: number): Promise<string> {
  const outcome = await account.reserve(units)
  if ('reason' in outcome) return outcome.reason
  outcome.charge()
  return 'spent'
}

test('without the store a key is served beyond its lease, for a bounded time, and all of it is reported afterwards', async () => {
  const opened = open()
  const { account, calls, clock, store } = opened
  await leased(opened)
  store.isAway = true
  assert.equal(account.spendNow(90), true)
  await new Promise((resolve) => setImmediate(resolve))
  clock.ms = 10
  assert.equal(await spend(account, 500), 'spent')
  const asked = calls.length
  for (let i = 0; i < 5; i++) assert.equal(await spend(account, 500), 'spent')
  assert.equal(account.spent, 3_090)
  assert.equal(calls.length, asked, 'nobody waits for a store that is away')
  clock.ms += OVERDRAFT_MS
  assert.equal(await spend(account, 1), 'unavailable')
  store.isAway = false
  assert.equal(await spend(account, 1), 'spent')
  assert.equal(calls.at(-1)?.spent, 3_090)
  assert.equal(calls.at(-1)?.ceiling, 3_090)
})

test('credit ends where the units of the month do, as far as is known', async () => {
  const opened = open(1_000)
  const { account, store } = opened
  await leased(opened)
  store.isAway = true
  assert.equal(await spend(account, 600), 'spent')
  assert.equal(await spend(account, 600), 'unavailable')
  assert.equal(await spend(account, 400), 'spent')
  assert.equal(await spend(account, 1), 'unavailable')
})
