import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StaleWhileRevalidateCache } from './stale-while-revalidate.ts'

const FRESH_MS = 2_000
const STALE_MS = 4_000

/** A store whose reads end on command. */
class World {
  time = 0
  readonly readings: PromiseWithResolvers<string>[] = []
  readonly failures: string[] = []
  readonly #cache = new StaleWhileRevalidateCache<string>({
    freshMs: FRESH_MS,
    staleMs: STALE_MS,
    maxEntries: 10,
    now: () => this.time,
    onFailure: (name, error) => this.failures.push(`${name}: ${(error as Error).message}`),
  })

  ask(name = 'a'): Promise<string> {
    return this.#cache.get(name, () => {
      const reading = Promise.withResolvers<string>()
      this.readings.push(reading)
      return reading.promise
    })
  }

  /** Ends the last read. */
  async end(result: string | Error): Promise<void> {
    const reading = this.readings.at(-1)
    if (result instanceof Error) reading?.reject(result)
    else reading?.resolve(result)
    await new Promise(setImmediate)
  }

  async known(value: string): Promise<void> {
    const asked = this.ask()
    await this.end(value)
    assert.equal(await asked, value)
  }
}

test('concurrent callers share one read', async () => {
  const world = new World()
  const asked = [world.ask(), world.ask(), world.ask('b')]
  assert.equal(world.readings.length, 2)
  for (const reading of world.readings) reading.resolve('known')
  assert.deepEqual(await Promise.all(asked), ['known', 'known', 'known'])
})

test('a fresh value is returned without a read, a stale one while a new read runs', async () => {
  const world = new World()
  await world.known('old')
  world.time = FRESH_MS - 1
  assert.equal(await world.ask(), 'old')
  assert.equal(world.readings.length, 1)
  world.time = FRESH_MS
  assert.equal(await world.ask(), 'old')
  assert.equal(await world.ask(), 'old')
  assert.equal(world.readings.length, 2)
  await world.end('new')
  assert.equal(await world.ask(), 'new')
  // Its age is counted from when its reading began.
  world.time = STALE_MS - 1
  assert.equal(await world.ask(), 'new')
  assert.equal(world.readings.length, 2)
})

test('an expired value is never returned: callers wait for the running read, or start one', async () => {
  const world = new World()
  await world.known('old')
  world.time = STALE_MS - 1
  assert.equal(await world.ask(), 'old')
  world.time = STALE_MS
  const late = world.ask()
  assert.equal(world.readings.length, 2)
  await world.end('new')
  assert.equal(await late, 'new')
  world.time = 10 * STALE_MS
  const later = world.ask()
  await world.end('newest')
  assert.equal(await later, 'newest')
})

test('a failure reaches the callers that wait for it, and the next call reads again', async () => {
  const world = new World()
  const failed = assert.rejects(world.ask(), /gone/)
  await world.end(new Error('gone'))
  await failed
  await world.known('old')
  world.time = FRESH_MS
  assert.equal(await world.ask(), 'old')
  await world.end(new Error('gone again'))
  assert.equal(await world.ask(), 'old')
  assert.equal(world.readings.length, 4)
  assert.deepEqual(world.failures, ['a: gone again'])
  world.time = STALE_MS
  const late = assert.rejects(world.ask(), /for good/)
  await world.end(new Error('for good'))
  await late
})
