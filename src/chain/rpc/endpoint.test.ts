import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AdaptiveRate } from './adaptive-rate.ts'
import { Endpoint } from './endpoint.ts'

const LIMITS = { maxInFlight: 4, lagBlocks: 3, lagAfterMs: 1_000, lastResortMs: 2_000 }

describe('the rate', () => {
  const takeEvery = (rate: AdaptiveRate, from: number, to: number, stepMs: number): void => {
    for (let now = from; now < to; now += stepMs) if (rate.waitMs(now) === 0) rate.take(now)
  }

  test('is unlimited until an endpoint refuses, then below the rate at that time', () => {
    const rate = new AdaptiveRate()
    takeEvery(rate, 0, 1_000, 10)
    assert.equal(rate.waitMs(1_000), 0)
    rate.refused(1_000, undefined)
    assert.equal(rate.perSecond, 70)
    assert.equal(rate.waitMs(1_000), 250)
  })

  test('falls once for refusals of one moment, and further with the next refusal', () => {
    const rate = new AdaptiveRate()
    takeEvery(rate, 0, 1_000, 10)
    for (let now = 1_000; now < 1_100; now += 10) rate.refused(now, undefined)
    assert.equal(rate.perSecond, 70)
    rate.refused(2_000, undefined)
    assert.equal(Math.round(rate.perSecond ?? 0), 49)
    for (let now = 3_000; now < 60_000; now += 1_000) rate.refused(now, undefined)
    assert.equal(rate.perSecond, 1)
  })

  test('pauses for the requested time', () => {
    const rate = new AdaptiveRate()
    rate.refused(0, 7_000)
    assert.equal(rate.waitMs(1_000), 6_000)
    assert.equal(rate.waitMs(7_000), 0)
  })

  test('rises slowly, and only while it is used up', () => {
    const rate = new AdaptiveRate()
    takeEvery(rate, 0, 1_000, 10)
    rate.refused(1_000, undefined)
    takeEvery(rate, 5_000, 15_000, 200)
    assert.equal(rate.perSecond, 70, 'hardly used')
    takeEvery(rate, 15_000, 26_000, 5)
    const risen = rate.perSecond ?? 0
    assert.ok(risen > 80 && risen < 70 * 1.05 ** 11, `${risen}`)
  })
})

describe('an endpoint', () => {
  const create = (): Endpoint => {
    const endpoint = new Endpoint('0:node', LIMITS)
    endpoint.proved()
    return endpoint
  }
  const pauseOf = (endpoint: Endpoint, from: number): number => {
    let now = from
    while (!endpoint.isDue(now, false)) now += 1
    return now - from
  }

  test('is paused longer with every failure, and has to prove itself after each', () => {
    const endpoint = create()
    const pauses: number[] = []
    for (let now = 0; pauses.length < 9; now += 100_000) {
      endpoint.failed(now, 'reset')
      assert.equal(endpoint.isProven, false)
      pauses.push(pauseOf(endpoint, now))
      endpoint.proved()
    }
    assert.deepEqual(pauses, [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
  })

  test('counts one failure when all requests in flight fail', () => {
    const endpoint = create()
    for (let asked = 0; asked < 20; asked++) endpoint.failed(asked, 'reset')
    assert.equal(endpoint.failures, 1)
  })

  test('that fails every other time does not look healthy', () => {
    const endpoint = create()
    for (let now = 0; now < 1_000_000; now += 100_000) {
      endpoint.proved()
      endpoint.answered('eth_call', 5, 5)
      endpoint.failed(now, 'reset')
    }
    assert.ok(endpoint.failures > 5)
  })

  test('is retried sooner when there is no other endpoint', () => {
    const endpoint = create()
    for (let now = 0; now < 1_000_000; now += 100_000) endpoint.failed(now, 'reset')
    const last = 900_000
    assert.equal(endpoint.isDue(last + 1_999, true), false)
    assert.equal(endpoint.isDue(last + 2_000, true), true)
    assert.equal(endpoint.isDue(last + 2_000, false), false)
    endpoint.probed(last + 2_000)
    assert.equal(endpoint.isDue(last + 2_100, true), false)
  })

  test('that was outrun counts as slower, and is paused when it happens repeatedly', () => {
    const endpoint = create()
    const before = endpoint.cost(0, 10)
    endpoint.outrun(0, 'eth_call', 200, 10)
    assert.ok(endpoint.cost(0, 10) > 3 * before)
    endpoint.outrun(1, 'eth_call', 200, 10)
    assert.equal(endpoint.isProven, true)
    endpoint.outrun(2, 'eth_call', 200, 10)
    assert.equal(endpoint.isProven, false)
  })

  test('that returned invalid data is trusted less for a time, whatever it returns since', () => {
    const endpoint = create()
    endpoint.blamed(0, 'wrong root')
    assert.equal(endpoint.trust(0), 0.5)
    for (let answers = 0; answers < 1_000; answers++) endpoint.answered('eth_call', 1, 1)
    assert.equal(endpoint.trust(0), 0.5)
    assert.ok(endpoint.trust(3_600_000) > 0.98)
    assert.ok(endpoint.cost(1, 10) > 1.9 * create().cost(1, 10))
  })

  test('costs more when it is slow, busy, limited or lagging', () => {
    const usual = create().cost(0, 10)
    const slow = create()
    for (let answers = 0; answers < 20; answers++) slow.answered('eth_call', 50, 10)
    const busy = create()
    for (let asked = 0; asked < 3; asked++) busy.started(0)
    const limited = create()
    limited.rate.refused(0, undefined)
    for (const endpoint of [slow, busy, limited]) assert.ok(endpoint.cost(0, 10) > usual * 1.5)
    const lagging = create()
    lagging.sawHead(0, 96, 100)
    assert.equal(lagging.cost(999, 10), usual, 'not at once')
    assert.equal(lagging.isLagging(1_000), true)
    assert.equal(lagging.cost(1_000, 10), usual * 10)
    lagging.sawHead(1_001, 97, 100)
    assert.equal(lagging.isLagging(5_000), false)
  })
})
