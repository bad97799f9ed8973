import { type Logger, pino } from 'pino'

export type { Logger }

/** Readable lines on a terminal, JSON lines anywhere else. `msg` is a fixed sentence; facts go into fields. */
export function createLogger(options: { level: string; fields: Record<string, string> }): Logger {
  const base = { level: options.level, base: options.fields }
  return process.stdout.isTTY
    ? pino({ ...base, transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname' } } })
    : pino(base)
}
