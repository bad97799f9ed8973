import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ReadAhead } from './read-ahead.ts'
import type { Header } from './source.ts'

/** Answers when told to, and counts how many questions are open. */
function slowSource(highest: number) {
  const open = new Map<number, () => void>()
  const asked: number[] = []
  let mostOpen = 0
  const headerAt = async (number: number): Promise<Header | undefined> => {
    asked.push(number)
    await new Promise<void>((resolve) => {
      open.set(number, resolve)
      mostOpen = Math.max(mostOpen, open.size)
    })
    open.delete(number)
    if (number > highest) return undefined
    return { number, hash: `0x${number}`, parentHash: `0x${number - 1}`, time: number }
  }
  const answer = (...numbers: number[]): void => {
    for (const number of numbers) open.get(number)?.()
  }
  return { source: { headerAt, transactions: async () => [] }, asked, answer, open, mostOpen: () => mostOpen }
}

test('so many blocks are fetched at a time, and handed out in order whatever order they come in', async () => {
  const { source, asked, answer, mostOpen } = slowSource(100)
  const ahead = new ReadAhead(source, 3)
  const first = ahead.take(10, 100)
  assert.deepEqual(asked, [10, 11, 12])
  answer(12, 11, 10)
  assert.equal((await first)?.header.number, 10)
  const second = ahead.take(11, 100)
  assert.equal((await second)?.header.number, 11)
  assert.deepEqual(asked, [10, 11, 12, 13])
  assert.equal(mostOpen(), 3)
})

test('nothing beyond the head is asked for', async () => {
  const { source, asked, answer } = slowSource(100)
  const ahead = new ReadAhead(source, 8)
  const taken = ahead.take(99, 100)
  answer(99, 100)
  await taken
  assert.deepEqual(asked, [99, 100])
})

test('a block the node does not have yet is told as that', async () => {
  const { source, answer } = slowSource(5)
  const taken = new ReadAhead(source, 2).take(6, 7)
  answer(6, 7)
  assert.equal(await taken, undefined)
})

test('what was fetched is forgotten when asked, and asked for again', async () => {
  const { source, asked, answer } = slowSource(100)
  const ahead = new ReadAhead(source, 2)
  const first = ahead.take(1, 100)
  answer(1, 2)
  await first
  ahead.clear()
  const again = ahead.take(2, 100)
  answer(2, 3)
  await again
  assert.deepEqual(asked, [1, 2, 2, 3])
})

test('a failure is told to whoever takes that block, not before; then all is fetched anew', async () => {
  let isDown = true
  const asked: number[] = []
  const headerAt = async (number: number): Promise<Header> => {
    asked.push(number)
    if (number === 2 && isDown) throw new Error('down')
    return { number, hash: `0x${number}`, parentHash: `0x${number - 1}`, time: number }
  }
  const ahead = new ReadAhead({ headerAt, transactions: async () => [] }, 3)
  assert.equal((await ahead.take(1, 9))?.header.number, 1)
  await assert.rejects(ahead.take(2, 9), /down/)
  isDown = false
  assert.equal((await ahead.take(2, 9))?.header.number, 2)
  assert.deepEqual(asked, [1, 2, 3, 4, 2, 3, 4])
})
