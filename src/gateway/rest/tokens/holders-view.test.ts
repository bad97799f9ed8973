import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { createHoldersView } from './holders-view.ts'

class World {
  time = 0
  readonly questions: string[] = []
  /** What the fake reader does when asked. */
  answer = async (question: string): Promise<string> =>
    question
      .split(' ')
      .map(() => '7')
      .join(' ')
  readonly view = createHoldersView({
    view: { recent: () => assert.fail('no holders are asked for'), generation: () => 1 },
    history: { topHolders: () => assert.fail('no holders are asked for') },
    logs: {
      request: (_, question) => {
        this.questions.push(question)
        return this.answer(question)
      },
    },
    logger: pino({ level: 'silent' }),
    now: () => this.time,
  })
}

const [FIRST, SECOND] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`]
const ACCOUNT = { balanceRaw: 7n, isContract: false }

test('a value that is fresh when accounts are read does not expire during the read', async () => {
  const world = new World()
  await world.view.accounts('eth', [FIRST])
  world.time = 29_995
  const { answer } = world
  world.answer = async (question) => {
    world.time += 10
    return answer(question)
  }
  assert.deepEqual(await world.view.accounts('eth', [FIRST, SECOND]), [ACCOUNT, ACCOUNT])
})

test('aging accounts are refreshed once while the cached ones are returned', async () => {
  const world = new World()
  await world.view.accounts('eth', [FIRST, SECOND])
  world.time = 19_999
  await world.view.accounts('eth', [FIRST])
  assert.equal(world.questions.length, 1)
  world.time = 20_000
  world.answer = () => new Promise(() => undefined)
  for (let times = 0; times < 3; times++) {
    assert.deepEqual(await world.view.accounts('eth', [FIRST, SECOND]), [ACCOUNT, ACCOUNT])
  }
  assert.equal(world.questions.length, 2)
  // The refresh failed, so this request has to wait.
  world.time = 30_000
  world.answer = async () => '8 9'
  assert.deepEqual(await world.view.accounts('eth', [FIRST, SECOND]), [
    { balanceRaw: 8n, isContract: false },
    { balanceRaw: 9n, isContract: false },
  ])
  assert.equal(world.questions.length, 3)
})

test('the reason for incomplete holders is that of the reader, and unknown without an answer', async () => {
  const world = new World()
  const reasonFor = (answer: () => Promise<string>) => {
    world.answer = answer
    return world.view.incompleteBecause({ chain: 'eth', address: FIRST })
  }
  assert.equal(await reasonFor(async () => 'open'), 'history_open')
  assert.equal(await reasonFor(async () => 'unserved'), 'logs_unavailable')
  assert.equal(await reasonFor(async () => 'read'), undefined)
  assert.equal(await reasonFor(async () => 'nonsense'), undefined)
  assert.equal(await reasonFor(() => Promise.reject(new Error('no responder'))), undefined)
})
