import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type ChainGenerations,
  changesLogOf,
  decodeGenerations,
  encodeGenerations,
  FIRST_GENERATIONS,
  nextNumber,
  storedName,
} from './generation.ts'

test('generations are read as they were written', () => {
  const all: ChainGenerations[] = [
    FIRST_GENERATIONS,
    { serving: { number: 1 }, building: { number: 2, settingsAt: 0, from: 1_750_000_000 } },
    { serving: { number: 1 }, building: { number: 2, settingsAt: 9, supplement: { attempt: 2 } } },
    { serving: { number: 2, settingsAt: 9, supplement: { attempt: 2, until: 8 } } },
    { serving: { number: 2, settingsAt: 7 }, retiring: { number: 1, until: 1_750_000_000 }, lastNumber: 2 },
  ]
  for (const each of all) assert.deepEqual(decodeGenerations(encodeGenerations(each)), each)
})

test('generations of another version or damaged ones are refused', () => {
  const bodies = [
    '{}',
    '{"version":2,"serving":{"number":1}}',
    '{"version":1,"serving":{"number":0}}',
    '{"version":1,"serving":{"number":1.5}}',
    '{"version":1,"serving":{"number":1,"from":-1}}',
    '{"version":1,"serving":{"number":1,"supplement":{}}}',
    '{"version":1,"serving":{"number":1,"supplement":{"attempt":1,"until":-1}}}',
    '{"version":1,"serving":{"number":2},"retiring":{"number":1}}',
    '{"version":1,"serving":{"number":1},"building":null}',
    '[',
  ]
  for (const body of bodies) assert.throws(() => decodeGenerations(new TextEncoder().encode(body)), body)
})

test('two generations that exist at a time have other names and logs', () => {
  const numbers = [1, 2, 3, 4].map((number) => ({ number }))
  assert.deepEqual(
    numbers.map((generation) => storedName('bsc', generation)),
    ['bsc', 'bsc@2', 'bsc@3', 'bsc@4'],
  )
  assert.deepEqual(numbers.map(changesLogOf), ['CHANGES', 'CHANGES2', 'CHANGES', 'CHANGES2'])
})

test('a number is never used again, and the next generation has the other log', () => {
  assert.equal(nextNumber(FIRST_GENERATIONS), 2)
  assert.equal(nextNumber({ serving: { number: 1 }, lastNumber: 2 }), 4)
  assert.equal(nextNumber({ serving: { number: 2 }, lastNumber: 2 }), 3)
  assert.equal(nextNumber({ serving: { number: 2 }, lastNumber: 3 }), 5)
})
