import type { MarketReader } from '../market-view.ts'
import { catchUp, catchUpFromHistory, type FromHistory } from './catch-up.ts'
import { type ChainPlace, formatCursor, type Places, parseCursor } from './cursor.ts'
import type { Hub } from './hub.ts'
import type { MissedEvents } from './missed-events.ts'
import type { MissedSets } from './missed-sets.ts'
import { PushEvent } from './push-event.ts'
import type { Command } from './rpc.ts'
import { RPC_CODES, RpcFault } from './rpc-fault.ts'
import { unknownSubject } from './rpc-topic.ts'
import { readSnapshot, type Snapshot } from './snapshot.ts'
import { resolveTopic, type Source } from './sources.ts'
import { Subscription, type SubscriptionOptions } from './subscription.ts'
import { liquidityKey, type Topic, type TopicName, topicIdentity, txKey } from './topic.ts'

export type SubscriberOptions = SubscriptionOptions & {
  readonly hub: Hub
  readonly view: MarketReader
  readonly missed: MissedSets
  readonly events: MissedEvents
  readonly maxSubscriptions: number
  readonly now: () => number
  /** Resolves once there is room for more. */
  readonly drained: () => Promise<void>
  /** What was missed cannot be told after all. */
  readonly onReplayFailed: (error: unknown) => void
  /** +1 and -1, for the gauge. */
  readonly onCountChange: (difference: number) => void
}

/** What a request did: `result` is its answer, `afterwards` what follows once that has been sent. */
export type Outcome = { readonly result: object | string; readonly afterwards?: () => void }

type Opened = {
  readonly identity: string
  readonly name: TopicName
  readonly subscription: Subscription
  readonly sources: readonly Source[]
  /** Where each chain stood: what came before is read, what comes after is pushed. */
  readonly ends: Places
}

/** From where on something is told that was missed; of the one chain of a pair's events, by history if need be. */
type Start = { readonly places: Places; readonly history: FromHistory | undefined }

/** The subscriptions of one socket. */
export class Subscriber {
  readonly #options: SubscriberOptions
  readonly #opened = new Map<string, Opened>()
  #count = 0
  #isClosed = false

  constructor(options: SubscriberOptions) {
    this.#options = options
  }

  async subscribe(command: Command & { method: 'subscribe' }): Promise<Outcome> {
    const { topic, params, options } = command
    const { view, hub } = this.#options
    const identity = topicIdentity(topic)
    this.#checkRoom(identity)
    const { sources, rejected } = await resolveTopic(topic, view)
    if (sources.length === 0) throw unknownSubject(rejected)
    const from = options.from === undefined ? undefined : placesOf(options.from, sources)
    // A second subscribe to the same takes the place of the first.
    this.#drop(identity)
    const opened = this.#open(identity, command, sources)
    try {
      const found = from && (await this.#find(topic, from))
      const start = typeof found === 'string' ? undefined : found
      const snapshot = await readSnapshot(sources, view, hub.watched)
      const answer = {
        status: 'ok',
        action: 'subscribe',
        params,
        ...(rejected.length === 0 ? {} : { rejected }),
        ...(options.cursor ? { cursor: formatCursor(start?.places ?? opened.ends) } : {}),
        ...(found === undefined ? {} : recovery(found)),
      }
      return { result: answer, afterwards: () => this.#begin(opened, snapshot, start) }
    } catch (error) {
      this.#drop(identity)
      throw error
    }
  }

  unsubscribe(command: Command & { method: 'unsubscribe' }): Outcome {
    const { topic, params } = command
    for (const identity of topic === 'all' ? [...this.#opened.keys()] : [topicIdentity(topic)]) {
      this.#drop(identity)
    }
    return { result: { status: 'ok', action: 'unsubscribe', params } }
  }

  close(): void {
    this.#isClosed = true
    for (const identity of [...this.#opened.keys()]) this.#drop(identity)
  }

  #checkRoom(identity: string): void {
    const { maxSubscriptions } = this.#options
    if (this.#opened.has(identity) || this.#opened.size < maxSubscriptions) return
    throw new RpcFault('limit_exceeded', `a connection holds at most ${maxSubscriptions} subscriptions`, {
      limit: 'subscriptions',
      max: maxSubscriptions,
    })
  }

  /** Listening begins before anything is read, so that nothing can fall between the two. */
  #open(
    identity: string,
    { id, topic, options }: Command & { method: 'subscribe' },
    sources: readonly Source[],
  ): Opened {
    const { hub, view, onCountChange } = this.#options
    const subscription = new Subscription(id, ++this.#count, options, this.#options)
    const ends = new Map<string, ChainPlace>()
    for (const { chain } of sources) ends.set(chain, { ...view.end(chain), told: 0 })
    const opened = { identity, name: topic.name, subscription, sources, ends }
    // The socket may have closed while the pair was looked up: nobody would remove the listener again.
    if (this.#isClosed) return opened
    this.#opened.set(identity, opened)
    onCountChange(1)
    for (const source of sources) {
      subscription.keys.add(source.key)
      hub.add(source.key, subscription)
      if (source.kind === 'kline') hub.watched.watch(source.series.pair)
      else if (source.kind === 'pair') hub.watched.watch(source.ref)
      else if (source.kind === 'token') hub.watched.watchToken(source.ref)
    }
    return opened
  }

  #drop(identity: string): void {
    const opened = this.#opened.get(identity)
    if (opened === undefined) return
    const { hub, onCountChange } = this.#options
    this.#opened.delete(identity)
    for (const source of opened.sources) {
      hub.remove(source.key, opened.subscription)
      if (source.kind === 'kline') hub.watched.unwatch(source.series.pair)
      else if (source.kind === 'pair') hub.watched.unwatch(source.ref)
      else if (source.kind === 'token') hub.watched.unwatchToken(source.ref)
    }
    onCountChange(-1)
  }

  /** Where what follows on the places is told from, or why it cannot be. */
  async #find(topic: Topic, places: Places): Promise<Start | string> {
    const { missed, events } = this.#options
    let history: FromHistory | undefined
    for (const [chain, place] of places) {
      const wasHistory = place.told === 0 && place.last !== undefined
      if (!wasHistory && (await missed.areThere(chain, place))) continue
      if (topic.name === 'tx' || topic.name === 'liq') {
        const { name, pair } = topic
        const subject = { topic: name, pair }
        const to = await events.reach(subject, place)
        if (to !== undefined) history = { key: name === 'tx' ? txKey(pair) : liquidityKey(pair), subject, to }
      }
      if (history === undefined) return `what follows on the cursor is not kept any more for ${chain}`
    }
    return { places, history }
  }

  #begin(opened: Opened, snapshot: Snapshot, start: Start | undefined): void {
    // A later request of the same batch, or the end of the socket, may have ended it already.
    if (!this.#isOpen(opened)) return
    const { name, subscription, ends } = opened
    for (const [chain, place] of start?.places ?? ends) subscription.startAt(chain, place)
    // Prices have no history of their own: the present one is told in any case.
    if (start !== undefined && name !== 'price') void this.#catchUp(opened, start)
    else this.#tell(opened, snapshot)
  }

  #tell({ name, subscription, ends }: Opened, { pushes, seqs }: Snapshot): void {
    for (const [key, seq] of seqs) subscription.skipUpTo(key, seq)
    for (const [index, { chain, build }] of pushes.entries()) {
      const end = ends.get(chain)
      if (end === undefined) continue
      const place = { chain, seq: end.version, origin: end, told: 0 }
      const sentTime = this.#options.now()
      const event = new PushEvent({ topic: name, place, isState: true, sentTime, build })
      subscription.tell(`snapshot ${index}`, event)
    }
    subscription.release()
  }

  async #catchUp(opened: Opened, { places, history }: Start): Promise<void> {
    const { subscription } = opened
    const isWanted = (): boolean => this.#isOpen(opened)
    const options = { ...this.#options, isWanted }
    subscription.beginCatchUp(places.keys())
    try {
      for (const [chain, place] of places) {
        const from = history ? await catchUpFromHistory(subscription, history, place, options) : place
        if (from !== undefined) await catchUp(subscription, chain, from, options)
      }
    } catch (error) {
      if (isWanted()) this.#options.onReplayFailed(error)
    }
  }

  #isOpen(opened: Opened): boolean {
    return this.#opened.get(opened.identity) === opened
  }
}

function recovery(found: Start | string): object {
  if (typeof found !== 'string') return { recovered: true }
  return { recovered: false, reason: { code: RPC_CODES.cursor_too_old, message: found } }
}

/** What a cursor says of the chains that the sources are on. */
function placesOf(cursor: string, sources: readonly Source[]): Places {
  const places = parseCursor(cursor)
  if (places === undefined) throw badCursor('is not one that a push carried')
  return new Map(
    sources.map(({ chain }) => {
      const place = places.get(chain)
      if (place === undefined) throw badCursor(`says nothing of ${chain}`)
      return [chain, place]
    }),
  )
}

function badCursor(detail: string): RpcFault {
  return new RpcFault('invalid_params', `the cursor ${detail}`, { option: 'from' })
}
