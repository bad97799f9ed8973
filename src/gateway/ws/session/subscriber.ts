import type { ChainAddress } from '../../../domain/ids.ts'
import type { Grant } from '../../access/keys/key-ring.ts'
import type { GatewayMetrics } from '../../http/metrics.ts'
import type { LookUps } from '../../market/look-ups.ts'
import type { MarketReader } from '../../market/market-view.ts'
import type { WantedHolders } from '../../market/wanted-holders.ts'
import { formatCursor, type Places } from '../cursor.ts'
import type { Hub } from '../fanout/hub.ts'
import type { FoundTopic } from '../fanout/shared-topics.ts'
import { readSnapshot, type Snapshot } from '../fanout/snapshot.ts'
import { resolveTopic, type Source } from '../fanout/sources.ts'
import { Subscription, type SubscriptionOwner } from '../fanout/subscription.ts'
import type { WsLimits } from '../limits.ts'
import { catchUp, catchUpFromHistory } from '../replay/catch-up.ts'
import type { HistoryReplay } from '../replay/history-replay.ts'
import type { LogReplay } from '../replay/log-replay.ts'
import { findStart, placesOf, type ReplayStart } from '../replay/replay-start.ts'
import type { Replay, Replays } from '../replay/replays.ts'
import { RPC_CODES, RpcFault } from '../rpc-fault.ts'
import { PushEvent } from '../send/push-event.ts'
import type { Framer, SendQueue } from '../send/send-queue.ts'
import { type Rejected, type RejectionReason, type Topic, type TopicName, topicIdentity } from '../topic.ts'
import type { Command } from './rpc.ts'
import { unknownSubject } from './rpc-topic.ts'

/** The same for all sockets. */
export type SubscriberOptions = {
  readonly hub: Hub
  readonly view: MarketReader
  readonly wantedHolders: WantedHolders
  readonly missed: LogReplay
  readonly events: HistoryReplay
  readonly replays: Replays
  /** Without them, an unknown id stays unknown. */
  readonly lookUps?: Pick<LookUps, 'note'>
  readonly limits: Pick<WsLimits, 'maxBufferedBytes'>
  readonly metrics: Pick<GatewayMetrics, 'subscriptions' | 'countPush'>
  readonly now: () => number
}

/** Reasons that a look-up may remove. */
const UNKNOWN: ReadonlySet<RejectionReason> = new Set(['unknown_pair', 'unknown_token', 'unknown_id'])

/** The one whose socket it is. */
export type SubscriberOwner = {
  readonly maxSubscriptions: number
  readonly isCompressed: boolean
  onOverflow(): void
  onReplayFailed(error: unknown): void
  /** The subscription with this id has ended: its key cannot pay, or its cursor expired while it waited. */
  onReplayRefused(id: number, fault: RpcFault): void
}

/** What a request did: `result` is its answer, `afterwards` what follows once that has been sent. */
export type Outcome = { readonly result: object | string; readonly afterwards?: () => void }

type Start = ReplayStart & {
  readonly replay: Replay
  /** Again, because the log may have dropped the cursor's place while the replay waited. */
  readonly findAgain: () => Promise<ReplayStart | string>
}

/** The subscriptions of one socket. */
export class Subscriber implements SubscriptionOwner {
  readonly #queue: SendQueue
  readonly #owner: SubscriberOwner
  readonly #options: SubscriberOptions
  /** Few enough to be looked through. */
  readonly #subscriptions: Subscription[] = []
  /** Replays that wait for others of their key, so that they leave the queue with their subscription. */
  #waiting: Map<Subscription, Replay> | undefined
  #count = 0
  #isClosed = false

  constructor(queue: SendQueue, owner: SubscriberOwner, options: SubscriberOptions) {
    this.#queue = queue
    this.#owner = owner
    this.#options = options
  }

  get isCompressed(): boolean {
    return this.#owner.isCompressed
  }

  get maxHeldBytes(): number {
    return this.#options.limits.maxBufferedBytes
  }

  send(framer: Framer, key: string, event: PushEvent): void {
    this.#options.metrics.countPush(event.topic)
    this.#queue.push(framer, key, event)
  }

  onOverflow(): void {
    this.#owner.onOverflow()
  }

  /** Has an unknown id looked up, without waiting for it. */
  #withPending(rejected: Rejected, { keyId }: Grant): Rejected {
    const at = rejected.item.lastIndexOf('-')
    const ref = { address: rejected.item.slice(0, at).toLowerCase(), chain: rejected.item.slice(at + 1) }
    const isPending = UNKNOWN.has(rejected.reason) && this.#options.lookUps?.note(ref, keyId)
    return isPending ? { ...rejected, pending: true } : rejected
  }

  /** Replays are charged to the grant. */
  async subscribe(command: Command & { method: 'subscribe' }, grant: Grant): Promise<Outcome> {
    const { topic, params, options } = command
    const { view, hub, wantedHolders } = this.#options
    const identity = topicIdentity(topic)
    this.#checkRoom(identity)
    const { sources, rejected: refused } = await resolveTopic(topic, view)
    const rejected = refused.map((one) => this.#withPending(one, grant))
    if (sources.length === 0) throw unknownSubject(rejected)
    wantedHolders.ask(tokensOf(topic, sources), grant.keyId)
    const from = options.from === undefined ? undefined : placesOf(options.from, sources)
    // A second subscribe to the same takes the place of the first.
    this.#drop(identity)
    // Where each chain stands: what came before is read, what comes after is pushed.
    const ends: Places = new Map(sources.map(({ chain }) => [chain, { ...view.end(chain), published: 0 }]))
    const subscription = this.#open(command, { identity, name: topic.name, sources })
    let start: Start | undefined
    try {
      const find = (places: Places) => findStart(topic, places, this.#options)
      const found = from && (await find(from))
      if (found !== undefined && typeof found !== 'string') {
        const replay = await this.#beginReplay(found, topic.name, grant)
        start = { ...found, replay, findAgain: () => find(found.places) }
      }
      const snapshot = await readSnapshot(sources, view, hub.watched)
      const answer = {
        status: 'ok',
        action: 'subscribe',
        params,
        ...(rejected.length === 0 ? {} : { rejected }),
        ...(options.cursor ? { cursor: formatCursor(start?.places ?? ends) } : {}),
        ...(found === undefined ? {} : recovery(found)),
      }
      return { result: answer, afterwards: () => this.#begin(subscription, ends, snapshot, start) }
    } catch (error) {
      start?.replay.end()
      this.#drop(identity)
      throw error
    }
  }

  unsubscribe(command: Command & { method: 'unsubscribe' }): Outcome {
    const { topic, params } = command
    if (topic === 'all') this.#dropAll()
    else this.#drop(topicIdentity(topic))
    return { result: { status: 'ok', action: 'unsubscribe', params } }
  }

  /** Pushes the cursor of each subscription that wants it and to which nothing was pushed since the last call. */
  checkpoint(): void {
    for (const subscription of this.#subscriptions) this.#checkpoint(subscription)
  }

  close(): void {
    this.#isClosed = true
    this.#dropAll()
  }

  #checkpoint(subscription: Subscription): void {
    const { hub, now } = this.#options
    subscription.checkpoint((chain) => hub.end(chain), now())
  }

  #checkRoom(identity: string): void {
    const { maxSubscriptions } = this.#owner
    if (this.#subscriptions.length < maxSubscriptions || this.#indexOf(identity) !== -1) return
    throw new RpcFault('limit_exceeded', `a connection can have at most ${maxSubscriptions} subscriptions`, {
      limit: 'subscriptions',
      max: maxSubscriptions,
    })
  }

  /** Listening begins before anything is read, so that nothing can fall between the two. */
  #open({ id, options }: Command & { method: 'subscribe' }, found: FoundTopic): Subscription {
    const { hub, metrics } = this.#options
    const serial = ++this.#count
    // The socket may have closed while the pair was looked up: nobody would remove the listener again.
    if (this.#isClosed) return new Subscription(id, serial, found, options, this)
    const topic = hub.topics.hold(found)
    const subscription = new Subscription(id, serial, topic, options, this)
    this.#subscriptions.push(subscription)
    metrics.subscriptions.inc()
    for (const source of topic.sources) {
      hub.add(source.key, subscription)
      if (source.kind === 'kline') hub.watched.watch(source.series.pair)
      else if (source.kind === 'pair') hub.watched.watch(source.ref)
      else if (source.kind === 'token') hub.watched.watchToken(source.ref)
    }
    return subscription
  }

  #dropAll(): void {
    while (this.#subscriptions.length > 0) this.#dropAt(this.#subscriptions.length - 1)
  }

  #drop(identity: string): void {
    const index = this.#indexOf(identity)
    if (index !== -1) this.#dropAt(index)
  }

  #dropAt(index: number): void {
    const { hub, metrics } = this.#options
    for (const subscription of this.#subscriptions.splice(index, 1)) {
      const { topic } = subscription
      for (const source of topic.sources) {
        hub.remove(source.key, subscription)
        if (source.kind === 'kline') hub.watched.unwatch(source.series.pair)
        else if (source.kind === 'pair') hub.watched.unwatch(source.ref)
        else if (source.kind === 'token') hub.watched.unwatchToken(source.ref)
      }
      hub.topics.release(topic)
      this.#waiting?.get(subscription)?.end()
      metrics.subscriptions.dec()
    }
  }

  #indexOf(identity: string): number {
    return this.#subscriptions.findIndex(({ topic }) => topic.identity === identity)
  }

  async #beginReplay(found: ReplayStart, topic: TopicName, grant: Grant): Promise<Replay> {
    const { view, replays } = this.#options
    const behind = Array.from(found.places, ([chain, { seq }]) => seq < view.end(chain).seq)
    // Prices have no history of their own: nothing is read for them.
    const isBehind = topic !== 'price' && (found.history !== undefined || behind.includes(true))
    return replays.begin(grant, isBehind)
  }

  #begin(subscription: Subscription, ends: Places, snapshot: Snapshot, start: Start | undefined): void {
    // A later request of the same batch, or the end of the socket, may have ended it already.
    if (!this.#isOpen(subscription)) {
      start?.replay.end()
      return
    }
    for (const [chain, place] of start?.places ?? ends) subscription.startAt(chain, place)
    // Prices have no history: the current one is sent in any case.
    if (start !== undefined && subscription.topic.name !== 'price') {
      void this.#catchUp(subscription, start)
      return
    }
    start?.replay.end()
    this.#pushSnapshot(subscription, ends, snapshot)
  }

  #pushSnapshot(subscription: Subscription, ends: Places, { pushes, seqs }: Snapshot): void {
    const { view, now } = this.#options
    const { name, sources } = subscription.topic
    for (const [key, seq] of seqs) subscription.skipUpTo(key, seq)
    for (const [index, { chain, build }] of pushes.entries()) {
      const end = ends.get(chain)
      if (end === undefined) continue
      const place = { chain, seq: end.seq, origin: end, published: 0 }
      const parts = { topic: name, place, isState: true, sentTime: now(), build }
      subscription.push(`snapshot ${index}`, new PushEvent(parts, subscription.shape))
    }
    subscription.release()
    for (const { key, chain } of sources) subscription.expectAfter(key, view.end(chain).seq)
  }

  async #catchUp(subscription: Subscription, start: Start): Promise<void> {
    const { replay } = start
    const isWanted = (): boolean => this.#isOpen(subscription)
    const options = { ...this.#options, replay, drained: () => this.#queue.drained(), isWanted }
    subscription.beginCatchUp(start.places.keys())
    try {
      const found = replay.turn === undefined ? start : await this.#awaitTurn(subscription, start)
      if (found === undefined) return
      const { places, history } = found
      for (const [chain, place] of places) {
        const from = history ? await catchUpFromHistory(subscription, history, place, options) : place
        if (from !== undefined) await catchUp(subscription, chain, from, options)
      }
      if (isWanted()) this.#checkpoint(subscription)
    } catch (error) {
      if (!isWanted()) return
      if (error instanceof RpcFault) {
        this.#drop(subscription.topic.identity)
        this.#owner.onReplayRefused(subscription.id, error)
      } else this.#owner.onReplayFailed(error)
    } finally {
      replay.end()
    }
  }

  /** Nothing is buffered meanwhile: the replay reads from the log what is published until it starts. */
  async #awaitTurn(subscription: Subscription, start: Start): Promise<ReplayStart | undefined> {
    const { replay, findAgain } = start
    this.#waiting ??= new Map()
    this.#waiting.set(subscription, replay)
    await replay.turn
    this.#waiting.delete(subscription)
    if (!this.#isOpen(subscription)) return undefined
    await replay.reserve()
    const found = await findAgain()
    if (typeof found === 'string') throw new RpcFault('cursor_too_old', found, { option: 'from' })
    return found
  }

  #isOpen(subscription: Subscription): boolean {
    return this.#subscriptions.includes(subscription)
  }
}

/** The tokens that a subscription is about. */
function tokensOf(topic: Topic, sources: readonly Source[]): ChainAddress[] {
  if (topic.name === 'multi_tx') return [topic.token]
  return sources.flatMap((source) => (source.kind === 'token' ? [source.ref] : []))
}

function recovery(found: ReplayStart | string): object {
  if (typeof found !== 'string') return { recovered: true }
  return { recovered: false, reason: { code: RPC_CODES.cursor_too_old, message: found } }
}
