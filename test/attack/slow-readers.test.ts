import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { API_KEY } from '../support/builders/test-key.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { Child } from './child.ts'
import { metric, metricsOf } from './figures.ts'
import { AttackMarket } from './market.ts'
import type { ReadersReport } from './readers-process.ts'
import { IS_SMOKE, MAX_RESIDENT_MB, maxP99Ms } from './settings.ts'
import { AttackWorld } from './world.ts'

/** One in twenty stops reading: the others must not notice, and the gateway must not keep what is not taken. */
/** A batch holds as many subscriptions. */
const PAIRS = 20
const [CLIENTS, SLOW] = IS_SMOKE ? [200, 10] : [1_000, 50]
const [CALM_SECONDS, SETTLE_SECONDS, PATIENCE_SECONDS] = IS_SMOKE ? [3, 2, 60] : [15, 40, 90]
const SETS_PER_SECOND = IS_SMOKE ? 50 : 10

let world: AttackWorld
let readers: Child

before(async () => {
  world = await AttackWorld.start(new AttackMarket(PAIRS))
  world.trade(SETS_PER_SECOND)
  const { port, market } = world
  readers = new Child('./readers-process.ts', {
    ...{ port, apiKey: API_KEY, pairs: market.pairs, clients: CLIENTS, slow: SLOW },
  })
  await readers.next()
  await world.settled(SETTLE_SECONDS)
})

after(async () => {
  readers?.stop()
  await world?.stop()
})

const count = async (name: string): Promise<number> =>
  metric(await metricsOf(world.adminUrl), `chaintape_gateway_${name}`)

test(`${SLOW} of ${CLIENTS} stop reading`, async () => {
  await readers.ask('measure')
  const calmWatch = await world.watch()
  await sleep(CALM_SECONDS * 1_000)
  const calm = await readers.ask<ReadersReport>('measure')
  const calmMb = (await calmWatch.end()).residentMb
  const watch = await world.watch()
  const conflated = await count('conflations_total')
  await readers.ask('stop reading')
  const swapReaders = Math.ceil(SLOW / 2)
  // Long enough to compare, and until the kernel takes nothing more for any of them.
  await sleep(CALM_SECONDS * 1_000)
  await waitFor(
    'slow readers of swaps to be disconnected, those of candles to be conflated',
    async () => {
      const isGivenUp = (await count('slow_readers_total')) >= swapReaders
      return isGivenUp && (await count('conflations_total')) > conflated ? true : undefined
    },
    PATIENCE_SECONDS * 1_000,
  )
  const slow = await readers.ask<ReadersReport>('measure')
  const figures = await watch.end()
  const growthMb = figures.residentMb - calmMb
  const again = await readers.ask<ReadersReport>('read again')
  const left = (await count('conflations_total')) - conflated
  console.log(
    `${CLIENTS} clients, ${SLOW} stop reading: p50 ${calm.latencyP50Ms.toFixed(1)} then ${slow.latencyP50Ms.toFixed(1)} ms, ` +
      `p99 ${calm.latencyP99Ms.toFixed(1)} then ${slow.latencyP99Ms.toFixed(1)} ms of ${calm.pushes} and ${slow.pushes} pushes; ` +
      `memory +${growthMb.toFixed(1)} MB (${figures.residentMb.toFixed(0)}), loop p99 ${figures.loopP99Ms.toFixed(1)} ms, ` +
      `waited ${(figures.waited * 100).toFixed(1)} %; ${left} candles left out; ` +
      `of swaps ${JSON.stringify(again.slowSwaps)}, of candles ${JSON.stringify(again.slowCandles)}`,
  )
  assert.deepEqual([...calm.faults, ...slow.faults, ...again.faults], [])
  assert.ok(calm.pushes > 0 && slow.pushes > 0)
  assert.deepEqual(again.slowSwaps, { 'closed 4408': swapReaders })
  assert.deepEqual(again.slowCandles, { open: SLOW - swapReaders })
  assert.ok(figures.residentMb <= MAX_RESIDENT_MB, `memory peaked at ${figures.residentMb} MB`)
  if (IS_SMOKE) return
  assert.ok(
    slow.latencyP99Ms <= maxP99Ms(calm.latencyP99Ms),
    `p99 of the others went from ${calm.latencyP99Ms} to ${slow.latencyP99Ms} ms`,
  )
})
