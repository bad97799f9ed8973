import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Logger } from './logger.ts'
import { Progress } from './progress.ts'

function setUp(isTTY: boolean) {
  const lines: unknown[] = []
  const written: string[] = []
  const clock = { ms: 0 }
  const logger = { info: (facts: object, msg: string) => lines.push({ ...facts, msg }) } as unknown as Logger
  const terminal = { isTTY, write: (text: string) => written.push(text) }
  return { lines, written, clock, progress: new Progress('eth: blocks', logger, terminal, () => clock.ms) }
}

test('without a terminal, logs a line with rate and time left every five seconds, and one at the end', () => {
  const { lines, clock, progress } = setUp(false)
  for (let done = 1_000; done <= 1_100; done++) {
    progress.update(done, 1_100)
    clock.ms += 200
  }
  assert.deepEqual(lines, [
    { done: 1_025, total: 1_100, per_second: 5, eta_seconds: 15, msg: 'Catching up' },
    { done: 1_050, total: 1_100, per_second: 5, eta_seconds: 10, msg: 'Catching up' },
    { done: 1_075, total: 1_100, per_second: 5, eta_seconds: 5, msg: 'Catching up' },
    { done: 1_100, total: 1_100, per_second: 5, eta_seconds: 0, msg: 'Caught up' },
  ])
})

test('short tasks and single new blocks at the head are not reported', () => {
  const { lines, written, clock, progress } = setUp(false)
  for (let head = 1; head < 100; head++) {
    progress.update(head, head)
    clock.ms += 12_000
  }
  assert.deepEqual([lines, written], [[], []])
})

test('on a terminal, draws a bar that starts where the task began', () => {
  const { lines, written, clock, progress } = setUp(true)
  progress.update(1_000, 1_100)
  clock.ms = 10_000
  progress.update(1_050, 1_100)
  clock.ms = 20_000
  progress.update(1_100, 1_100)
  const full = '\u2588'
  const empty = '\u2591'
  assert.deepEqual(lines, [])
  assert.deepEqual(written, [
    `\r\u001b[2Keth: blocks ${full.repeat(15)}${empty.repeat(15)} 50 %  1050/1100  5/s  10 s left`,
    `\r\u001b[2Keth: blocks ${full.repeat(30)} 100 %  1100/1100  5/s  0 s left\n`,
  ])
})
