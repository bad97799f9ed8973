import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { TurnBudget } from './turn-budget.ts'

function spend(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

test('work runs in order, after the code that adds it', async () => {
  const budget = new TurnBudget()
  const done: number[] = []
  for (const nth of [1, 2, 3]) budget.add(() => done.push(nth))
  assert.equal(done.length, 0)
  while (done.length < 3) await turn()
  budget.add(() => done.push(4))
  while (done.at(-1) !== 4) await turn()
  assert.deepEqual(done, [1, 2, 3, 4])
})

test('others have their turn between the works of a crowd', async () => {
  const budget = new TurnBudget()
  let done = 0
  for (let nth = 0; nth < 50; nth++) {
    budget.add(() => {
      spend(1)
      // What a socket that closes does next counts, too.
      process.nextTick(() => spend(1))
      done++
    })
  }
  const perTurn: number[] = []
  for (let before = 0; done < 50; before = done) {
    await turn()
    perTurn.push(done - before)
  }
  assert.ok(Math.max(...perTurn) <= 4, `${perTurn}`)
})
