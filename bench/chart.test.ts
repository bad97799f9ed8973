import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { CHART, chartOf } from './chart.ts'
import { readTable } from './results.ts'

test('the chart in the documents shows the kept table', () => {
  assert.equal(readFileSync(CHART, 'utf8'), chartOf(readTable()), 'run `node bench/chart.ts`')
})

test('a bar begins at the speed of the bare engine, and names are escaped', () => {
  const figures = { 'a < b': { ratio: 0.1, iqr: 0, direction: 'at least' as const } }
  const chart = chartOf({ one: { date: '2026-01-02', commit: 'abc', node: '24', cpu: 'this', figures } })
  assert.match(chart, /a &lt; b/)
  const x = (ratio: number): number =>
    Number(new RegExp(`<text class="tick" x="(\\d+)" y="20">${ratio}<`).exec(chart)?.[1])
  assert.match(chart, new RegExp(`<rect x="${x(0.1)}" y="\\d+" width="${x(1) - x(0.1)}"`))
})
