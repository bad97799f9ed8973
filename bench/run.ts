import { readdirSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { form } from './form.ts'
import { type Bench, type Figure, type FigureResult, measure, plans, processClock } from './measure.ts'
import { changedNames, fallOf, isDoubtful, keep, readTable, shown, thisMachine } from './results.ts'
import { runAll } from './run-all.ts'

const ending = '.bench.ts'
const plan = plans[form]
const machine = thisMachine()

async function main(): Promise<boolean> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { smoke: { type: 'boolean' }, short: { type: 'boolean' }, keep: { type: 'boolean' } },
  })
  const known = readdirSync(import.meta.dirname)
    .filter((file) => file.endsWith(ending))
    .map((file) => file.slice(0, -ending.length))
    .sort()
  const [name, ...rest] = positionals
  const isKnown = name === 'all' || known.includes(name ?? '')
  if (name === undefined || rest.length > 0 || !isKnown || (values.keep && form !== 'short')) {
    const benches = `benches: ${known.join(', ') || 'none yet'}`
    console.log(`usage: npm run bench -- <name>|all [--smoke | --short [--keep]]\n${benches}`)
    return false
  }
  return name === 'all' ? runAll(known, values.keep === true) : runOne(name, values.keep === true)
}

async function runOne(name: string, isKept: boolean): Promise<boolean> {
  const kept = form === 'short' ? readTable()[name] : undefined
  const { figures } = await loadBench(name)
  const results: FigureResult[] = []
  const start = performance.now()
  for (const figure of figures) {
    const figureStart = performance.now()
    const result = await measureSafely(
      figure,
      (first) => form === 'short' && isDoubtful(first, kept, machine),
    )
    const fall = fallOf(result, kept, machine)
    results.push(fall === undefined ? result : { ...result, fall })
    console.log(`${secondsSince(figureStart)} s: ${figure.name}`)
  }
  printTable(results)
  console.log(`${secondsSince(start)} s in all`)
  if (form === 'short') {
    const { added, gone } = changedNames(results, kept)
    for (const each of added) console.log(`new, nothing to compare with: ${each}`)
    for (const each of gone) console.log(`gone since the table was kept: ${each}`)
  }
  const isRight = results.length > 0 && results.every(({ pass }) => pass)
  if (isKept) {
    if (isRight) keep(name, results)
    console.log(isRight ? 'these figures were kept' : 'not kept: a figure is wrong')
  }
  // One object on the last line, so that a script can take it with tail -n 1.
  console.log(JSON.stringify({ bench: name, [form]: true, figures: results.map(rounded) }))
  return isRight && (isKept || results.every(({ fall }) => fall === undefined))
}

async function loadBench(name: string): Promise<Bench> {
  const url = pathToFileURL(path.join(import.meta.dirname, name + ending)).href
  const loaded: { bench?: Bench } = await import(url)
  if (!loaded.bench) throw new Error(`${name}${ending} must export const bench: Bench`)
  return loaded.bench
}

/** A figure that throws is a figure that failed; the others are still worth their time. */
async function measureSafely(
  figure: Figure,
  isDoubted: (result: FigureResult) => boolean,
): Promise<FigureResult> {
  try {
    return await measure(figure, plan, processClock, isDoubted)
  } catch (error) {
    console.error(error)
    const { name, bar, goal, direction } = figure
    const reason = `threw: ${error instanceof Error ? error.message : String(error)}`
    return { name, ratio: 0, iqr: 0, bar, goal, direction, pass: false, pairs: 0, discarded: 0, reason }
  }
}

function printTable(results: readonly FigureResult[]): void {
  const rows = results.map((result) => ({
    figure: result.name,
    ratio: shown(result.ratio),
    IQR: shown(result.iqr),
    'per second': result.rate === undefined ? '' : Math.round(result.rate),
    bar: `${result.direction} ${shown(result.bar)}`,
    goal: result.goal,
    pairs: result.pairs,
    discarded: result.discarded,
    pass: result.pass && result.fall === undefined,
  }))
  console.table(rows)
  if (form === 'smoke')
    console.log('smoke run: pass means that it runs and its output is correct; the bars are not judged')
  if (form === 'short')
    console.log(
      'short run: pass means correct and not much worse than in the kept table; the bars are not judged',
    )
  for (const { name, reason, fall } of results) {
    const problem = reason ?? fall
    if (problem !== undefined) console.log(`${name}: ${problem}`)
  }
}

function secondsSince(start: number): number {
  return Math.round((performance.now() - start) / 1_000)
}

function rounded(result: FigureResult): FigureResult {
  const short = (value: number): number => Number(value.toPrecision(6))
  const rate = result.rate === undefined ? {} : { rate: short(result.rate) }
  return { ...result, ...rate, ratio: short(result.ratio), iqr: short(result.iqr) }
}

// A bench that threw may have left servers open; they end with this process.
process.exit((await main()) ? 0 : 1)
