import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KeptReadings } from './kept-readings.ts'

const KEPT_MS = 4_000

/** A store whose reads the test completes. */
class World {
  time = 0
  readonly readings: PromiseWithResolvers<string>[] = []
  readonly #kept = new KeptReadings<string>({ keptMs: KEPT_MS, maxReadings: 10, now: () => this.time })

  ask(name = 'a'): Promise<string> {
    return this.#kept.get(name, () => {
      const reading = Promise.withResolvers<string>()
      this.readings.push(reading)
      return reading.promise
    })
  }

  /** The last reading that was begun ends. */
  async end(told: string | Error): Promise<void> {
    const reading = this.readings.at(-1)
    if (told instanceof Error) reading?.reject(told)
    else reading?.resolve(told)
    await new Promise(setImmediate)
  }

  async known(told: string): Promise<void> {
    const asked = this.ask()
    await this.end(told)
    assert.equal(await asked, told)
  }
}

test('whoever asks while something is read waits for the same reading', async () => {
  const world = new World()
  const asked = [world.ask(), world.ask(), world.ask('b')]
  assert.equal(world.readings.length, 2)
  for (const reading of world.readings) reading.resolve('known')
  assert.deepEqual(await Promise.all(asked), ['known', 'known', 'known'])
})

test('in the first half of its life nothing is read, in the second it is read anew while it is given', async () => {
  const world = new World()
  await world.known('old')
  world.time = KEPT_MS / 2 - 1
  assert.equal(await world.ask(), 'old')
  assert.equal(world.readings.length, 1)
  world.time = KEPT_MS / 2
  assert.equal(await world.ask(), 'old')
  assert.equal(await world.ask(), 'old')
  assert.equal(world.readings.length, 2)
  await world.end('new')
  assert.equal(await world.ask(), 'new')
  // Its age is counted from when its reading began.
  world.time = KEPT_MS - 1
  assert.equal(await world.ask(), 'new')
  assert.equal(world.readings.length, 2)
})

test('what is too old is never given: whoever asks waits for the reading under way, or for one of his own', async () => {
  const world = new World()
  await world.known('old')
  world.time = KEPT_MS - 1
  assert.equal(await world.ask(), 'old')
  world.time = KEPT_MS
  const late = world.ask()
  assert.equal(world.readings.length, 2)
  await world.end('new')
  assert.equal(await late, 'new')
  world.time = 10 * KEPT_MS
  const later = world.ask()
  await world.end('newest')
  assert.equal(await later, 'newest')
})

test('a failure is told to who waits for it, and the next one reads again', async () => {
  const world = new World()
  const failed = assert.rejects(world.ask(), /gone/)
  await world.end(new Error('gone'))
  await failed
  await world.known('old')
  world.time = KEPT_MS / 2
  assert.equal(await world.ask(), 'old')
  await world.end(new Error('gone again'))
  assert.equal(await world.ask(), 'old')
  assert.equal(world.readings.length, 4)
  world.time = KEPT_MS
  const late = assert.rejects(world.ask(), /for good/)
  await world.end(new Error('for good'))
  await late
})
