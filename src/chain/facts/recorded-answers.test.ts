import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Asker } from './asker.ts'
import { RecordedAnswers } from './recorded-answers.ts'

function counter() {
  const asked: string[] = []
  const ask: Asker['ask'] = async (calls, blockHash) =>
    calls.map(({ to, data }) => {
      asked.push(`${blockHash} ${to} ${data}`)
      return data === 'none' ? undefined : Buffer.from(String(asked.length))
    })
  return { asked, asker: { ask, askExactly: ask } }
}

const call = (data: string) => ({ to: '0xa', data })
const text = (answers: readonly (Uint8Array | undefined)[]) => answers.map((answer) => answer?.toString())

test('each recorded answer is given once, in the order of the questions; the rest is asked', async () => {
  const { asked, asker } = counter()
  const answers = new RecordedAnswers()
  const recording = answers.record(asker)
  assert.deepEqual(text(await recording.askExactly([call('x'), call('none')], 'h')), ['1', undefined])
  assert.deepEqual(text(await recording.askExactly([call('x')], 'h')), ['3'])
  asked.length = 0
  const replay = answers.replay(asker)
  assert.deepEqual(text(await replay.askExactly([call('x'), call('new'), call('none')], 'h')), [
    '1',
    '1',
    undefined,
  ])
  assert.deepEqual(asked, ['h 0xa new'])
  assert.deepEqual(text(await replay.askExactly([call('x')], 'h')), ['3'])
  assert.deepEqual(text(await replay.askExactly([call('x')], 'h')), ['2'])
  assert.deepEqual(asked, ['h 0xa new', 'h 0xa x'])
})

test('an answer is only of the state, and of the way, it was asked for', async () => {
  const { asked, asker } = counter()
  const answers = new RecordedAnswers()
  await answers.record(asker).ask([call('x')], 'h')
  asked.length = 0
  const replay = answers.replay(asker)
  await replay.ask([call('x')], 'other')
  await replay.askExactly([call('x')], 'h')
  assert.equal(asked.length, 2)
  await replay.ask([call('x')], 'h')
  assert.equal(asked.length, 2)
})

test('failures are not recorded', async () => {
  const { asker } = counter()
  const answers = new RecordedAnswers()
  const down: Asker = {
    ask: () => Promise.reject(new Error('down')),
    askExactly: () => Promise.reject(new Error('down')),
  }
  await assert.rejects(answers.record(down).ask([call('x')], 'h'))
  assert.deepEqual(text(await answers.replay(asker).ask([call('x')], 'h')), ['1'])
})
