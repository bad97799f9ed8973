import { type Logger, pino } from 'pino'

export type { Logger }

/** Readable lines on a terminal, JSON lines anywhere else. `msg` is a fixed sentence; facts go into fields. */
export function createLogger(level: string): Logger {
  return process.stdout.isTTY
    ? pino({
        level,
        transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname', singleLine: true } },
      })
    : pino({ level })
}
