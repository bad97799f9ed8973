import { type ChainPlace, formatCursor } from '../cursor.ts'
import { PushEvent, type PushPlace, type Shape } from '../send/push-event.ts'
import type { Framer } from '../send/send-queue.ts'
import { NO_OPTIONS, type TopicOptions } from '../topic.ts'
import type { Listener } from './hub.ts'
import type { FoundTopic } from './shared-topics.ts'

type Held = { readonly key: string; readonly event: PushEvent }

/** What keeps pushes from passing. */
type Gate = {
  /** Until the release. */
  held: Held[] | undefined
  heldBytes: number
  /** By key: pushes up to this `seq` are already included in what was sent. */
  readonly after: Map<string, number>
  /** Chains that were caught up with, and how far; those without a place are still being caught up with. */
  readonly caughtUp: Map<string, ChainPlace | undefined> | undefined
}

/** For subscriptions with cursors: the number of pushes, and the place in each chain. */
type Numbering = {
  count: number
  readonly places: Map<string, ChainPlace>
  /** The number of pushes after the last look whether there were any; undefined if no checkpoints are wanted. */
  expected: number | undefined
}

export type SubscriptionOwner = {
  readonly maxHeldBytes: number
  /** The socket takes compressed messages, and its plan has them. */
  readonly isCompressed: boolean
  send(framer: Framer, key: string, event: PushEvent): void
  onOverflow(): void
}

/**
 * One accepted subscribe of one socket. Until it is released it holds pushes back; then it lets through only those
 * that are newer than what was said of the same key. While it catches up with a chain it lets none of it through:
 * they are among what it still has to catch up with. There are very many of these, and most wait for a push: what
 * is needed only at the beginning, or only by some, is no field of its own.
 */
export class Subscription implements Listener, Framer {
  readonly id: number
  readonly serial: number
  readonly topic: FoundTopic
  readonly wantsReorgs: boolean
  readonly shape: Shape
  readonly #owner: SubscriptionOwner
  readonly #numbering: Numbering | undefined
  #gate: Gate | undefined = { held: [], heldBytes: 0, after: new Map(), caughtUp: undefined }

  constructor(
    id: number,
    serial: number,
    topic: FoundTopic,
    options: TopicOptions,
    owner: SubscriptionOwner,
  ) {
    this.id = id
    this.serial = serial
    this.topic = topic
    this.wantsReorgs = options.reorg
    this.shape = options.reorg ? 'revised' : options === NO_OPTIONS ? 'document' : 'extended'
    this.#owner = owner
    const expected = options.checkpoint ? 0 : undefined
    this.#numbering = options.cursor ? { count: 0, places: new Map(), expected } : undefined
  }

  /** What was sent for `key`, or is about to be, includes everything up to `seq`. */
  skipUpTo(key: string, seq: number): void {
    this.#gate?.after.set(key, seq)
  }

  /** Nothing of `key` up to `seq` will be offered any more. */
  expectAfter(key: string, seq: number): void {
    const gate = this.#gate
    if (gate === undefined || (gate.after.get(key) ?? 0) > seq) return
    gate.after.delete(key)
    this.#openIfIdle(gate)
  }

  /** The place in a chain before its first push: part of every cursor. */
  startAt(chain: string, place: ChainPlace): void {
    this.#numbering?.places.set(chain, place)
  }

  /** From here on only `push` sends pushes of these chains, until each has caught up. */
  beginCatchUp(chains: Iterable<string>): void {
    const caughtUp = new Map(Array.from(chains, (chain) => [chain, undefined]))
    this.#gate = { held: undefined, heldBytes: 0, after: new Map(), caughtUp }
  }

  /** What is pushed of the chain passes again, if it comes after this place; without one, all of it does. */
  endCatchUp(chain: string, place: ChainPlace | undefined): void {
    const gate = this.#gate
    if (place !== undefined) gate?.caughtUp?.set(chain, place)
    else if (gate?.caughtUp?.delete(chain)) this.#openIfIdle(gate)
  }

  release(): void {
    const gate = this.#gate
    if (gate === undefined) return
    const held = gate.held ?? []
    gate.held = undefined
    this.#openIfIdle(gate)
    for (const { key, event } of held) this.offer(key, event)
  }

  offer(key: string, event: PushEvent): void {
    if (this.#gate === undefined || this.#passes(this.#gate, key, event)) this.push(key, event)
  }

  /** Whatever else is held back. */
  push(key: string, event: PushEvent): void {
    this.#owner.send(this, key, event)
  }

  /**
   * If nothing was pushed since the last look: pushes the cursor alone. Otherwise a replay would read everything since the last
   * push, however long ago that was, and fail if the log has dropped that place.
   */
  checkpoint(endOf: (chain: string) => PushPlace | undefined, now: number): void {
    const numbering = this.#numbering
    if (numbering?.expected === undefined) return
    this.#openUpTo(endOf)
    if (this.#gate !== undefined) return
    const { count, expected, places } = numbering
    const { name: topic } = this.topic
    numbering.expected = count
    if (count !== expected) return
    for (const [chain, place] of places) {
      const end = endOf(chain)
      if (end === undefined || !isBeyond(end, place)) continue
      const parts = { topic, place: end, isState: false, sentTime: now, build: checkpointPush }
      this.push(`checkpoint ${chain}`, new PushEvent(parts, this.shape))
      numbering.expected++
    }
  }

  frameOf(event: PushEvent): Buffer {
    const numbering = this.#numbering
    const { isCompressed } = this.#owner
    if (numbering === undefined) return event.frame(this.id, isCompressed)
    const { places } = numbering
    places.set(event.place.chain, placeAfter(event.place))
    const number = ++numbering.count
    return event.numberedFrame(this.id, number, formatCursor(places), isCompressed)
  }

  /** What was to be passed over may be in the past, and nothing has come since. */
  #openUpTo(endOf: (chain: string) => PushPlace | undefined): void {
    for (const { key, chain } of this.topic.sources) this.expectAfter(key, endOf(chain)?.seq ?? 0)
    for (const [chain, place] of this.#gate?.caughtUp ?? []) {
      const seq = endOf(chain)?.seq ?? 0
      if (place === undefined || seq < place.seq) continue
      if (seq > place.seq || place.published === 0) this.endCatchUp(chain, undefined)
    }
  }

  #passes(gate: Gate, key: string, event: PushEvent): boolean {
    if (gate.held !== undefined) {
      gate.heldBytes += event.size
      if (gate.heldBytes > this.#owner.maxHeldBytes) this.#owner.onOverflow()
      else gate.held.push({ key, event })
      return false
    }
    if (gate.caughtUp !== undefined && !isNews(gate.caughtUp, event.place)) return false
    const after = gate.after.get(key)
    if (after !== undefined && event.place.seq <= after) return false
    // Sets come in order: from here on every push of this key is newer.
    gate.after.delete(key)
    this.#openIfIdle(gate)
    return true
  }

  #openIfIdle({ held, after, caughtUp }: Gate): void {
    if (held === undefined && after.size === 0 && !caughtUp?.size) this.#gate = undefined
  }
}

/** Whether a push of a caught-up chain comes after the chain's place. */
function isNews(
  caughtUp: Map<string, ChainPlace | undefined>,
  { chain, origin, published }: PushPlace,
): boolean {
  if (!caughtUp.has(chain)) return true
  const place = caughtUp.get(chain)
  if (place === undefined || origin.seq < place.seq) return false
  // Another generation numbers the changes of a set otherwise; rather some of them twice than not at all.
  const isSameLog = origin.after.epoch === place.after.epoch
  if (origin.seq === place.seq && isSameLog && published <= place.published) return false
  caughtUp.delete(chain)
  return true
}

/** `result` of the message that says only how far everything was pushed. */
function checkpointPush(): object {
  return { topic: 'checkpoint' }
}

function isBeyond({ origin, published }: PushPlace, place: ChainPlace): boolean {
  return origin.seq === place.seq ? published > place.published : origin.seq > place.seq
}

function placeAfter({ seq: upTo, origin, published, event }: PushPlace): ChainPlace {
  const { after, seq, time } = origin
  const last = event && { upTo, time: event.time, key: event.key }
  return last === undefined ? { after, seq, time, published } : { after, seq, time, published, last }
}
