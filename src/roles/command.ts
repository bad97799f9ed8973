import { pino } from 'pino'
import pretty from 'pino-pretty'
import { Registry } from 'prom-client'
import { loadConfig } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import { secretsOf } from '../config/secrets.ts'
import { ChaintapeError } from '../domain/errors.ts'
import {
  ArgumentError,
  type Arguments,
  type OptionTable,
  parseArguments,
  suggestion,
} from '../lib/arguments.ts'
import type { Common } from '../lib/common.ts'
import { hideSecrets, scrub } from '../lib/secrets.ts'
import { Shutdown } from '../lib/shutdown.ts'

/** Common to the commands with options of their own. */
const OPTIONS = {
  config: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies OptionTable

export const TEXT = { type: 'string' } as const

type Description<T extends OptionTable> = {
  readonly name: string
  readonly usage: string
  /** In addition to --config and --help. */
  readonly options: T
}

/** Returns the exit code: 2 if the command line or the configuration is invalid. */
export async function runCommand<T extends OptionTable>(
  { name, usage, options }: Description<T>,
  args: readonly string[],
  run: (given: Arguments<T & typeof OPTIONS>) => Promise<number>,
): Promise<number> {
  try {
    const given = parseArguments(args, { ...options, ...OPTIONS })
    if (given.values.help !== true) return await run(given)
    process.stdout.write(usage)
    return 0
  } catch (error) {
    if (error instanceof ArgumentError) {
      process.stderr.write(`chaintape: ${error.message}\nSee chaintape ${name} --help\n`)
      return 2
    }
    if (!(error instanceof ChaintapeError)) throw error
    process.stderr.write(scrub(`chaintape: ${error.message}\n`))
    return error.code === 'config_invalid' ? 2 : 1
  }
}

export function onlyArgument(positionals: readonly string[], missing: string): string {
  const [argument, unexpected] = positionals
  if (argument === undefined) throw new ArgumentError(missing)
  if (unexpected !== undefined) throw new ArgumentError(`unexpected argument '${unexpected}'`)
  return argument
}

/** From the file that --config names, or CHAINTAPE_CONFIG. */
export function configOf({ config }: { readonly config?: string }): Config {
  const loaded = loadConfig(config ?? process.env['CHAINTAPE_CONFIG'])
  hideSecrets(secretsOf(loaded))
  return loaded
}

export function requireChain({ chains }: Config, chain: string): void {
  if (Object.hasOwn(chains, chain)) return
  throw new ArgumentError(`unknown chain '${chain}'${suggestion(chain, Object.keys(chains))}`)
}

/** For people: warnings as text on stderr; stdout has the answer. */
export function commonOfCommand(): Common {
  const logger = pino(
    { level: 'warn', hooks: { streamWrite: scrub } },
    pretty({ destination: 2, singleLine: true, sync: true, ignore: 'pid,hostname,time' }),
  )
  const shutdown = new Shutdown(logger)
  shutdown.listenToSignals()
  return { logger, metrics: new Registry(), shutdown }
}

/** On stderr: stdout has the answer. */
export function note(line: string): void {
  process.stderr.write(`${line}\n`)
}
