import assert from 'node:assert/strict'
import test from 'node:test'
import type { RateAnswer, RateCall } from '../../../store/redis/rate-store.ts'
import { SharedBucket } from './shared-bucket.ts'
import { TokenBucket } from './token-bucket.ts'

/** As Redis keeps it, of any number of gateways, with a clock that the test moves. */
function start({ perSecond = 100, burst = 100, gateways = 4 } = {}) {
  const clock = { ms: 0 }
  const state = { calls: 0, isAway: false }
  const shared = new TokenBucket(perSecond, () => clock.ms, burst)
  const lease = async ({ giveBack, want }: RateCall): Promise<RateAnswer> => {
    state.calls++
    if (state.isAway) throw new Error('away')
    shared.giveBack(giveBack)
    shared.take(0)
    const granted = Math.min(want, shared.left)
    shared.take(granted)
    return { granted, left: shared.left, gateways }
  }
  const failures: unknown[] = []
  const buckets = Array.from(
    { length: gateways },
    () =>
      new SharedBucket({
        ...{ perSecond, burst, lease, gateways: () => gateways, now: () => clock.ms },
        onFailure: (error) => failures.push(error),
      }),
  )
  return { buckets, clock, state, shared, failures }
}

const at = (buckets: readonly SharedBucket[], index: number) =>
  buckets[index % buckets.length] as SharedBucket

test('concurrent requests on all gateways are granted up to the burst', async () => {
  const { buckets } = start()
  const asked = Array.from({ length: 400 }, (_, index) => at(buckets, index).takeOrLease())
  const admitted = (await Promise.all(asked)).filter(Boolean).length
  // What a gateway leased ahead may be left over at one while another is asked.
  assert.ok(admitted >= 90 && admitted <= 100, `${admitted}`)
})

test('over time all of them together have the rate of the plan, with few calls', async () => {
  for (const perMs of [1, 4]) {
    const { buckets, clock, state } = start()
    let admitted = 0
    for (clock.ms = 0; clock.ms < 10_000; clock.ms++) {
      for (let nth = 0; nth < perMs; nth++) if (await at(buckets, clock.ms + nth).takeOrLease()) admitted++
    }
    const allowed = 100 + 10 * 100
    assert.ok(admitted <= allowed && admitted >= 0.95 * allowed, `${admitted} of ${allowed}`)
    assert.ok(state.calls <= 4 * 10 * 45, `${state.calls} calls for ${10_000 * perMs} requests`)
  }
})

test('a client below its rate at one gateway is never refused, and seldom waits for a lease', async () => {
  const { buckets, clock } = start({ perSecond: 100, burst: 200 })
  const bucket = at(buckets, 0)
  let waited = 0
  for (let request = 0; request < 500; request++, clock.ms += 11) {
    const taken = bucket.takeOrLease()
    if (typeof taken !== 'boolean') waited++
    assert.equal(await taken, true)
    await new Promise(setImmediate)
  }
  assert.ok(waited <= 5, `${waited}`)
})

test('an idle gateway returns its lease', async () => {
  const { buckets, clock, shared } = start({ burst: 400 })
  for (let nth = 0; nth < 200; nth++) assert.equal(await at(buckets, 0).takeOrLease(), true)
  await new Promise(setImmediate)
  assert.equal(at(buckets, 0).isIdle(), false)
  clock.ms += 500
  assert.equal(at(buckets, 0).isIdle(), true)
  await at(buckets, 0).settle()
  shared.take(0)
  assert.ok(shared.left >= 400 - 200 + 50 - 10, `${shared.left}`)
  await at(buckets, 0).settle(true)
  assert.equal(shared.left, 400 - 200 + 50)
})

test('while Redis is away each gateway has its share of what is left; then all is as before', async () => {
  const { buckets, clock, state, failures } = start()
  for (const bucket of buckets) assert.equal(await bucket.takeOrLease(), true)
  state.isAway = true
  const count = async (ms: number): Promise<number> => {
    let admitted = 0
    for (const end = clock.ms + ms; clock.ms < end; clock.ms++)
      for (const bucket of buckets) if (await bucket.takeOrLease()) admitted++
    return admitted
  }
  const away = await count(10_000)
  assert.ok(away <= 1.1 * 1_100 && away >= 0.9 * 1_100, `${away}`)
  assert.equal(failures.length, buckets.length)
  state.isAway = false
  await count(2_000)
  const back = await count(10_000)
  assert.ok(back <= 1.05 * 1_000 && back >= 0.95 * 1_000, `${back}`)
})

test('reports what is left and when', async () => {
  const { buckets, clock } = start({ perSecond: 2, burst: 5 })
  const [bucket] = buckets as [SharedBucket]
  assert.deepEqual([bucket.left, bucket.secondsUntilFull], [5, 0])
  for (let nth = 0; nth < 5; nth++) assert.equal(await bucket.takeOrLease(), true)
  assert.equal(await bucket.takeOrLease(), false)
  assert.deepEqual([bucket.left, bucket.secondsUntil(1), bucket.secondsUntilFull], [0, 1, 3])
  clock.ms += 500
  assert.deepEqual([bucket.left, await bucket.takeOrLease(), await bucket.takeOrLease()], [1, true, false])
})
