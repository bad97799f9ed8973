import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { fastify } from 'fastify'
import { ChaintapeError, QueryTimeout } from '../../../domain/errors.ts'
import type { Grant } from '../../access/keys/key-ring.ts'
import type { Meter } from '../../access/metering/meter.ts'
import type { Scope } from '../scope.ts'
import { meterRequests, setNoCostHeader } from './cost.ts'
import { limitHistoryReads } from './history-reads.ts'
import { answerProblems } from './problem.ts'

const sockets = {
  ...{ maxConnections: 1, maxSubscriptions: 1, maxReplays: 1, maxPriceIds: 1, maxMultiKlinePairs: 1 },
  ...{ messagesPerSecond: 1, maxMessageBytes: 1_024 },
}
const plan = { name: 'p', requestsPerSecond: 1, burst: 1, cuPerMonth: 1, historyReads: 2, sockets }

function createScope(): Scope {
  const app = fastify().withTypeProvider<TypeBoxTypeProvider>()
  answerProblems(app)
  setNoCostHeader(app)
  app.decorateRequest('grant', null)
  app.decorateRequest('rate', null)
  app.addHook('onRequest', (request, _reply, done) => {
    request.grant = { keyId: String(request.headers['x-api-key']), plan } as Grant
    done()
  })
  return app
}

test('a key has only so many history reads under way, another key is not held up, and an end makes room', async () => {
  const app = createScope()
  limitHistoryReads(app)
  const waiting: (() => void)[] = []
  const wait = () => new Promise<void>((resolve) => waiting.push(resolve))
  app.get('/history', { config: { readsHistory: true } }, async () => {
    await wait()
    return {}
  })
  app.get('/other', async () => ({}))
  const ask = async (key: string, url = '/history') => {
    const { statusCode, body, headers } = await app.inject({ url, headers: { 'x-api-key': key } })
    return [statusCode, JSON.parse(body).code, headers['retry-after']]
  }
  await app.ready()
  const held = [ask('a'), ask('a')]
  while (waiting.length < 2) await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(await ask('a'), [429, 'too_many_history_reads', '1'])
  assert.deepEqual(await ask('a', '/other'), [200, undefined, undefined])
  held.push(ask('b'))
  while (waiting.length < 3) await new Promise((resolve) => setImmediate(resolve))
  for (const end of waiting.splice(0)) end()
  for (const answer of await Promise.all(held)) assert.equal(answer[0], 200)
  const again = ask('a')
  while (waiting.length < 1) await new Promise((resolve) => setImmediate(resolve))
  for (const end of waiting.splice(0)) end()
  assert.equal((await again)[0], 200)
  await app.close()
})

test('a request whose query timed out is charged, one that found no store is not', async () => {
  const app = createScope()
  let charged = 0
  const meter: Pick<Meter, 'open' | 'balance'> = {
    open: (_grant, _operation, cu) => ({
      cu,
      charge: () => {
        charged += cu
      },
      release: () => undefined,
    }),
    balance: () => ({ limit: 1, remaining: 1, resetAt: 0 }),
  }
  meterRequests(app, meter)
  const fail = (error: Error) => async () => {
    throw error
  }
  app.get('/slow', { config: { cu: 50 } }, fail(new QueryTimeout('too long')))
  app.get('/down', { config: { cu: 50 } }, fail(new ChaintapeError('store_unavailable', 'down')))
  const ask = async (url: string) => {
    const { statusCode, body, headers } = await app.inject({ url, headers: { 'x-api-key': 'a' } })
    return [statusCode, JSON.parse(body).code, Number(headers['x-cu-cost'])]
  }
  assert.deepEqual(await ask('/down'), [500, 'store_unavailable', 0])
  assert.equal(charged, 0)
  assert.deepEqual(await ask('/slow'), [500, 'store_unavailable', 50])
  assert.equal(charged, 50)
  await app.close()
})
