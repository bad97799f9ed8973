import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { fastify } from 'fastify'
import {
  MEME,
  MEME_WETH,
  samplePair,
  sampleSet,
  sampleToken,
  value,
} from '../../../../test/support/builders/market-samples.ts'
import { MarketViewWorld } from '../../../../test/support/rigs/market-view-world.ts'
import { AnswerCache } from '../../cache/answer-cache.ts'
import type { BlockHead } from '../../market/change-feed-follower.ts'
import type { RestContext } from '../../rest/context.ts'
import { addPairDetail } from '../../rest/pairs/pair-detail.ts'
import type { Scope } from '../scope.ts'
import { jsonPayload, sendAnswer } from '../send-json.ts'
import { setFreshnessHeaders } from './freshness.ts'
import { answerFromOneReading } from './one-reading.ts'

/** A market that switches while the first answers are made, and says which generation each part of an answer is of. */
function start(switchesDuring: number) {
  const view = { switches: 0, head: () => undefined }
  let made = 0
  const make = async (): Promise<number[]> => {
    const first = view.switches
    await turn()
    if (made++ < switchesDuring) view.switches++
    return [first, view.switches]
  }
  const app = fastify() as unknown as Scope
  setFreshnessHeaders(app, view)
  answerFromOneReading(app, view)
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

/** A chain of which a block arrives while each of the first answers is made, which takes so long. */
function startBlocks(blocksDuring: number, answerMs: number) {
  let made = 0
  let nowMs = 0
  let head: BlockHead = { number: 7, time: 7, finalNumber: 0 }
  const next = (): void => {
    head = { ...head, number: head.number + 1 }
  }
  const app = fastify() as unknown as Scope
  const view = { switches: 0, head: () => head }
  setFreshnessHeaders(app, view)
  // After the answer was made, and before its headers are set.
  app.addHook('preSerialization', async () => next())
  answerFromOneReading(app, view, () => nowMs)
  app.get('/parts', async (_request, reply) => {
    reply.answerChains = ['eth']
    const first = head.number
    await turn()
    nowMs += answerMs
    if (made++ < blocksDuring) {
      reply.header('x-pending-ids', 'a')
      next()
    }
    return [first, head.number]
  })
  return { app, made: () => made }
}

test('an answer is made again if a block arrived meanwhile, and its header is of that reading', async () => {
  const { app, made } = startBlocks(2, 1)
  const { body, headers } = await app.inject('/parts')
  assert.deepEqual([body, headers['x-block'], made()], ['[9,9]', '9', 3])
  assert.equal(headers['x-pending-ids'], undefined)
  await app.close()
})

test('an answer is not made again for ever, nor if it takes long', async () => {
  const busy = startBlocks(Number.POSITIVE_INFINITY, 1)
  const { body, headers } = await busy.app.inject('/parts')
  assert.deepEqual([body, headers['x-block'], busy.made()], ['[9,10]', '10', 3])
  await busy.app.close()
  const slow = startBlocks(1, 1_000)
  const late = await slow.app.inject('/parts')
  assert.deepEqual([late.body, late.headers['x-block'], slow.made()], ['[7,8]', '8', 1])
  await slow.app.close()
})

test('a pair is of one block, though the next block arrives between its reads', async () => {
  const setOf = (block: number) =>
    sampleSet(block, [
      { type: 'pair', pair: samplePair({ updatedAt: block, targetToken: MEME }) },
      { type: 'token', token: sampleToken({ marketCapUsd: value(String(block)) }) },
    ])
  const world = new MarketViewWorld([setOf(1)])
  const { view } = world
  const app = fastify() as unknown as Scope
  setFreshnessHeaders(app, view)
  answerFromOneReading(app, view, () => 0)
  app.decorateReply('keptAs', null)
  const answers = new AnswerCache(view, 1_000_000)
  const context: Partial<RestContext> = { view, answers, familyOf: () => 'evm' }
  addPairDetail(app, context as RestContext)
  try {
    while (view.head('eth') === undefined) await turn()
    let reads = 0
    const arrive = async (): Promise<void> => {
      reads++
      // The third read is that of the token, after the pair and its windows.
      if (reads === 3) await world.append(setOf(2))
      else world.meanwhile = arrive
    }
    world.meanwhile = arrive
    const { headers, body } = await app.inject(`/v2/pairs/${MEME_WETH}-eth`)
    const { updated_at, market_cap } = JSON.parse(body)
    assert.equal(reads, 3)
    assert.deepEqual([headers['x-block'], updated_at, Number(market_cap)], ['102', 2, 2])
  } finally {
    await world.stop()
    await app.close()
  }
})
