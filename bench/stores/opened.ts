import { pino } from 'pino'
import { Registry } from 'prom-client'
import type { Common } from '../../src/lib/common.ts'
import { Shutdown } from '../../src/lib/shutdown.ts'

/** What a store is handed, saying nothing. */
export function silentCommon(): Common {
  const logger = pino({ level: 'silent' })
  return { logger, metrics: new Registry(), shutdown: new Shutdown(logger) }
}

export function historyOptions(url: string, database: string) {
  return { url, database, username: 'default', password: '' }
}
