import { ChaintapeError } from '../domain/errors.ts'

/** Requests go to `<prefix>.histories.<chain>`: an address in, one of these words out. */
export const HISTORIES_TOPIC = 'histories'

/**
 * - `open`: older transfers are still being read
 * - `unserved`: they are not, because every node refused to serve such old logs
 * - `read`: all of them are in the log, or the address is unknown
 */
export type HistoryState = 'open' | 'unserved' | 'read'

const STATES: readonly string[] = ['open', 'unserved', 'read'] satisfies HistoryState[]

export function decodeHistoryState(text: string): HistoryState {
  if (!STATES.includes(text)) throw new ChaintapeError('message_unreadable', 'not the state of a history')
  return text as HistoryState
}
