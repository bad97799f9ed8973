import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ReadAhead } from './read-ahead.ts'
import type { Header } from './source.ts'

/** Responds when the test lets it, and counts open requests. */
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

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('blocks are fetched concurrently up to a limit, and returned in order', async () => {
  const { source, asked, answer, mostOpen } = slowSource(100)
  const ahead = new ReadAhead({ source, width: 3 })
  const first = ahead.take(10, 100)
  assert.deepEqual(asked, [10, 11, 12])
  answer(12, 11, 10)
  assert.equal((await first)?.header.number, 10)
  assert.equal((await ahead.take(11, 100))?.header.number, 11)
  assert.equal((await ahead.take(12, 100))?.header.number, 12)
  assert.deepEqual(asked, [10, 11, 12, 13, 14, 15])
  assert.equal(mostOpen(), 3)
})

test('fetching continues while no block is taken, up to four times the limit', async () => {
  const { source, asked, answer } = slowSource(100)
  const ahead = new ReadAhead({ source, width: 2 })
  const first = ahead.take(10, 100)
  for (let number = 10; number < 30; number++) {
    answer(number)
    await tick()
  }
  assert.equal((await first)?.header.number, 10)
  assert.deepEqual(asked, [10, 11, 12, 13, 14, 15, 16, 17])
  await ahead.take(11, 100)
  assert.equal(asked.at(-1), 18)
})

test('large blocks are fetched less far ahead, and one that is larger than all may be is still read', async () => {
  const { source, asked, answer } = slowSource(100)
  const log = { index: 0, address: '0xa', topics: [], data: new Uint8Array(1_000) }
  const transactions = async () => [{ index: 0, hash: '0xb', from: '0xc', logs: [log] }]
  const ahead = new ReadAhead({ source: { ...source, transactions }, width: 1, maxBytes: 2_500 })
  const first = ahead.take(1, 100)
  for (let number = 1; number < 9; number++) {
    answer(number)
    await tick()
  }
  await first
  // Two of them are held, and a third was allowed as long as it was not known how large they are.
  assert.deepEqual(asked, [1, 2, 3])
  for (const number of [2, 3, 4, 5]) {
    const taken = ahead.take(number, 100)
    answer(number, number + 1, number + 2)
    await tick()
    answer(number, number + 1, number + 2)
    assert.equal((await taken)?.header.number, number)
  }
  const small = new ReadAhead({ source: { ...source, transactions }, width: 4, maxBytes: 1 })
  const taken = small.take(50, 100)
  answer(50, 51, 52, 53)
  assert.equal((await taken)?.header.number, 50)
})

test('no block beyond the head is fetched', async () => {
  const { source, asked, answer } = slowSource(100)
  const ahead = new ReadAhead({ source, width: 8 })
  const taken = ahead.take(99, 100)
  answer(99, 100)
  await taken
  assert.deepEqual(asked, [99, 100])
})

test('a block that the node does not have yet is reported as missing', async () => {
  const { source, answer } = slowSource(5)
  const taken = new ReadAhead({ source, width: 2 }).take(6, 7)
  answer(6, 7)
  assert.equal(await taken, undefined)
})

test('after clear, fetched blocks are dropped and fetched again', async () => {
  const { source, asked, answer } = slowSource(100)
  const ahead = new ReadAhead({ source, width: 2 })
  const first = ahead.take(1, 100)
  answer(1, 2)
  await first
  ahead.clear()
  asked.length = 0
  const again = ahead.take(2, 100)
  assert.deepEqual(asked, [2, 3])
  answer(2, 3)
  assert.equal((await again)?.header.number, 2)
})

test('blocks in flight at clear start no further fetch and are not prepared', async () => {
  const { source, asked, answer } = slowSource(100)
  const prepared: number[] = []
  const prepare = async ({ header }: { header: Header }) => void prepared.push(header.number)
  const ahead = new ReadAhead({ source, width: 2, prepare })
  const first = ahead.take(1, 100)
  ahead.clear()
  answer(1, 2)
  await first
  await tick()
  assert.deepEqual([asked, prepared], [[1, 2], []])
})

test('a failure is reported with its block, not before; then everything is fetched again', async () => {
  let isDown = true
  const asked: number[] = []
  const headerAt = async (number: number): Promise<Header> => {
    asked.push(number)
    if (number === 2 && isDown) throw new Error('down')
    return { number, hash: `0x${number}`, parentHash: `0x${number - 1}`, time: number }
  }
  const ahead = new ReadAhead({ source: { headerAt, transactions: async () => [] }, width: 3 })
  assert.equal((await ahead.take(1, 9))?.header.number, 1)
  await assert.rejects(ahead.take(2, 9), /down/)
  isDown = false
  asked.length = 0
  assert.equal((await ahead.take(2, 9))?.header.number, 2)
  assert.deepEqual(asked.slice(0, 3), [2, 3, 4])
})

test('a failing node does not get a request per block', async () => {
  let asked = 0
  const headerAt = async (): Promise<Header> => {
    asked++
    throw new Error('down')
  }
  const ahead = new ReadAhead({ source: { headerAt, transactions: async () => [] }, width: 3 })
  await assert.rejects(ahead.take(1, 1_000), /down/)
  await tick()
  assert.equal(asked, 3)
})

test('a block is handed out when it is prepared; others are prepared at the same time', async () => {
  const { source } = { source: { headerAt: headerOf, transactions: async () => [] } }
  const waiting = new Map<number, PromiseWithResolvers<void>>()
  const heads = new Set<number>()
  const prepare = ({ header }: { header: Header }, head: number): Promise<void> => {
    heads.add(head)
    const { number } = header
    waiting.set(number, Promise.withResolvers())
    return waiting.get(number)?.promise ?? Promise.resolve()
  }
  const ahead = new ReadAhead({ source, width: 2, prepare })
  let isTaken = false
  const first = ahead.take(1, 100).finally(() => {
    isTaken = true
  })
  await tick()
  assert.deepEqual([...waiting.keys()], [1, 2, 3, 4, 5, 6, 7, 8])
  assert.deepEqual([...heads], [100])
  assert.equal(isTaken, false)
  waiting.get(1)?.resolve()
  assert.equal((await first)?.header.number, 1)
})

async function headerOf(number: number): Promise<Header> {
  return { number, hash: `0x${number}`, parentHash: `0x${number - 1}`, time: number }
}
