import { existsSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { Random } from './random.ts'

/**
 * Throws random input at a part of the program, many times. A target is a file of this folder that exports
 * `fuzz(random)`: one case, decided by `random` alone, that throws when something is wrong. Without a target,
 * all of them run.
 *
 *   npm run fuzz -- link --cases 1000000 --seed 1
 */

type Target = { readonly name: string; readonly fuzz: (random: Random) => void }

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { cases: { type: 'string', default: '100000' }, seed: { type: 'string' } },
})
const cases = wholeNumber('cases', values.cases)
const seed = wholeNumber('seed', values.seed ?? String(Math.floor(Math.random() * 2 ** 31)))

const targets: Target[] = []
for (const name of positionals.length > 0 ? positionals : fileNames()) {
  const fuzz = await load(name)
  if (fuzz !== undefined) targets.push({ name, fuzz })
  // A file that only helps a target is no mistake, unless it was asked for.
  else if (positionals.length > 0) fail(`there is no target '${name}'`)
}
if (targets.length === 0) fail('there are no targets')
for (const target of targets) run(target)

function run({ name, fuzz }: Target): void {
  const started = performance.now()
  for (let done = 0; done < cases; done++) {
    // Each case has dice of its own, so that the one that fails can be thrown again alone.
    try {
      fuzz(new Random(seed + done))
    } catch (error) {
      console.error(error)
      console.error(`failed: npm run fuzz -- ${name} --cases 1 --seed ${seed + done}`)
      process.exitCode = 1
      return
    }
  }
  const seconds = (performance.now() - started) / 1_000
  console.log(`${name}: ${cases} cases in ${seconds.toFixed(1)} s, none failed; seed ${seed}`)
}

function fileNames(): string[] {
  const own = new Set(['run', 'random'])
  const files = readdirSync(import.meta.dirname).filter((file) => file.endsWith('.ts'))
  return files.map((file) => basename(file, '.ts')).filter((name) => !own.has(name))
}

async function load(name: string): Promise<Target['fuzz'] | undefined> {
  const file = join(import.meta.dirname, `${basename(name)}.ts`)
  if (!existsSync(file)) return undefined
  const { fuzz } = (await import(file)) as { fuzz?: unknown }
  return typeof fuzz === 'function' ? (fuzz as Target['fuzz']) : undefined
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
