import assert from 'node:assert/strict'
import test from 'node:test'
import { ChaintapeError, QueryTimeout } from '../../../domain/errors.ts'
import type { Ask } from './ask.ts'
import { failFast } from './fail-fast.ts'

const QUESTION = { params: {}, maxRows: 1, maxSeconds: 1 }
const answered: Ask = async () => []

test('queries are refused at once while the health check gets no response', async () => {
  const changes: boolean[] = []
  const { ask, checked } = failFast(answered, (isAway) => changes.push(isAway))
  const fail = (error: Error) => checked(() => Promise.reject(error))
  await assert.rejects(fail(new QueryTimeout('slow')), QueryTimeout)
  await assert.rejects(fail(new Error('no such table')), /no such table/)
  assert.deepEqual(await ask('any', QUESTION), [])
  for (const _ of [1, 2]) await assert.rejects(fail(new ChaintapeError('store_unavailable', 'hung')), /hung/)
  await assert.rejects(ask('any', QUESTION), { code: 'store_unavailable' })
  assert.equal(await checked(async () => 7), 7)
  assert.deepEqual(await ask('any', QUESTION), [])
  assert.deepEqual(changes, [true, false])
})

test('without a listener no query is refused', async () => {
  const { ask, checked } = failFast(answered)
  await assert.rejects(checked(() => Promise.reject(new ChaintapeError('store_unavailable', 'hung'))))
  assert.deepEqual(await ask('any', QUESTION), [])
})
