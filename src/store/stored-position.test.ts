import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromStoredPosition, toStoredPosition } from './stored-position.ts'

test('a position is stored under the names that existing stores have', () => {
  const position = { epoch: 'e', sequence: 7, link: 9 }
  assert.equal(JSON.stringify(toStoredPosition(position)), '{"epoch":"e","seq":7,"link":9}')
  assert.deepEqual(fromStoredPosition(toStoredPosition(position)), position)
})
