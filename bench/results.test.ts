import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FigureResult } from './measure.ts'
import { changedNames, fallOf, isDoubtful, type KeptBench } from './results.ts'

const here = { node: '24.1.0', cpu: 'this one' }
const elsewhere = { node: '24.1.0', cpu: 'another' }

function figure(ratio: number, change: Partial<FigureResult> = {}): FigureResult {
  const counts = { pairs: 5, discarded: 0 }
  return {
    name: 'f',
    ratio,
    iqr: 0,
    bar: 1,
    goal: 2,
    direction: 'at least',
    pass: true,
    ...counts,
    ...change,
  }
}

function kept(ratio: number, direction: FigureResult['direction'] = 'at least'): KeptBench {
  return { date: '2026-01-02', commit: 'abc1234', ...here, figures: { f: { ratio, iqr: 0, direction } } }
}

test('a figure fails when it is worse by more than a third, in its own direction', () => {
  assert.equal(fallOf(figure(0.67), kept(1), here), undefined)
  assert.equal(fallOf(figure(0.66), kept(1), here), 'fell from 1.00 (2026-01-02, abc1234) to 0.660')
  const atMost = { direction: 'at most' } as const
  assert.equal(fallOf(figure(1.49, atMost), kept(1, 'at most'), here), undefined)
  assert.match(fallOf(figure(1.51, atMost), kept(1, 'at most'), here) ?? '', /^rose from 1\.00/)
  assert.equal(fallOf(figure(0.1, atMost), kept(1, 'at most'), here), undefined)
})

test('on another machine half is allowed, and times are not compared', () => {
  assert.equal(fallOf(figure(0.51), kept(1), elsewhere), undefined)
  assert.notEqual(fallOf(figure(0.49), kept(1), elsewhere), undefined)
  assert.notEqual(fallOf(figure(0.49), kept(1), { ...here, node: '26.0.0' }), undefined)
  const time = { direction: 'at most', isTime: true } as const
  assert.equal(fallOf(figure(9, time), kept(1, 'at most'), elsewhere), undefined)
  assert.equal(fallOf(figure(9, time), kept(1, 'at most'), here), undefined)
})

test('what was never kept, or is wrong, does not fall', () => {
  assert.equal(fallOf(figure(0.1), undefined, here), undefined)
  assert.equal(fallOf(figure(0.1, { name: 'g' }), kept(1), here), undefined)
  assert.equal(fallOf(figure(0, { pass: false }), kept(1), here), undefined)
})

test('a fall or a wide spread is worth a second measurement', () => {
  assert.equal(isDoubtful(figure(1), kept(1), here), false)
  assert.equal(isDoubtful(figure(0.6), kept(1), here), true)
  assert.equal(isDoubtful(figure(1, { iqr: 0.4 }), kept(1), here), true)
})

test('new and missing figures are named', () => {
  const { added, gone } = changedNames([figure(1, { name: 'g' })], kept(1))
  assert.deepEqual([added, gone], [['g'], ['f']])
})
