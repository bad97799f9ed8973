import { spawn } from 'node:child_process'
import path from 'node:path'
import { form } from './form.ts'
import type { FigureResult } from './measure.ts'
import { readTable, shown } from './results.ts'

/** A bench that hangs must not take the time of all others. */
const MAX_BENCH_MS = 900_000

type Row = FigureResult & { readonly bench: string }

/** Every bench in a process of its own, so that none inherits heap or compiled code from another; then one table of all. */
export async function runAll(names: readonly string[], isKept: boolean): Promise<boolean> {
  const before = form === 'short' ? readTable() : {}
  const start = performance.now()
  const rows: Row[] = []
  const seconds: string[] = []
  const broken: string[] = []
  for (const name of names) {
    const benchStart = performance.now()
    console.log(`\n=== ${name}`)
    const figures = await runBench(name, isKept)
    if (figures === undefined) broken.push(name)
    for (const figure of figures ?? []) rows.push({ ...figure, bench: name })
    seconds.push(`${name} ${Math.round((performance.now() - benchStart) / 1_000)} s`)
  }
  console.table(
    rows.map(({ bench, name, ratio, iqr, direction, bar, goal, pass, fall }) => {
      const kept = before[bench]?.figures[name]?.ratio
      return {
        ...{ bench, figure: name, ratio: shown(ratio), IQR: shown(iqr) },
        kept: kept === undefined ? 'new' : shown(kept),
        ...{ bar: `${direction} ${shown(bar)}`, goal, pass: pass && fall === undefined },
      }
    }),
  )
  console.log(`${seconds.join(', ')}; ${Math.round((performance.now() - start) / 1_000)} s in all`)
  for (const { bench, name, reason, fall } of rows) {
    const problem = reason ?? fall
    if (problem !== undefined) console.log(`${bench}: ${name}: ${problem}`)
  }
  for (const name of broken) console.log(`${name}: ended without a result`)
  for (const name of Object.keys(before)) {
    if (!names.includes(name)) console.log(`gone since the table was kept: bench ${name}`)
  }
  const isRight = broken.length === 0 && rows.every(({ pass }) => pass)
  return isRight && (isKept || rows.every(({ fall }) => fall === undefined))
}

/** Its output is passed on, all but the last line, which is its result. */
async function runBench(name: string, isKept: boolean): Promise<FigureResult[] | undefined> {
  const args = [path.join(import.meta.dirname, 'run.ts'), name]
  if (form !== 'full') args.push(`--${form}`)
  if (isKept) args.push('--keep')
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], timeout: MAX_BENCH_MS })
  let output = ''
  for await (const chunk of child.stdout) output += chunk
  const lines = output.trimEnd().split('\n')
  const last = lines.pop() ?? ''
  console.log(lines.join('\n'))
  try {
    return (JSON.parse(last) as { figures: FigureResult[] }).figures
  } catch {
    console.log(last)
    return undefined
  }
}
