import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LeaseCall } from '../../store/redis/quota-store.ts'
import { Account } from './account.ts'

const LEASE_UNITS = 100
const LEASE_MS = 1_000

/** An account of a store that grants all it is asked for, and what it was asked. */
function open(limit = 10_000) {
  const clock = { ms: 0 }
  const calls: LeaseCall[] = []
  const account = new Account({
    ...{ limit, leaseUnits: LEASE_UNITS, leaseMs: LEASE_MS, now: () => clock.ms },
    lease: async (call) => {
      calls.push(call)
      return { granted: call.want, spentByAll: call.spent, leasedToOthers: 0, othersEndMs: 0 }
    },
    recall: () => assert.fail('nobody else has any'),
    onFailure: (error) => assert.fail(String(error)),
  })
  return { account, calls, clock }
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

test('what is set aside for requests under way is not spent at once', async () => {
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
