import { readdirSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import {
  type Bench,
  type Figure,
  type FigureResult,
  fullPlan,
  measure,
  type Plan,
  smokePlan,
} from './measure.ts'

const ending = '.bench.ts'

async function main(): Promise<boolean> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { smoke: { type: 'boolean' } },
  })
  const known = readdirSync(import.meta.dirname)
    .filter((file) => file.endsWith(ending))
    .map((file) => file.slice(0, -ending.length))
    .sort()
  const [name, ...rest] = positionals
  if (name === undefined || rest.length > 0 || !known.includes(name)) {
    console.log(`usage: npm run bench -- <name> [--smoke]\nbenches: ${known.join(', ') || 'none yet'}`)
    return false
  }

  const plan = values.smoke ? smokePlan : fullPlan
  const bench = await loadBench(name)
  const results: FigureResult[] = []
  for (const figure of bench.figures) results.push(await measureSafely(figure, plan))
  printTable(results, plan)
  // One object on the last line, so that a script can take it with tail -n 1.
  console.log(
    JSON.stringify({ bench: name, ...(plan.smoke && { smoke: true }), figures: results.map(rounded) }),
  )
  return results.length > 0 && results.every(({ pass }) => pass)
}

async function loadBench(name: string): Promise<Bench> {
  const url = pathToFileURL(path.join(import.meta.dirname, name + ending)).href
  const loaded: { bench?: Bench } = await import(url)
  if (!loaded.bench) throw new Error(`${name}${ending} must export const bench: Bench`)
  return loaded.bench
}

/** A figure that throws is a figure that failed; the others are still worth their time. */
async function measureSafely(figure: Figure, plan: Plan): Promise<FigureResult> {
  try {
    return await measure(figure, plan)
  } catch (error) {
    console.error(error)
    const { name, bar, goal, direction } = figure
    const reason = `threw: ${error instanceof Error ? error.message : String(error)}`
    return { name, ratio: 0, iqr: 0, bar, goal, direction, pass: false, pairs: 0, discarded: 0, reason }
  }
}

function printTable(results: FigureResult[], plan: Plan): void {
  const rows = results.map((result) => ({
    figure: result.name,
    ratio: result.ratio.toFixed(3),
    IQR: result.iqr.toFixed(3),
    bar: `${result.direction} ${result.bar}`,
    goal: result.goal,
    pairs: result.pairs,
    discarded: result.discarded,
    pass: result.pass,
  }))
  console.table(rows)
  if (plan.smoke)
    console.log('smoke run: pass means that it runs and its output is correct; the bars are not judged')
  for (const { name, reason } of results) {
    if (reason !== undefined) console.log(`${name}: ${reason}`)
  }
}

function rounded(result: FigureResult): FigureResult {
  return { ...result, ratio: Number(result.ratio.toPrecision(6)), iqr: Number(result.iqr.toPrecision(6)) }
}

process.exitCode = (await main()) ? 0 : 1
