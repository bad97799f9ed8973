import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import type { ChainHead } from '../../../domain/chain-head.ts'
import type { Change, ChangeSet } from '../../../domain/change.ts'
import type { MarketReader } from '../../market/market-view.ts'
import type { ChainPlace } from '../cursor.ts'
import type { Hub } from '../fanout/hub.ts'
import { SetPushes } from '../fanout/set-pushes.ts'
import { SubscribedTopics } from '../fanout/subscribed-topics.ts'
import type { Subscription } from '../fanout/subscription.ts'
import { RpcFault } from '../rpc-fault.ts'
import { PushEvent } from '../send/push-event.ts'
import type { EventSubject, HistoryReplay } from './history-replay.ts'
import type { LogReplay } from './log-replay.ts'
import type { Replay } from './replays.ts'

export type CatchUpOptions = {
  readonly hub: Hub
  readonly view: Pick<MarketReader, 'end'>
  readonly missed: LogReplay
  readonly events: HistoryReplay
  readonly replay: Pick<Replay, 'charge'>
  readonly now: () => number
  /** Resolves once there is room for more. */
  readonly drained: () => Promise<void>
  readonly isWanted: () => boolean
}

/** The part of a replay that comes from history: its key, subject and end. */
export type FromHistory = {
  readonly key: string
  readonly subject: EventSubject
  readonly to: ChainHead
}

/** So much is made before the reader is waited for: far less than what may wait for a slow one. */
const BYTES_AT_ONCE = 256 * 1_024
/** Until the log is read again while it lacks its tail. */
const RESTORED_MS = 250
const EVENT_TYPES: ReadonlySet<Change['type']> = new Set([
  ...(['trade', 'tradeRemoved', 'liquidity', 'liquidityRemoved'] as const),
])

/** The same from history, which has no end that moves: gives the place where the log goes on, if still wanted. */
export async function catchUpFromHistory(
  subscription: Subscription,
  { key, subject, to }: FromHistory,
  from: ChainPlace,
  { events, replay, drained, isWanted }: Pick<CatchUpOptions, 'events' | 'replay' | 'drained' | 'isWanted'>,
): Promise<ChainPlace | undefined> {
  let bytes = 0
  for await (const page of events.read(subject, from, to.seq, subscription.wantsReorgs)) {
    await replay.charge(page.events)
    for (const push of page.pushes) {
      const event = new PushEvent(push, subscription.shape)
      subscription.push(key, event)
      bytes += event.size
      if (bytes < BYTES_AT_ONCE) continue
      bytes = 0
      await drained()
      if (!isWanted()) return undefined
    }
  }
  return { after: to.position, seq: to.seq, time: to.time, published: 0 }
}

/** Replays a chain to a subscription, as fast as the client reads, until it has caught up with the head. */
export async function catchUp(
  subscription: Subscription,
  chain: string,
  from: ChainPlace,
  { hub, view, missed, replay, now, drained, isWanted }: CatchUpOptions,
): Promise<void> {
  const own = new Set(subscription.topic.sources.map(({ key }) => key))
  const heard = new SubscribedTopics(own)
  let place = from
  let bytes = 0
  // Between this look at the end and the end of catching up nothing else can happen: so there is no gap.
  while (place.seq < view.end(chain).seq) {
    const served = await missed.translate(chain, place)
    if (served === undefined)
      throw new RpcFault('cursor_too_old', `the cursor belongs to another log of ${chain}`, {
        option: 'from',
      })
    place = served
    const page = await missed.page(chain, place)
    if (page.length === 0) await sleep(RESTORED_MS)
    for (const { set, origin, position } of page) {
      const events = eventsOf(set, place.published)
      let pushed = 0
      await replay.charge(events)
      if (!isWanted()) return
      const pushes = new SetPushes(set, origin, heard, hub.watched, now())
      for (const [index, change] of set.changes.entries()) {
        if (index < place.published) continue
        pushes.ofChange(change, index, (keys, isReorg, build) => {
          if (isReorg && !subscription.wantsReorgs) return
          const key = keys.find((each) => own.has(each))
          if (key === undefined) return
          const event = new PushEvent(build(), subscription.shape)
          subscription.push(key, event)
          bytes += event.size
          pushed++
        })
        if (bytes < BYTES_AT_ONCE) continue
        bytes = 0
        await drained()
        if (!isWanted()) return
      }
      // One event may change many candles of one subscription.
      if (pushed > events) await replay.charge(pushed - events)
      place = { after: position, seq: set.seq, time: set.head.time, published: 0 }
    }
    // Reading from memory waits for nothing: others must have their turn.
    await turn()
    if (!isWanted()) return
  }
  // The log may have been read beyond the last push, or a set sent in part.
  const isBeyond = place.published > 0 || place.seq > view.end(chain).seq
  subscription.endCatchUp(chain, isBeyond ? place : undefined)
}

/** Swaps and liquidity of all pairs, retracted ones included: they are what reading a set costs. */
function eventsOf({ changes }: ChangeSet, published: number): number {
  let events = 0
  for (const [index, { type }] of changes.entries()) if (index >= published && EVENT_TYPES.has(type)) events++
  return events
}
