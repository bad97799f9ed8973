import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'

// The runner lists the folder it lies in, so a copy of it gets benches of its own.
const folder = mkdtempSync(path.join(tmpdir(), 'bench-run-'))
after(() => rmSync(folder, { recursive: true }))
for (const file of ['run.ts', 'measure.ts'])
  cpSync(path.join(import.meta.dirname, file), path.join(folder, file))
writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}')

const openings = {
  good: 'sides(undefined)',
  wrong: `sides('gap')`,
  broken: `Promise.reject(new Error('no engine'))`,
}
for (const [name, opening] of Object.entries(openings)) {
  writeFileSync(
    path.join(folder, `${name}.bench.ts`),
    `import { repeat, repeatAsync } from './measure.ts'
    const figure = { bar: 1e9, goal: 2e9, direction: 'at least', per: 'cpu second' }
    const sides = (verdict?: string) => ({
      subject: repeat(() => 1, () => verdict),
      baseline: repeatAsync(async () => 1, () => undefined),
    })
    export const bench = { figures: [
      { ...figure, name: 'first', open: () => ${opening} },
      { ...figure, name: 'second', open: async () => sides(undefined) },
    ] }`,
  )
}

function run(...args: string[]) {
  const { status, stdout } = spawnSync(process.execPath, [path.join(folder, 'run.ts'), ...args])
  return { status, lines: stdout.toString().trimEnd().split('\n') }
}

const lastLine = (lines: string[]) => JSON.parse(lines.at(-1) ?? '')

test('a missing or unknown name lists the benches and fails', () => {
  for (const args of [[], ['nope'], ['good', 'wrong'], ['../good']]) {
    const { status, lines } = run(...args)
    assert.equal(status, 1)
    assert.equal(lines.at(-1), 'benches: broken, good, wrong')
  }
})

test('a correct smoke run passes whatever its bars', () => {
  const { status, lines } = run('good', '--smoke')
  const { bench, smoke, figures } = lastLine(lines)
  assert.deepEqual([status, bench, smoke, figures.length], [0, 'good', true, 2])
  assert.deepEqual(Object.keys(figures[0]).slice(0, 5), ['name', 'ratio', 'iqr', 'bar', 'goal'])
  assert.ok(figures[0].pass === true && figures[0].ratio > 0)
})

test('a wrong or broken figure fails the run, and the others are still measured', () => {
  const reasons = { wrong: 'subject is wrong: gap', broken: 'threw: no engine' }
  for (const [name, reason] of Object.entries(reasons)) {
    const { status, lines } = run(name, '--smoke')
    const [first, second] = lastLine(lines).figures
    assert.deepEqual([status, first.ratio, first.pass, first.reason], [1, 0, false, reason])
    assert.equal(second.pass, true)
  }
})
