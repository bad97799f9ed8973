import { setTimeout as sleep } from 'node:timers/promises'
import type { Change, ChangeSet } from '../../../domain/change.ts'
import type { LogPosition } from '../../../domain/log-position.ts'
import { compareOrderKeys, type OrderKey } from '../../../domain/order-key.ts'
import { decodeChangeSetHead, openChangeSet } from '../../../wire/change-codec.ts'
import type { FeedPosition } from '../../market/read-position.ts'
import type { ChainPlace } from '../cursor.ts'
import type { ReplayedLog } from './replayed-logs.ts'

export type Translation = {
  /** The log that the place is in, and the one that it is wanted in: of two generations of a chain. */
  readonly source: ReplayedLog
  readonly served: ReplayedLog
  /** The place after a change set in the served log, if it is at hand. */
  readonly placeAt: (seq: number) => FeedPosition | undefined
  /** The last change set of the served generation that was taken. */
  readonly end: () => number
  readonly signal: AbortSignal
}

/** Another gateway may have taken more of its generation than this one. */
const WAIT_MS = 2_000
const LOOK_MS = 10
/** A busy server takes long to open a consumer, and without the set a cursor is lost. */
const READ_MS = 10_000
const READ_AHEAD_BYTES = 256 * 1_024

/**
 * A place in the log of another generation: the same change set has the same `seq` in all of them. In the middle of a set,
 * the order key of the last event that was sent says where the same set goes on. Undefined if the place cannot be found.
 */
export async function translatePlace(
  place: ChainPlace,
  translation: Translation,
): Promise<ChainPlace | undefined> {
  const { source, served, placeAt, end, signal } = translation
  const standing = await source.locate(place.after)
  if (standing === 'foreign' || standing === 'ahead') return undefined
  for (let waited = 0; end() < place.seq; waited += LOOK_MS) {
    if (waited >= WAIT_MS || signal.aborted) return undefined
    await sleep(LOOK_MS)
  }
  const after =
    placeAt(place.seq)?.after ??
    (await served.positionWhere((body) => decodeChangeSetHead(body).seq <= place.seq))
  // The served generation begins later: all of it follows.
  if (after.sequence === 0) return { after, seq: 0, time: 0, published: 0 }
  const translated = { ...place, after }
  if (place.published === 0 || (await served.locate(after)) !== 'held') return translated
  // Only a log that still holds the set says what was sent of it.
  const sent = standing === 'held' ? await setAfter(source, place.after, signal) : undefined
  const next = await setAfter(served, after, signal)
  if (sent === undefined || next === undefined) return undefined
  return { ...translated, published: sent.seq === next.seq ? publishedOf(next, sent, place.published) : 0 }
}

/** How many changes of a set were sent, if so many of the same set of another generation were. */
function publishedOf({ changes }: ChangeSet, sent: ChangeSet, published: number): number {
  const last = sent.changes.slice(0, published).findLast((change) => keyOf(change) !== undefined)
  const key = last && keyOf(last)
  // Other topics push states: to send them again changes nothing.
  if (last === undefined || key === undefined) return 0
  const order = changes.map((change) => {
    const own = change.type === last.type ? keyOf(change) : undefined
    return own && compareOrderKeys(own, key)
  })
  const same = order.indexOf(0)
  // The event itself is missing there: in a block, events of one type are in their order.
  return (same >= 0 ? same : order.findLastIndex((each) => each !== undefined && each < 0)) + 1
}

function keyOf(change: Change): OrderKey | undefined {
  switch (change.type) {
    case 'trade':
    case 'tradeRemoved':
      return change.trade.key
    case 'liquidity':
    case 'liquidityRemoved':
      return change.liquidity.key
    default:
      return undefined
  }
}

async function setAfter(
  log: ReplayedLog,
  after: LogPosition,
  signal: AbortSignal,
): Promise<ChangeSet | undefined> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(READ_MS)])
  for await (const { body } of log.read({ after, signal: limited, readAheadBytes: READ_AHEAD_BYTES }))
    return openChangeSet(body).set
  return undefined
}
