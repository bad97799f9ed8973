import { parseArgs } from 'node:util'
import { type Outcome, simulate } from './simulate.ts'

/**
 * Random histories of a chain, its nodes, the log and the readers, on a clock of their own: whatever happens on
 * the way, in the end the log must say what the chain says.
 *
 *   npm run sim -- --seeds 1000            seeds 1 to 1000
 *   npm run sim -- --seeds 1000 --from 5000
 *   npm run sim -- --seed 123              one of them, with all that happened in it
 */

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
  },
})

/** More would be of the same kind. */
const ENOUGH_FAILURES = 10
/** Of a history that failed, what led to it. */
const LAST_LINES = 25

if (values.seed === undefined) await runMany(wholeNumber(values.from), wholeNumber(values.seeds))
else await runOne(wholeNumber(values.seed))

async function runOne(seed: number): Promise<void> {
  const outcome = await simulate(seed)
  for (const line of outcome.lines) console.log(line)
  if (outcome.failure === undefined) console.log(`seed ${seed}: ${describe(outcome)}`)
  else reportFailure(seed, outcome)
}

async function runMany(from: number, seeds: number): Promise<void> {
  // Where an error was made is told when its seed is run alone; thousands are made on purpose.
  Error.stackTraceLimit = 0
  const started = performance.now()
  const total = { virtualMs: 0, messages: 0, undone: 0 }
  let failed = 0
  let seed = from
  for (; seed < from + seeds && failed < ENOUGH_FAILURES; seed++) {
    const outcome = await simulate(seed)
    total.virtualMs += outcome.virtualMs
    total.messages += outcome.messages
    total.undone += outcome.undone
    if (outcome.failure === undefined) continue
    failed += 1
    for (const line of outcome.lines.slice(-LAST_LINES)) console.error(line)
    reportFailure(seed, outcome)
  }
  const seconds = (performance.now() - started) / 1_000
  console.log(
    `${seed - from - failed} seeds passed, ${failed} failed: ${describe(total)}; ${seconds.toFixed(1)} s`,
  )
  // A run of nothing proves nothing.
  if (seeds === 0) process.exitCode = 1
}

function reportFailure(seed: number, { failure }: Outcome): void {
  console.error(failure)
  console.error(`failed: npm run sim -- --seed ${seed}`)
  process.exitCode = 1
}

function describe({
  virtualMs,
  messages,
  undone,
}: Pick<Outcome, 'virtualMs' | 'messages' | 'undone'>): string {
  const minutes = (virtualMs / 60_000).toFixed(1)
  return `log and chain are equal after ${messages} messages, ${undone} of them undos, in ${minutes} virtual minutes`
}

function wholeNumber(text: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= 0) return value
  console.error(`'${text}' is not a whole number`)
  process.exit(1)
}
