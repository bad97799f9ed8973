import assert from 'node:assert/strict'
import test from 'node:test'
import { searchLog } from './search-log.ts'

/** Messages of one to three frames, whose body is their number; the first frames were dropped. */
function logFrom(first: number, messages: number) {
  const all: { start: number; end: number; body: number }[] = []
  for (let body = 1, start = 1; body <= messages; body++) {
    const end = start + (body % 3)
    all.push({ start, end, body })
    start = end + 1
  }
  const last = all.at(-1)?.end ?? 0
  const messageAt = async (sequence: number) => {
    assert.ok(sequence >= first && sequence <= last, `no frame ${sequence}`)
    const found = all.find(({ end }) => end >= sequence)
    assert.ok(found !== undefined)
    const { start, end, body } = found
    return { start, end, link: body, body: start < first ? undefined : Uint8Array.of(body) }
  }
  return { all, log: { epoch: 'e', first, last, messageAt } }
}

test('finds the last message up to any place, whatever the number of frames', async () => {
  const { all, log } = logFrom(1, 50)
  for (let wanted = 1; wanted <= 60; wanted++) {
    const found = await searchLog(log, ([body = 0]) => body <= wanted)
    const expected = all[Math.min(wanted, 50) - 1]
    assert.deepEqual(found, { epoch: 'e', sequence: expected?.end, link: expected?.body })
  }
})

test('before everything, and before everything that is left', async () => {
  const none = () => false
  assert.deepEqual(await searchLog(logFrom(1, 10).log, none), { epoch: 'e', sequence: 0, link: 0 })
  assert.deepEqual(await searchLog(logFrom(1, 0).log, none), { epoch: 'e', sequence: 0, link: 0 })
  // Frame 5 is in the middle of a message; a position before 4 is not held by the log.
  assert.deepEqual(await searchLog(logFrom(5, 10).log, none), { epoch: 'e', sequence: 3, link: 0 })
})
