import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import path from 'node:path'
import { type FigureResult, maxSpread } from './measure.ts'

/** The table of the last kept short run, in the repository: what a short run is compared with. */
export type KeptTable = Readonly<Record<string, KeptBench>>

export type KeptBench = {
  readonly date: string
  readonly commit: string
  readonly node: string
  readonly cpu: string
  readonly figures: Readonly<Record<string, KeptFigure>>
}

type KeptFigure = Pick<FigureResult, 'ratio' | 'iqr' | 'direction'>

export type Machine = Pick<KeptBench, 'node' | 'cpu'>

/** The worst that a figure may become, as a share of the kept one. */
const LEAST_SHARE = 2 / 3
/** Ratios travel between machines, but not to the last third: another CPU may favor either side of one. */
const LEAST_SHARE_ELSEWHERE = 1 / 2

const file = path.join(import.meta.dirname, 'results/short.json')

export function readTable(): KeptTable {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as KeptTable
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw error
  }
}

/** Replaces the figures of this bench and leaves those of the others. */
export function keep(name: string, results: readonly FigureResult[]): void {
  const date = new Date().toISOString().slice(0, 10)
  const figures = Object.fromEntries(results.map(keptFigure))
  const kept: KeptBench = { date, commit: commitNow(), ...thisMachine(), figures }
  const table = Object.entries({ ...readTable(), [name]: kept })
  const sorted = Object.fromEntries(table.sort(([one], [other]) => (one < other ? -1 : 1)))
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, `${JSON.stringify(sorted, null, 2)}\n`)
}

export function thisMachine(): Machine {
  return { node: process.versions.node, cpu: cpus()[0]?.model ?? 'unknown' }
}

/** Says how a figure fell since it was kept; undefined if it did not, or cannot be compared. */
export function fallOf(
  result: FigureResult,
  bench: KeptBench | undefined,
  machine: Machine,
): string | undefined {
  const kept = bench?.figures[result.name]
  // A figure that is wrong fails for that, and not for its value.
  if (bench === undefined || kept === undefined || !result.pass) return undefined
  const isHere = bench.cpu === machine.cpu && majorOf(bench.node) === majorOf(machine.node)
  // A time is no ratio: it doubles while the host serves others, whatever the program does.
  if (result.isTime) return undefined
  const least = isHere ? LEAST_SHARE : LEAST_SHARE_ELSEWHERE
  const share = result.direction === 'at least' ? result.ratio / kept.ratio : kept.ratio / result.ratio
  if (share >= least) return undefined
  const change = result.direction === 'at least' ? 'fell' : 'rose'
  return `${change} from ${shown(kept.ratio)} (${bench.date}, ${bench.commit}) to ${shown(result.ratio)}`
}

/** Worth a second measurement before it is judged. */
export function isDoubtful(result: FigureResult, bench: KeptBench | undefined, machine: Machine): boolean {
  return result.iqr > maxSpread * result.ratio || fallOf(result, bench, machine) !== undefined
}

/** Figures that have no kept value yet, and kept ones that were not measured. */
export function changedNames(
  results: readonly FigureResult[],
  bench: KeptBench | undefined,
): { added: string[]; gone: string[] } {
  const kept = Object.keys(bench?.figures ?? {})
  const names = results.map(({ name }) => name)
  return {
    added: names.filter((name) => !kept.includes(name)),
    gone: kept.filter((name) => !names.includes(name)),
  }
}

export function shown(ratio: number): string {
  return ratio >= 100 ? ratio.toFixed(0) : ratio.toPrecision(3)
}

function keptFigure({ name, ratio, iqr, direction }: FigureResult): [string, KeptFigure] {
  return [name, { ratio: Number(ratio.toPrecision(4)), iqr: Number(iqr.toPrecision(3)), direction }]
}

function majorOf(version: string): string {
  return version.split('.')[0] ?? ''
}

function commitNow(): string {
  const asked = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: import.meta.dirname })
  return asked.status === 0 ? asked.stdout.toString().trim() : 'unknown'
}
