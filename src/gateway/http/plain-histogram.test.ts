import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Histogram, Registry } from 'prom-client'
import { plainHistogram } from './plain-histogram.ts'

test('scrapes like a histogram of prom-client', async () => {
  const [ours, theirs] = [new Registry(), new Registry()]
  const options = { name: 'seconds', help: 'Time to answer' }
  const buckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
  const timesOf = plainHistogram({ ...options, label: 'route', buckets }, ours)
  const histogram = new Histogram({ ...options, labelNames: ['route'], buckets, registers: [theirs] })
  for (const ms of [0, 0.5, 0.500_1, 1, 9.75, 10_000, 10_001, 90_000]) {
    for (const route of ['/v2/a', '/v2/b']) {
      timesOf(route).add(ms)
      histogram.observe({ route }, ms / 1_000)
    }
  }
  assert.equal(await ours.metrics(), await theirs.metrics())
})
