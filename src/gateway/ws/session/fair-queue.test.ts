import assert from 'node:assert/strict'
import test, { mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { FairQueue } from './fair-queue.ts'

function start() {
  const queue = new FairQueue({ add: (work) => setImmediate(work) })
  const started: string[] = []
  const run = (keyId: string, name: string) => {
    const done = Promise.withResolvers<void>()
    const ended = queue.run(keyId, () => {
      started.push(name)
      return done.promise
    })
    return { ...done, ended }
  }
  return { run, started }
}

test('the work of a key runs one at a time, in order; another key does not wait', async () => {
  const { run, started } = start()
  const [first, second, third] = [run('a', 'a1'), run('a', 'a2'), run('a', 'a3')]
  run('b', 'b1').resolve()
  assert.deepEqual(started, ['a1', 'b1'])
  first.resolve()
  await first.ended
  // Not in the turn in which the first one ended.
  assert.deepEqual(started, ['a1', 'b1'])
  await turn()
  assert.deepEqual(started, ['a1', 'b1', 'a2'])
  second.reject(new Error('failed'))
  await assert.rejects(second.ended, /failed/)
  await turn()
  assert.deepEqual(started, ['a1', 'b1', 'a2', 'a3'])
  third.resolve()
  await third.ended
  run('a', 'a4').resolve()
  assert.equal(started.at(-1), 'a4')
})

test('slow work delays the next by 100 ms at most, and passes its turn once', async () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    const { run, started } = start()
    const [slow, second] = [run('a', 'a1'), run('a', 'a2')]
    run('a', 'a3')
    mock.timers.tick(100)
    await turn()
    assert.deepEqual(started, ['a1', 'a2'])
    slow.resolve()
    await slow.ended
    await turn()
    assert.deepEqual(started, ['a1', 'a2'])
    second.resolve()
    await second.ended
    await turn()
    assert.deepEqual(started, ['a1', 'a2', 'a3'])
  } finally {
    mock.timers.reset()
  }
})
