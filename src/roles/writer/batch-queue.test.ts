import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { BatchQueue } from './batch-queue.ts'

const HOURS = 3_600_000

async function isPending(promise: Promise<unknown>): Promise<boolean> {
  for (let turn = 0; turn < 5; turn++) await nextTurn()
  return Promise.race([promise.then(() => false), Promise.resolve(true)])
}

test('a batch is due when it is large enough', async () => {
  const queue = new BatchQueue<string>({ maxSize: 10, maxWaitMs: HOURS })
  const taken = queue.take()
  await queue.put('a', 4)
  await queue.put('b', 5)
  assert.ok(await isPending(taken))
  await queue.put('c', 1)
  assert.deepEqual(await taken, ['a', 'b', 'c'])
  queue.end()
})

test('a batch is due when its first item has waited long enough, not its last', async () => {
  const queue = new BatchQueue<number>({ maxSize: HOURS, maxWaitMs: 40 })
  const startedAt = performance.now()
  let next = 0
  const putting = setInterval(() => void queue.put(next++, 1), 5)
  const batch = await queue.take()
  clearInterval(putting)
  const waitedMs = performance.now() - startedAt
  assert.ok(batch.length > 0 && waitedMs >= 40 && waitedMs < 2_000, `${batch.length} after ${waitedMs} ms`)
})

test('messages that arrived before a take have waited already', async () => {
  const queue = new BatchQueue<string>({ maxSize: 10, maxWaitMs: 1 })
  await queue.put('a', 1)
  await new Promise((resolve) => setTimeout(resolve, 5))
  assert.deepEqual(await queue.take(), ['a'])
})

test('put waits while a full batch is queued', async () => {
  const queue = new BatchQueue<string>({ maxSize: 2, maxWaitMs: HOURS })
  await queue.put('large', 50)
  const second = queue.put('second', 1)
  assert.ok(await isPending(second))
  assert.deepEqual(await queue.take(), ['large'])
  await second
  const taken = queue.take()
  assert.ok(await isPending(taken))
  queue.end()
  assert.deepEqual(await taken, ['second'])
})

test('the end returns the rest, then nothing, and wakes all waiters', async () => {
  const queue = new BatchQueue<string>({ maxSize: 1, maxWaitMs: HOURS })
  await queue.put('a', 1)
  const waiting = queue.put('b', 1)
  queue.end()
  await waiting
  assert.deepEqual(await queue.take(), ['a', 'b'])
  assert.deepEqual(await queue.take(), [])
})
