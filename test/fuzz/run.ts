import { existsSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { Random } from './random.ts'

/**
 * Throws random input at a part of the program, many times. A target is a file of this folder that exports
 * `fuzz(random)`: one case, decided by `random` alone, that throws when something is wrong; or, where cases share
 * an expensive world, `fuzzAll(cases, seed)`, which returns its observations. Without a target, all of them run.
 *
 *   npm run fuzz -- link --cases 1000000 --seed 1
 */

type Target = { readonly name: string } & (
  | { readonly fuzz: (random: Random) => void }
  | { readonly fuzzAll: (cases: number, seed: number) => Promise<string> }
)

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { cases: { type: 'string', default: '100000' }, seed: { type: 'string' } },
})
const cases = wholeNumber('cases', values.cases)
const seed = wholeNumber('seed', values.seed ?? String(Math.floor(Math.random() * 2 ** 31)))

const targets: Target[] = []
for (const name of positionals.length > 0 ? positionals : fileNames()) {
  const target = await load(name)
  if (target !== undefined) targets.push(target)
  // A file that only helps a target is no mistake, unless it was asked for.
  else if (positionals.length > 0) fail(`there is no target '${name}'`)
}
if (targets.length === 0) fail('there are no targets')
for (const target of targets) await run(target)

async function run(target: Target): Promise<void> {
  const { name } = target
  const started = performance.now()
  const found = 'fuzz' in target ? runEach(target.fuzz) : await runAll(target.fuzzAll)
  const seconds = (performance.now() - started) / 1_000
  if (typeof found === 'string') {
    console.log(`${name}: ${cases} cases in ${seconds.toFixed(1)} s, none failed; seed ${seed}${found}`)
    return
  }
  console.error(found.error)
  console.error(`failed: npm run fuzz -- ${name} --cases 1 --seed ${found.seed}`)
  process.exitCode = 1
}

type Found = string | { readonly error: unknown; readonly seed: number }

function runEach(fuzz: (random: Random) => void): Found {
  for (let done = 0; done < cases; done++) {
    // Each case has dice of its own, so that the one that fails can be thrown again alone.
    try {
      fuzz(new Random(seed + done))
    } catch (error) {
      return { error, seed: seed + done }
    }
  }
  return ''
}

async function runAll(fuzzAll: (cases: number, seed: number) => Promise<string>): Promise<Found> {
  try {
    return `; ${await fuzzAll(cases, seed)}`
  } catch (error) {
    const index = error instanceof Error && 'index' in error ? Number(error.index) : 0
    return { error, seed: seed + index }
  }
}

function fileNames(): string[] {
  const own = new Set(['run', 'random'])
  const files = readdirSync(import.meta.dirname).filter((file) => file.endsWith('.ts'))
  return files.map((file) => basename(file, '.ts')).filter((name) => !own.has(name))
}

async function load(name: string): Promise<Target | undefined> {
  const file = join(import.meta.dirname, `${basename(name)}.ts`)
  if (!existsSync(file)) return undefined
  const found = (await import(file)) as object
  return 'fuzz' in found || 'fuzzAll' in found ? ({ name, ...found } as Target) : undefined
}

function wholeNumber(option: string, text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 0) fail(`--${option} takes a whole number, not '${text}'`)
  return value
}

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}
