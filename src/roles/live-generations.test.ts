import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChainGenerations } from '../domain/generation.ts'
import { LiveGenerations } from './live-generations.ts'

const live = (entry: ChainGenerations): LiveGenerations => new LiveGenerations({ of: () => entry })
const inOneMinute = Math.floor(Date.now() / 1_000) + 60

test('the served generation has the name of the chain in metrics, whatever its number', () => {
  const first = live({ serving: { number: 1 }, building: { number: 2 } })
  assert.deepEqual(first.namesOf('eth'), ['eth', 'eth@2'])
  assert.deepEqual(
    ['eth', 'eth@2'].map((stored) => first.labelOf(stored)),
    ['eth', 'eth@2'],
  )
  const second = live({ serving: { number: 2 }, retiring: { number: 1, until: inOneMinute } })
  assert.deepEqual(second.namesOf('eth'), ['eth@2', 'eth'])
  assert.deepEqual(
    ['eth', 'eth@2'].map((stored) => second.labelOf(stored)),
    ['eth@1', 'eth'],
  )
  assert.deepEqual(second.find('eth@2'), { chain: 'eth', generation: { number: 2 } })
  assert.equal(second.find('eth@4'), undefined)
})

test('a generation whose grace has passed is not folded any more', () => {
  const entry = { serving: { number: 2 }, retiring: { number: 1, until: inOneMinute - 120 } }
  assert.deepEqual(live(entry).namesOf('eth'), ['eth@2'])
})

test('a generation is folded once its supplement is complete', () => {
  const entry = (supplement: { attempt: number; until?: number }): ChainGenerations => ({
    serving: { number: 1 },
    building: { number: 2, supplement },
  })
  assert.deepEqual(live(entry({ attempt: 1 })).namesOf('eth'), ['eth'])
  assert.deepEqual(live(entry({ attempt: 1, until: 0 })).namesOf('eth'), ['eth', 'eth@2'])
})

test('an unreadable entry names no generation, and says why when one is needed', () => {
  const unreadable = new LiveGenerations({
    of: () => {
      throw new Error('damaged')
    },
  })
  assert.equal(unreadable.namesOf('eth'), undefined)
  assert.throws(() => unreadable.find('eth'), /damaged/)
})
