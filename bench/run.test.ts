import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'

// The runner lists the folder it lies in, so a copy of it gets benches of its own.
const folder = mkdtempSync(path.join(tmpdir(), 'bench-run-'))
after(() => rmSync(folder, { recursive: true }))
for (const file of ['form.ts', 'measure.ts', 'results.ts', 'run-all.ts', 'run.ts'])
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

// Its slices take no time, so that a short run takes none either.
writeFileSync(
  path.join(folder, 'quick.bench.ts'),
  `import { recordedValues } from './measure.ts'
  const figure = { bar: 1, goal: 2, direction: 'at least', per: 'slice' }
  const open = () => ({ subject: recordedValues([5]) })
  export const bench = { figures: [{ ...figure, name: 'first', open }, { ...figure, name: 'second', open }] }`,
)

function run(...args: string[]) {
  const { status, stdout } = spawnSync(process.execPath, [path.join(folder, 'run.ts'), ...args])
  return { status, lines: stdout.toString().trimEnd().split('\n') }
}

const lastLine = (lines: string[]) => JSON.parse(lines.at(-1) ?? '')

test('a missing or unknown name lists the benches and fails', () => {
  for (const args of [[], ['nope'], ['good', 'wrong'], ['../good']]) {
    const { status, lines } = run(...args)
    assert.equal(status, 1)
    assert.equal(lines.at(-1), 'benches: broken, good, quick, wrong')
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

test('a short run is compared with the kept table, which only --keep writes', () => {
  assert.equal(run('quick', '--keep').status, 1)
  const unkept = run('quick', '--short')
  assert.equal(unkept.status, 0)
  assert.ok(unkept.lines.includes('new, nothing to compare with: first'))
  assert.equal(run('quick', '--short', '--keep').status, 0)
  const table = path.join(folder, 'results/short.json')
  const kept = JSON.parse(readFileSync(table, 'utf8'))
  assert.deepEqual(Object.keys(kept.quick.figures), ['first', 'second'])
  kept.quick.figures.first.ratio *= 100
  kept.quick.figures.third = kept.quick.figures.second
  writeFileSync(table, JSON.stringify(kept))
  const { status, lines } = run('quick', '--short')
  assert.equal(status, 1)
  assert.match(lastLine(lines).figures[0].fall, /^fell from 500 /)
  assert.ok(lines.includes('gone since the table was kept: third'))
})

test('all benches make one table, and one broken figure fails it', () => {
  const { status, lines } = run('all', '--smoke')
  assert.equal(status, 1)
  assert.ok(lines.includes('broken: first: threw: no engine'))
  assert.ok(lines.includes('wrong: first: subject is wrong: gap'))
  assert.match(lines.join(), /'quick' +│ 'second'/)
})
