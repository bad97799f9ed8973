import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { Account } from '../../src/gateway/access/metering/account.ts'
import { Overdraft } from '../../src/gateway/access/metering/overdraft.ts'
import { type Stack, startStack } from '../../src/sandbox/servers/stack.ts'
import { openQuotaStore, type QuotaStore } from '../../src/store/redis/quota-store.ts'
import { createTestCommon } from '../support/rigs/test-common.ts'

const MONTH = '2026-01'

let stack: Stack
const common = createTestCommon()
const remembered = new Map<string, number>()
let keys = 0

before(async () => {
  stack = await startStack({ services: ['redis'] })
})

after(async () => {
  await common.shutdown.finish()
  await stack?.stop()
})

async function open(gateway: string, leaseMs = 60_000): Promise<QuotaStore> {
  const options = { url: stack.redisUrl, prefix: 'q', gateway, leaseMs, remembered: async () => remembered }
  const store = await openQuotaStore(options, common)
  common.shutdown.onClose(gateway, () => store.close())
  return store
}

const call = (call: number, overrides: object = {}) => ({
  ...{ call, spent: 0, ceiling: 0, limit: 100, need: 10, want: 10, least: 1 },
  ...overrides,
})

test('ceilings never exceed the limit, a return is free at once, an end of lease too', async () => {
  const [a, b] = [await open('a', 400), await open('b', 400)]
  const ref = { keyId: `k${++keys}`, month: MONTH }
  assert.deepEqual(await a.lease(ref, call(1, { need: 60, want: 60 })), {
    granted: 60,
    spentByAll: 0,
    leasedToOthers: 0,
    othersEndMs: 0,
  })
  const second = await b.lease(ref, call(1, { need: 60, want: 60 }))
  assert.deepEqual([second.granted, second.leasedToOthers], [40, 60])
  assert.ok(second.othersEndMs > 0 && second.othersEndMs <= 400)
  const none = await b.lease(ref, call(2, { ceiling: 40 }))
  assert.equal(none.granted, 0)
  // a spent 10 and gives 30 back.
  await a.lease(ref, call(2, { spent: 10, ceiling: 30, need: 0, want: 0, least: 0 }))
  const more = await b.lease(ref, call(3, { ceiling: 40, need: 100, want: 100 }))
  assert.deepEqual([more.granted, more.spentByAll, more.leasedToOthers], [30, 10, 20])
  await sleep(450)
  const last = await b.lease(ref, call(4, { ceiling: 70, need: 100, want: 100 }))
  assert.deepEqual([last.granted, last.spentByAll, last.leasedToOthers], [20, 10, 0])
})

test('less than what is of use is not taken; a call that comes too late changes nothing', async () => {
  const a = await open('a')
  const ref = { keyId: `k${++keys}`, month: MONTH }
  assert.equal((await a.lease(ref, call(5, { limit: 9, need: 20, least: 10 }))).granted, 0)
  assert.equal((await a.lease(ref, call(6, { limit: 9, need: 20, least: 9 }))).granted, 9)
  await assert.rejects(a.lease(ref, call(6)), { code: 'store_unavailable' })
  await assert.rejects(a.lease(ref, call(2)), { code: 'store_unavailable' })
})

test('gateways restore totals that Redis has lost', async () => {
  const [a, b] = [await open('a'), await open('b')]
  const ref = { keyId: `k${++keys}`, month: MONTH }
  remembered.set('gone', 30).set('a', 20)
  try {
    const answer = await b.lease(ref, call(1, { need: 100, want: 100 }))
    assert.deepEqual([answer.granted, answer.spentByAll], [50, 50])
    // a itself knows best, and has spent more since.
    const own = await a.lease(ref, call(9, { spent: 25, ceiling: 25, need: 100, want: 100 }))
    assert.deepEqual([own.granted, own.spentByAll], [0, 55])
  } finally {
    remembered.clear()
  }
})

type Step = { readonly at: number; readonly units: number; readonly fails: boolean; readonly ms: number }

/** Everything at once, over real Redis; some calls are lost before they arrive, some answers afterwards. */
async function runAccounts(
  limit: number,
  leaseUnits: number,
  steps: readonly Step[],
  losses: readonly string[],
) {
  const ref = { keyId: `k${++keys}`, month: MONTH }
  const accounts: Account[] = []
  const lost = losses.values()
  for (const gateway of ['a', 'b', 'c']) {
    const store = stores.get(gateway) ?? (await open(gateway))
    stores.set(gateway, store)
    accounts.push(
      new Account({
        ...{ limit, leaseUnits, leaseMs: 60_000, now: () => performance.now(), onFailure: () => undefined },
        overdraft: new Overdraft({ maxMs: 0, now: () => performance.now() }),
        recall: () => {
          for (const account of accounts) account.giveBack()
        },
        lease: async (each) => {
          const loss = lost.next().value
          if (loss === 'before') throw new Error('lost on the way')
          const answer = await store.lease(ref, each)
          if (loss === 'after') throw new Error('the answer was lost')
          return answer
        },
      }),
    )
  }
  let charged = 0
  let refused = 0
  const isTry = async ({ at, units, fails, ms }: Step): Promise<void> => {
    const reserved = await accounts[at % 3]?.reserve(units)
    assert.ok(reserved !== undefined)
    if ('reason' in reserved) {
      refused += reserved.reason === 'exhausted' ? 1 : 0
      return
    }
    await sleep(ms)
    if (fails) reserved.release()
    else {
      charged += units
      reserved.charge()
    }
    assert.ok(charged <= limit, `${charged} of ${limit} were charged`)
  }
  await Promise.all(steps.map(isTry))
  return { charged, refused, isTry, chargedNow: () => charged }
}

const stores = new Map<string, QuotaStore>()
const steps = fc.array(
  fc.record({
    at: fc.nat(2),
    units: fc.constantFrom(1, 5, 10, 100),
    fails: fc.boolean(),
    ms: fc.nat(40),
  }),
  { minLength: 1, maxLength: 60, size: 'max' },
)

test('never more than the limit is granted, whatever is requested and whichever calls are lost', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(500),
      fc.integer({ min: 1, max: 200 }),
      steps,
      fc.array(fc.constantFrom('', '', '', 'before', 'after'), { maxLength: 20 }),
      async (limit, leaseUnits, all, losses) => {
        await runAccounts(limit, leaseUnits, all, losses)
      },
    ),
    { numRuns: 40 },
  )
})

test('with no call lost, the full limit is granted', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(500), fc.integer({ min: 1, max: 200 }), steps, async (limit, leaseUnits, all) => {
      const { isTry, chargedNow } = await runAccounts(limit, leaseUnits, all, [])
      // One unit after the other, wherever: all that is left can be spent.
      for (let i = 0; chargedNow() < limit && i < limit + 3; i++)
        await isTry({ at: i, units: 1, fails: false, ms: 0 })
      assert.equal(chargedNow(), limit)
    }),
    { numRuns: 20 },
  )
})
