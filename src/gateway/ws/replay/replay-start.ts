import { type ChainPlace, type Places, parseCursor } from '../cursor.ts'
import type { Source } from '../fanout/sources.ts'
import { RpcFault } from '../rpc-fault.ts'
import { liquidityKey, type Topic, txKey } from '../topic.ts'
import type { FromHistory } from './catch-up.ts'
import type { HistoryReplay } from './history-replay.ts'
import type { LogReplay } from './log-replay.ts'

/** Where a replay starts; of the one chain of a pair's events, in history if the log does not reach back. */
export type ReplayStart = { readonly places: Places; readonly history: FromHistory | undefined }

/** The places of the chains that the sources are on. */
export function placesOf(cursor: string, sources: readonly Source[]): Places {
  const places = parseCursor(cursor)
  if (places === undefined) throw badCursor('is malformed; use the cursor of a push')
  return new Map(
    sources.map(({ chain }) => {
      const place = places.get(chain)
      if (place === undefined) throw badCursor(`says nothing of ${chain}`)
      return [chain, place]
    }),
  )
}

/** Where the events after these places are read from, or the reason why they cannot be. */
export async function findStart(
  topic: Topic,
  places: Places,
  { missed, events }: { readonly missed: LogReplay; readonly events: Pick<HistoryReplay, 'reach'> },
): Promise<ReplayStart | string> {
  let history: FromHistory | undefined
  const served = new Map<string, ChainPlace>()
  for (const [chain, cursorPlace] of places) {
    const place = await missed.translate(chain, cursorPlace)
    if (place === undefined) return `the cursor belongs to another log of ${chain}`
    served.set(chain, place)
    const standing = await missed.locate(chain, place)
    if (standing === 'ahead') throw await beyondHead(chain, missed)
    if (standing === 'foreign') return `the cursor belongs to another log of ${chain}`
    const wasHistory = place.published === 0 && place.last !== undefined
    if (!wasHistory && standing === 'held') continue
    if (topic.name === 'tx' || topic.name === 'liq') {
      const { name, pair } = topic
      const subject = { topic: name, pair }
      const to = await events.reach(subject, place)
      if (to !== undefined) history = { key: name === 'tx' ? txKey(pair) : liquidityKey(pair), subject, to }
    }
    if (history === undefined) return `the events after the cursor are not retained any more for ${chain}`
  }
  return { places: served, history }
}

async function beyondHead(chain: string, missed: LogReplay): Promise<RpcFault> {
  if (!(await missed.hasLostTail(chain))) return badCursor(`is beyond the head of ${chain}`)
  return new RpcFault('internal', `the log of ${chain} is being restored; retry with the same cursor`, {
    reason: 'log_truncated',
  })
}

function badCursor(detail: string): RpcFault {
  return new RpcFault('invalid_params', `the cursor ${detail}`, { option: 'from' })
}
