import { Writable } from 'node:stream'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import type { Common } from '../../../src/lib/common.ts'
import { Shutdown } from '../../../src/lib/shutdown.ts'

export type LogLine = { readonly level: number; readonly msg: string; readonly [field: string]: unknown }

/** What a role is handed, with its log lines kept for looking at. */
export function createTestCommon(): Common & { readonly lines: LogLine[] } {
  const lines: LogLine[] = []
  const sink = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(JSON.parse(chunk.toString()) as LogLine)
      done()
    },
  })
  const logger = pino({ level: 'debug' }, sink)
  return { logger, metrics: new Registry(), shutdown: new Shutdown(logger), lines }
}
