import { type Logger, pino } from 'pino'
import { scrub } from './secrets.ts'

export type { Logger }

/** Readable lines on a terminal, JSON lines elsewhere. `msg` is a fixed phrase; facts go in fields. */
export function createLogger(level: string): Logger {
  // Libraries put URLs and commands into their errors, so secrets are removed from whole lines.
  const hooks = { streamWrite: scrub }
  return process.stdout.isTTY
    ? pino({
        level,
        hooks,
        transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname', singleLine: true } },
      })
    : pino({ level, hooks })
}
