import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestCommon } from '../../../test/support/rigs/test-common.ts'
import { waitFor } from '../../../test/support/rigs/wait-for.ts'
import { EndpointPool } from './endpoint-pool.ts'
import type { SpentBudget } from './request-budget.ts'

const PER_DAY = 40

test('background work waits once half of the day is spent, live requests go on up to the whole', async () => {
  const stop = new AbortController()
  let requests = 0
  let spent: SpentBudget | undefined
  let left: number | undefined
  const pool = new EndpointPool({
    clients: [
      {
        label: 'node',
        request: async (method) => {
          requests++
          return method === 'chain' ? 1 : '0x1'
        },
      },
    ],
    chainId: 1,
    probe: { chainMethod: 'chain', headMethod: 'head', headParams: [], chainOf: Number },
    logger: createTestCommon().logger,
    metrics: {
      answered: () => undefined,
      up: () => undefined,
      budgetLeft: (_endpoint, count) => {
        left = count
      },
    },
    signal: stop.signal,
    settings: { patienceMs: 20 },
    budget: {
      limits: { perDay: PER_DAY },
      spentBefore: () => undefined,
      onSpent: (_endpoint, today) => {
        spent = today
      },
    },
  })
  const ask = (isBackground: boolean) => pool.run((session) => session.request('work', []), { isBackground })
  let done = 0
  const waiting = Array.from({ length: PER_DAY }, () => ask(true).then(() => done++))
  await waitFor('half of the day to be spent', () => (requests >= PER_DAY / 2 ? true : undefined))
  const answeredBefore = done
  while (requests < PER_DAY) await ask(false)
  assert.equal(done, answeredBefore, 'what waits for its turn has none while live requests go on')
  await assert.rejects(ask(false), { code: 'node_unavailable' })
  assert.equal(requests, PER_DAY, 'not one request more')
  assert.equal(spent?.requests, PER_DAY)
  assert.equal(left, 0)
  stop.abort()
  const ended = await Promise.allSettled(waiting)
  assert.equal(ended.filter(({ status }) => status === 'fulfilled').length, answeredBefore)
})
