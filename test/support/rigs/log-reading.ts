import { ChaintapeError, type ErrorCode } from '../../../src/domain/errors.ts'
import type { LogPosition } from '../../../src/domain/log-position.ts'
import type { ChainLog, LogMessage } from '../../../src/log/chain-log.ts'

/** Small, so that messages of some hundred kilobytes are split. */
export const MAX_FRAME_BYTES = 100_000

export const text = (body: string): Uint8Array => Buffer.from(body)

export function hasCode(code: ErrorCode): (error: unknown) => boolean {
  return (error) => error instanceof ChaintapeError && error.code === code
}

/** All whole messages after a position, up to the end of the log or to `until`. */
export async function readAll(log: ChainLog, after?: LogPosition, until?: number): Promise<LogMessage[]> {
  const end = until ?? (await log.lastSequence())
  const messages: LogMessage[] = []
  if (end <= (after?.sequence ?? 0)) return messages
  const stop = new AbortController()
  for await (const message of log.read({ after, signal: stop.signal })) {
    messages.push({ ...message, body: Uint8Array.from(message.body) })
    if (message.position.sequence >= end) break
  }
  return messages
}

export async function bodies(log: ChainLog, after?: LogPosition): Promise<string[]> {
  return (await readAll(log, after)).map(({ body }) => Buffer.from(body).toString())
}
