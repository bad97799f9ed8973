import type { LogPosition } from '../domain/log-position.ts'
import { FIRST_LINK } from '../wire/frame.ts'

export type SearchedMessage = {
  /** Sequences of its first and last frame. */
  readonly start: number
  readonly end: number
  readonly link: number
  /** Undefined if the log lacks some of its frames. */
  readonly body: Uint8Array | undefined
}

export type SearchedLog = {
  readonly epoch: string
  readonly first: number
  readonly last: number
  /** The message that has the frame at this sequence. */
  messageAt(sequence: number): Promise<SearchedMessage>
}

/**
 * Binary search: the position after the last message for which `isUpTo` holds, in a log whose messages it holds for up to
 * some place. If the messages around that place were dropped, the position is before the first one that is left, and the
 * log does not hold it.
 */
export async function searchLog(
  { epoch, first, last, messageAt }: SearchedLog,
  isUpTo: (body: Uint8Array) => boolean,
): Promise<LogPosition> {
  let found: LogPosition | undefined
  let [low, high] = [first, last]
  while (low <= high) {
    const { start, end, link, body } = await messageAt(Math.floor((low + high) / 2))
    if (start < first) low = end + 1
    else if (body === undefined || !isUpTo(body)) high = start - 1
    else {
      found = { epoch, sequence: end, link }
      low = end + 1
    }
  }
  return found ?? { epoch, sequence: Math.max(0, first - 2), link: FIRST_LINK }
}
