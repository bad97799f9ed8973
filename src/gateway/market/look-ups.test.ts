import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sampleToken } from '../../../test/support/builders/market-samples.ts'
import { createTestCommon } from '../../../test/support/rigs/test-common.ts'
import { createLookUps, LOOK_UP_WAIT_MS } from './look-ups.ts'

const id = (digit: string): string => `0x${digit.repeat(40)}`
const ref = (digit: string) => ({ chain: 'eth', address: id(digit) })

/** A reader that knows of some ids, and all that it was asked. */
function world(perMinute = 3) {
  const asked: string[] = []
  const work: string[] = []
  const clock = { now: 1_000 }
  const answers = new Map([
    [id('a'), 'pending'],
    [id('b'), 'pending'],
  ])
  let isAway = false
  const lookUps = createLookUps({
    logs: {
      request: async (topic, address) => {
        asked.push(`${topic} ${address}`)
        if (isAway) throw new Error('no responders')
        return answers.get(address) ?? 'none'
      },
    },
    work: { put: async (name) => work.push(name) > 0 },
    perMinute,
    logger: createTestCommon().logger,
    now: () => clock.now,
  })
  return { lookUps, asked, work, clock, leave: () => (isAway = true) }
}

describe('look-ups of a gateway', () => {
  test('an id that may exist goes to all readers, any other one to none', async () => {
    const { lookUps, asked, work } = world()
    assert.equal(await lookUps.request(ref('a'), 'key'), 'pending')
    assert.equal(await lookUps.request(ref('c'), 'key'), 'none')
    assert.equal(await lookUps.request({ chain: 'sol', address: 'So1111' }, 'key'), 'none')
    assert.deepEqual(asked, [`lookup.eth ${id('a')}`, `lookup.eth ${id('c')}`])
    assert.deepEqual(work, [`eth.lookup.${id('a')}`])
  })

  test('what does not exist is not asked for again for a minute', async () => {
    const { lookUps, asked, clock } = world()
    for (let at = 0; at < 50; at++) assert.equal(await lookUps.request(ref('c'), 'key'), 'none')
    assert.equal(asked.length, 1)
    clock.now += 60_000
    assert.equal(await lookUps.request(ref('c'), 'key'), 'none')
    assert.equal(asked.length, 2)
  })

  test('a key has its budget, and another key its own', async () => {
    const { lookUps, asked, clock } = world()
    for (const digit of ['1', '2', '3']) await lookUps.request(ref(digit), 'key')
    assert.equal(await lookUps.request(ref('a'), 'key'), 'unavailable')
    assert.equal(asked.length, 3)
    assert.equal(await lookUps.request(ref('a'), 'other'), 'pending')
    clock.now += 60_000
    assert.equal(await lookUps.request(ref('b'), 'key'), 'pending')
  })

  test('without a reader nothing is claimed to be missing', async () => {
    const { lookUps, leave } = world()
    leave()
    assert.equal(await lookUps.request(ref('c'), 'key'), 'unavailable')
  })

  test('a batch does not wait, and lists what a reader has confirmed', async () => {
    const { lookUps, work } = world()
    assert.equal(lookUps.note(ref('a'), 'key'), false, 'not known yet')
    await lookUps.request(ref('a'), 'key')
    assert.ok(work.includes(`eth.lookup.${id('a')}`))
    assert.equal(lookUps.note(ref('a'), 'key'), true)
    await lookUps.request(ref('c'), 'key')
    assert.equal(lookUps.note(ref('c'), 'key'), false)
    assert.equal(lookUps.note({ chain: 'sol', address: 'So1111' }, 'key'), false)
  })

  test('waits for the change set that brings the id, and reads once', async () => {
    const { lookUps } = world()
    let reads = 0
    let isThere = false
    const read = async (): Promise<string | undefined> => {
      reads++
      return isThere ? 'found' : undefined
    }
    const startedAt = performance.now()
    const waiting = [lookUps.until(ref('a'), read), lookUps.until(ref('a'), read)]
    lookUps.apply({ chain: 'eth', changes: [{ type: 'token', token: sampleToken({ address: id('b') }) }] })
    lookUps.apply({ chain: 'bsc', changes: [{ type: 'token', token: sampleToken({ address: id('a') }) }] })
    await new Promise(setImmediate)
    assert.equal(reads, 0)
    isThere = true
    lookUps.apply({ chain: 'eth', changes: [{ type: 'token', token: sampleToken({ address: id('a') }) }] })
    assert.deepEqual(await Promise.all(waiting), ['found', 'found'])
    assert.equal(reads, 2)
    assert.ok(performance.now() - startedAt < LOOK_UP_WAIT_MS)
  })

  test('waits no longer than it may', async () => {
    const { lookUps } = world()
    assert.equal(await lookUps.until(ref('a'), async () => undefined), undefined)
  })
})
