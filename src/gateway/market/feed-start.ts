import type { ChainHead } from '../../domain/chain-head.ts'
import type { LogPosition } from '../../domain/log-position.ts'
import type { ChainLog } from '../../log/chain-log.ts'
import { openChangeSet } from '../../wire/change-codec.ts'
import { FIRST_LINK } from '../../wire/frame.ts'
import { type BlockHead, headOf } from './read-position.ts'
import type { StoredHeads } from './stored-heads.ts'

/** The log compresses messages to about half, and in memory they take about twice their own bytes. */
const MEMORY_PER_STORED_BYTE = 4

export type FollowedLog = Pick<ChainLog, 'epoch' | 'read' | 'lastMessage' | 'locate' | 'bytesAfter'>

/** Where a gateway begins to read a chain's change feed. */
export type FeedStart = {
  readonly after: LogPosition
  /** The change set before that position; undefined at the start of the log. */
  readonly previous?: { readonly seq: number; readonly time: number; readonly head: BlockHead }
  /** Stores that lack this change set cannot be read. */
  readonly needed?: number
  /** The stores are too far behind: the chain is unavailable until the writer has caught up. */
  readonly isDegraded?: boolean
}

/** The earliest position from which all that follows is in the log and fits into `maxBytes` of memory. */
export async function findStart(log: FollowedLog, stores: StoredHeads, maxBytes: number): Promise<FeedStart> {
  const { heads, isAnyEmpty, isForeign } = await stores.lookAtAll(log.epoch)
  const start = startOf(log)
  const hasRoomAfter = async (from: LogPosition): Promise<boolean> => {
    if ((await log.locate(from)) === 'dropped') return false
    return (await log.bytesAfter(from.sequence)) * MEMORY_PER_STORED_BYTE <= maxBytes
  }
  // With the whole log in the overlay, an empty store can be read as well. The documents of another log cannot.
  if (isAnyEmpty && (await hasRoomAfter(start))) return { after: start, ...(isForeign ? { needed: 0 } : {}) }
  // From the first head on, either store can be read; from a later one, only the store that is ahead.
  for (const head of heads) if (await hasRoomAfter(head.position)) return startAt(head)
  return startAtEnd(log)
}

function startAt(head: ChainHead): FeedStart {
  const { position, seq, time, finalNumber } = head
  return { after: position, previous: { seq, time, head: headOf(head, finalNumber) }, needed: seq }
}

async function startAtEnd(log: FollowedLog): Promise<FeedStart> {
  const last = await log.lastMessage()
  if (last === undefined) return { after: startOf(log) }
  const { seq, head, finalNumber } = openChangeSet(last.body).set
  const previous = { seq, time: head.time, head: headOf(head, finalNumber) }
  return { after: last.position, previous, needed: seq, isDegraded: true }
}

export function startOf({ epoch }: FollowedLog): LogPosition {
  return { epoch, sequence: 0, link: FIRST_LINK }
}
