import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { fastify } from 'fastify'
import { answerInTime } from './deadline.ts'
import { answerProblems } from './problem.ts'

test('a request that is late gets an error, and its later result changes nothing', async () => {
  const app = fastify().withTypeProvider<TypeBoxTypeProvider>()
  answerProblems(app)
  answerInTime(app, 500)
  let ended = 0
  app.get<{ Params: { ms: string } }>('/after/:ms', async (request) => {
    await sleep(Number(request.params.ms))
    ended++
    return { late: false }
  })
  const ask = async (ms: number): Promise<[number, unknown]> => {
    const answer = await app.inject(`/after/${ms}`)
    return [answer.statusCode, answer.json().code ?? answer.json().late]
  }
  const asked = [ask(1_000), ask(0), ask(1_000)]
  assert.deepEqual(await Promise.all(asked), [
    [500, 'store_unavailable'],
    [200, false],
    [500, 'store_unavailable'],
  ])
  assert.equal(ended, 1)
  await sleep(1_000)
  assert.equal(ended, 3)
  assert.deepEqual(await ask(0), [200, false])
  await app.close()
})
