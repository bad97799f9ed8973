import assert from 'node:assert/strict'
import { test } from 'node:test'
import { continues, readHead } from './link.ts'
import type { Header } from './source.ts'

const ref = (number: number, hash: string) => ({ number, hash })
const header = (number: number, hash: string, parentHash: string): Header => {
  return { number, hash, parentHash, time: 0 }
}

test('decisions on a new head', () => {
  const tip = ref(10, '0x10a')
  assert.equal(readHead(undefined, ref(0, '0x0')), 'ahead')
  assert.equal(readHead(tip, ref(11, '0x11a')), 'ahead')
  assert.equal(readHead(tip, ref(500, '0x500a')), 'ahead')
  assert.equal(readHead(tip, ref(10, '0x10a')), 'idle')
  assert.equal(readHead(tip, ref(10, '0x10b')), 'fork')
})

test('a lower head proves nothing, whatever its hash', () => {
  for (const head of [ref(9, '0x9a'), ref(9, '0x9b'), ref(0, '0x0')])
    assert.equal(readHead(ref(10, '0x10a'), head), 'stale')
})

test('a block continues the chain when it is the next one and names the tip as its parent', () => {
  const tip = ref(10, '0x10a')
  assert.equal(continues(tip, header(11, '0x11a', '0x10a')), true)
  assert.equal(continues(tip, header(11, '0x11b', '0x10b')), false)
  assert.equal(continues(tip, header(12, '0x12a', '0x10a')), false)
  assert.equal(continues(tip, header(10, '0x10b', '0x10a')), false)
  assert.equal(continues(undefined, header(7, '0x7', '0x6')), true)
})
