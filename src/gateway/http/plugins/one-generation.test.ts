import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { fastify } from 'fastify'
import type { Scope } from '../scope.ts'
import { jsonPayload, sendAnswer } from '../send-json.ts'
import { answerFromOneGeneration } from './one-generation.ts'

/** A market that switches while the first answers are made, and says which generation each part of an answer is of. */
function start(switchesDuring: number) {
  const view = { switches: 0 }
  let made = 0
  const make = async (): Promise<number[]> => {
    const first = view.switches
    await turn()
    if (made++ < switchesDuring) view.switches++
    return [first, view.switches]
  }
  const app = fastify() as unknown as Scope
  answerFromOneGeneration(app, view)
  app.get('/value', make)
  app.get('/payload', async (_request, reply) => jsonPayload(reply, JSON.stringify(await make())))
  app.get('/answer', (_request, reply) =>
    sendAnswer(
      reply,
      make().then((parts) => ({ json: JSON.stringify(parts), headers: { 'x-parts': '2' } })),
    ),
  )
  app.get('/cached', (_request, reply) => sendAnswer(reply, { json: '[7,7]' }))
  app.get('/failing', async () => {
    const [first, last] = await make()
    if (first !== last) throw new Error('the documents do not fit together')
    return [first, last]
  })
  return { app, made: () => made }
}

test('an answer that was made during a switch is made again, however it is sent', async () => {
  for (const path of ['/value', '/payload', '/answer', '/failing']) {
    const { app, made } = start(2)
    const { statusCode, body, headers } = await app.inject(path)
    assert.deepEqual([statusCode, body, made()], [200, '[2,2]', 3], path)
    if (path === '/answer') assert.equal(headers['x-parts'], '2')
    await app.close()
  }
})

test('an answer is made once without a switch, and not at all from the cache', async () => {
  const { app, made } = start(0)
  assert.deepEqual([(await app.inject('/value')).body, made()], ['[0,0]', 1])
  assert.deepEqual([(await app.inject('/cached')).body, made()], ['[7,7]', 1])
  await app.close()
})
