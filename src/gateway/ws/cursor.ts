import type { ChangeSet, EventRef } from '../../domain/change.ts'
import type { LogPosition } from '../../domain/log-position.ts'
import type { FeedPosition } from '../market/read-position.ts'

/** A change set, the position before it, and where its message ends. */
export type PlacedSet = {
  readonly origin: FeedPosition
  readonly position: LogPosition
  readonly set: ChangeSet
}

/** The last event sent: of those with a `seq` above the place's and up to `upTo`, all up to this one were sent. */
export type PublishedEvent = Pick<EventRef, 'time' | 'key'> & { readonly upTo: number }

/**
 * A place between two pushes of one chain: `published` changes of the following set were sent. If none was, but `last` is set,
 * then that event came from history, not from the log.
 */
export type ChainPlace = FeedPosition & {
  readonly published: number
  readonly last?: PublishedEvent | undefined
}

/** By chain: a subscription may speak of several. */
export type Places = ReadonlyMap<string, ChainPlace>

const FORM = 'c1.'

/** Opaque to a client, and longer than it looks: the log's epoch and checksum make a cursor of another log known. */
export function formatCursor(places: Places): string {
  const rows = Array.from(places, ([chain, { after, seq, time, published, last }]) => [
    ...[chain, after.epoch, after.sequence, after.link, seq, time, published],
    ...(last === undefined ? [] : [last.upTo, last.time, last.key.block, last.key.tx, last.key.log]),
  ])
  return FORM + Buffer.from(JSON.stringify(rows)).toString('base64url')
}

/** Longer than a cursor that names all the chains an installation may have. */
const MAX_CHARACTERS = 16_384
const MAX_EPOCH_CHARACTERS = 64
const MAX_U32 = 2 ** 32 - 1
const MAX_INDEX = 999_999

/** Undefined for text that no gateway could have issued; whether its positions exist is for the log to say. */
export function parseCursor(cursor: string): Places | undefined {
  if (!cursor.startsWith(FORM) || cursor.length > MAX_CHARACTERS) return undefined
  let rows: unknown
  try {
    rows = JSON.parse(Buffer.from(cursor.slice(FORM.length), 'base64url').toString('utf8'))
  } catch {
    // The caller reports that the cursor is unreadable; the parser's message adds nothing.
    return undefined
  }
  if (!Array.isArray(rows)) return undefined
  const places = new Map<string, ChainPlace>()
  for (const row of rows as unknown[]) {
    const parsed = parseRow(row)
    if (parsed === undefined || places.has(parsed.chain)) return undefined
    places.set(parsed.chain, parsed.place)
  }
  return places
}

function parseRow(row: unknown): { readonly chain: string; readonly place: ChainPlace } | undefined {
  if (!Array.isArray(row) || (row.length !== 7 && row.length !== 12)) return undefined
  const [chain, epoch, ...rest] = row as unknown[]
  if (typeof chain !== 'string' || typeof epoch !== 'string' || epoch.length > MAX_EPOCH_CHARACTERS)
    return undefined
  if (!rest.every(isCount)) return undefined
  const [sequence, link, seq, time, published] = rest as [number, number, number, number, number]
  const place = { after: { epoch, sequence, link }, seq, time, published }
  if (Math.max(link, time, published) > MAX_U32) return undefined
  // Every message has a `seq`; only the place before the first one has none, and then nothing else either.
  if (sequence === 0 ? link + seq + time !== 0 : seq === 0) return undefined
  if (row.length === 7) return { chain, place }
  const last = parseLast(rest.slice(5) as number[])
  return last === undefined || last.upTo < seq ? undefined : { chain, place: { ...place, last } }
}

function parseLast(numbers: readonly number[]): PublishedEvent | undefined {
  const [upTo, time, block, tx, log] = numbers as [number, number, number, number, number]
  if (time > MAX_U32 || Math.max(tx, log) > MAX_INDEX) return undefined
  return { upTo, time, key: { block, tx, log } }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
