import { parseArgs } from 'node:util'
import { simulateEngine } from './engine/simulate.ts'
import { simulate } from './simulate.ts'

/**
 * Random histories of a chain, its nodes, the log and the readers, on a clock of their own: whatever happens on
 * the way, in the end the log must say what the chain says. With --engine, random markets on a chain that forks,
 * and an engine that dies between any two of its writes: whatever happens, in the end its state and all it
 * published must be those of one that lived in peace.
 *
 *   npm run sim -- --seeds 1000            seeds 1 to 1000
 *   npm run sim -- --seeds 1000 --from 5000
 *   npm run sim -- --seed 123              one of them, with all that happened in it
 *   npm run sim -- --engine --seeds 1000
 *   npm run sim -- --engine --seed 123
 */

const { values } = parseArgs({
  options: {
    engine: { type: 'boolean', default: false },
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
  },
})

type Outcome = { readonly failure: unknown; readonly lines: readonly string[] }
type Simulation = {
  /** What reproduces it, but for the seed. */
  readonly command: string
  readonly run: (seed: number) => Promise<Outcome & { readonly counts: readonly number[] }>
  /** The counts of one seed, or the sums over many. */
  readonly describe: (counts: readonly number[]) => string
}

const ofReader: Simulation = {
  command: 'npm run sim --',
  run: async (seed) => {
    const { virtualMs, messages, undone, ...outcome } = await simulate(seed)
    return { ...outcome, counts: [virtualMs, messages, undone] }
  },
  describe: ([virtualMs = 0, messages, undone]) => {
    const minutes = (virtualMs / 60_000).toFixed(1)
    return `log and chain are equal after ${messages} messages, ${undone} of them undos, in ${minutes} virtual minutes`
  },
}

const ofEngine: Simulation = {
  command: 'npm run sim -- --engine',
  run: async (seed) => {
    const { messages, undone, trades, starts, ...outcome } = await simulateEngine(seed)
    return { ...outcome, counts: [messages, undone, trades, starts] }
  },
  describe: ([messages, undone, trades, starts]) =>
    `state and changes are equal after ${messages} messages, ${undone} of them undos, with ${trades} trades, in ${starts} starts`,
}

/** More would be of the same kind. */
const ENOUGH_FAILURES = 10
/** The events that led to the failure of a history. */
const LAST_LINES = 25

const simulation = values.engine ? ofEngine : ofReader
if (values.seed === undefined) await runMany(wholeNumber(values.from), wholeNumber(values.seeds))
else await runOne(wholeNumber(values.seed))

async function runOne(seed: number): Promise<void> {
  const outcome = await simulation.run(seed)
  for (const line of outcome.lines) console.log(line)
  if (outcome.failure === undefined) console.log(`seed ${seed}: ${simulation.describe(outcome.counts)}`)
  else reportFailure(seed, outcome)
}

async function runMany(from: number, seeds: number): Promise<void> {
  // Stack traces are printed only for a single seed: thousands of errors are made on purpose.
  Error.stackTraceLimit = 0
  // The simulation replaces performance.now by its own clock.
  const started = Date.now()
  let total: readonly number[] = []
  let failed = 0
  let seed = from
  for (; seed < from + seeds && failed < ENOUGH_FAILURES; seed++) {
    const outcome = await simulation.run(seed)
    total = outcome.counts.map((count, at) => count + (total[at] ?? 0))
    if (outcome.failure === undefined) continue
    failed += 1
    for (const line of outcome.lines.slice(-LAST_LINES)) console.error(line)
    reportFailure(seed, outcome)
  }
  const seconds = (Date.now() - started) / 1_000
  console.log(
    `${seed - from - failed} seeds passed, ${failed} failed: ${simulation.describe(total)}; ${seconds.toFixed(1)} s`,
  )
  // A run of nothing proves nothing.
  if (seeds === 0) process.exitCode = 1
}

function reportFailure(seed: number, { failure }: Outcome): void {
  console.error(failure)
  console.error(`failed: ${simulation.command} --seed ${seed}`)
  process.exitCode = 1
}

function wholeNumber(text: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= 0) return value
  console.error(`'${text}' is not a whole number`)
  process.exit(1)
}
