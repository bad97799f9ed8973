import type { Pair } from '../../domain/change.ts'
import type { ChainId } from '../../domain/ids.ts'
import type { MarketReader, Reading } from '../market-view.ts'
import { klinePush, targetDecimals } from '../shape/kline.ts'
import { priceEntry, pricePush } from '../shape/price-entry.ts'
import type { Hub, Push } from './hub.ts'
import { pushFrame } from './push-frame.ts'
import type { Command } from './rpc.ts'
import { RpcFault } from './rpc-fault.ts'
import { unknownSubject } from './rpc-topic.ts'
import { Subscription } from './subscription.ts'
import {
  klineKey,
  type PriceItem,
  pairPriceKey,
  type Rejected,
  type Topic,
  tokenPriceKey,
  topicIdentity,
  txKey,
} from './topic.ts'

export type SubscriberOptions = {
  readonly hub: Hub
  readonly view: MarketReader
  readonly maxSubscriptions: number
  readonly maxHeldBytes: number
  readonly now: () => number
  readonly send: (push: Push) => void
  readonly onOverflow: () => void
  /** +1 and -1, for the gauge. */
  readonly onCountChange: (difference: number) => void
}

/** What a request did: `result` is its answer, `afterwards` what follows once that has been sent. */
export type Outcome = { readonly result: object | string; readonly afterwards?: () => void }

/** A key to listen to, and how to read its present value (event topics have none). */
type Source = {
  readonly key: string
  readonly kind: 'event' | 'kline' | 'pair' | 'token'
  readonly ref: ChainId
}

type PairOn = { readonly chain: string; readonly pair: Pair }

/** The subscriptions of one socket. */
export class Subscriber {
  readonly #options: SubscriberOptions
  readonly #subscriptions = new Map<string, Subscription>()
  #isClosed = false

  constructor(options: SubscriberOptions) {
    this.#options = options
  }

  async subscribe(command: Command & { method: 'subscribe' }): Promise<Outcome> {
    const { id, topic, params } = command
    const identity = topicIdentity(topic)
    const { maxSubscriptions } = this.#options
    if (!this.#subscriptions.has(identity) && this.#subscriptions.size >= maxSubscriptions) {
      throw new RpcFault('limit_exceeded', `a connection holds at most ${maxSubscriptions} subscriptions`, {
        limit: 'subscriptions',
        max: maxSubscriptions,
      })
    }
    const { sources, rejected } = await this.#resolve(topic)
    if (sources.length === 0) throw unknownSubject(rejected)
    // Listening begins before the snapshot is read, so that nothing can fall between the two.
    const isNew = !this.#subscriptions.has(identity)
    const subscription = this.#open(identity, id, sources)
    const snapshot = await this.#snapshot(topic, sources, subscription).catch((error: unknown) => {
      if (isNew) this.#drop(identity)
      else subscription.release()
      throw error
    })
    return {
      result: {
        status: 'ok',
        action: 'subscribe',
        params,
        ...(rejected.length === 0 ? {} : { rejected }),
      },
      afterwards: () => {
        // A later request of the same batch, or the end of the socket, may have ended it already.
        if (this.#subscriptions.get(identity) !== subscription) return
        if (snapshot !== undefined) {
          const frame = pushFrame(subscription.id, JSON.stringify(snapshot), this.#options.now())
          this.#options.send({ topic: topic.name, seq: 0, frame })
        }
        subscription.release()
      },
    }
  }

  unsubscribe(command: Command & { method: 'unsubscribe' }): Outcome {
    const { topic, params } = command
    for (const identity of topic === 'all' ? [...this.#subscriptions.keys()] : [topicIdentity(topic)]) {
      this.#drop(identity)
    }
    return { result: { status: 'ok', action: 'unsubscribe', params } }
  }

  close(): void {
    this.#isClosed = true
    for (const identity of [...this.#subscriptions.keys()]) this.#drop(identity)
  }

  async #resolve(topic: Topic): Promise<{ sources: Source[]; rejected: Rejected[] }> {
    if (topic.name === 'price') return this.#resolvePrice(topic.items, topic.rejected)
    const { address, chain } = topic.pair
    const [found] = await this.#options.view.pairs([topic.pair])
    if (found?.record === undefined) {
      return { sources: [], rejected: [{ item: `${address}-${chain}`, reason: 'unknown_pair' }] }
    }
    const source: Source =
      topic.name === 'tx'
        ? { key: txKey(topic.pair), kind: 'event', ref: topic.pair }
        : { key: klineKey(topic.pair, topic.interval), kind: 'kline', ref: topic.pair }
    return { sources: [source], rejected: [] }
  }

  async #resolvePrice(
    items: readonly PriceItem[],
    malformed: readonly Rejected[],
  ): Promise<{ sources: Source[]; rejected: Rejected[] }> {
    const refs = items.map(({ ref }) => ref)
    const [pairs, tokens] = await Promise.all([
      this.#options.view.pairs(refs),
      this.#options.view.tokens(refs),
    ])
    const sources: Source[] = []
    const rejected = [...malformed]
    for (const [index, { id, ref }] of items.entries()) {
      if (pairs[index]?.record !== undefined) sources.push({ key: pairPriceKey(ref), kind: 'pair', ref })
      else if (tokens[index]?.record !== undefined)
        sources.push({ key: tokenPriceKey(ref), kind: 'token', ref })
      else rejected.push({ item: id, reason: 'unknown_id' })
    }
    return { sources, rejected }
  }

  #open(identity: string, id: number, sources: readonly Source[]): Subscription {
    const { hub, send, onOverflow, maxHeldBytes, onCountChange } = this.#options
    let subscription = this.#subscriptions.get(identity)
    if (subscription === undefined) {
      subscription = new Subscription(id, { send, onOverflow, maxHeldBytes })
      // The socket may have closed while the pair was looked up: nobody would remove the listener again.
      if (this.#isClosed) return subscription
      this.#subscriptions.set(identity, subscription)
      onCountChange(1)
    }
    subscription.hold()
    for (const { key } of sources) {
      subscription.keys.add(key)
      hub.add(key, subscription)
    }
    return subscription
  }

  #drop(identity: string): void {
    const subscription = this.#subscriptions.get(identity)
    if (subscription === undefined) return
    this.#subscriptions.delete(identity)
    for (const key of subscription.keys) this.#options.hub.remove(key, subscription)
    this.#options.onCountChange(-1)
  }

  async #snapshot(
    topic: Topic,
    sources: readonly Source[],
    subscription: Subscription,
  ): Promise<object | undefined> {
    const { view } = this.#options
    if (topic.name === 'tx') return undefined
    if (topic.name === 'kline') {
      const { address, chain } = topic.pair
      const [[candle], [windows], [pair]] = await Promise.all([
        view.candles([{ chain, pair: address, interval: topic.interval }]),
        view.windows([{ ...topic.pair, kind: 'pair' }]),
        view.pairs([topic.pair]),
      ])
      for (const { key } of sources) subscription.skipUpTo(key, candle?.seq ?? 0)
      if (candle?.record === undefined) return undefined
      const decimals = pair?.record && targetDecimals(pair.record)
      const headTime = view.head(chain)?.time
      return klinePush(chain, candle.record, { windows: windows?.record, decimals, headTime })
    }
    const pairSources = sources.filter(({ kind }) => kind === 'pair')
    const tokenSources = sources.filter(({ kind }) => kind === 'token')
    const [pairs, mainPairs] = await Promise.all([
      view.pairs(pairSources.map(({ ref }) => ref)),
      view.mainPairs(tokenSources.map(({ ref }) => ref)),
    ])
    const readings = new Map<Source, Reading<Pair> | undefined>()
    for (const [index, source] of pairSources.entries()) readings.set(source, pairs[index])
    for (const [index, source] of tokenSources.entries()) readings.set(source, mainPairs[index])
    const shown = new Map<string, PairOn>()
    for (const source of sources) {
      const reading = readings.get(source)
      const { chain } = source.ref
      subscription.skipUpTo(source.key, reading?.seq ?? 0)
      const pair = reading?.record
      // A pair and the token whose main pair it is make one entry.
      if (pair !== undefined) shown.set(pairPriceKey({ chain, address: pair.address }), { chain, pair })
    }
    return shown.size === 0 ? undefined : pricePush(await this.#entries([...shown.values()]))
  }

  async #entries(pairs: readonly PairOn[]): Promise<ReturnType<typeof priceEntry>[]> {
    const { view } = this.#options
    const [targets, windows] = await Promise.all([
      view.tokens(pairs.map(({ chain, pair }) => ({ chain, address: pair.targetToken ?? '' }))),
      view.windows(pairs.map(({ chain, pair }) => ({ chain, address: pair.address, kind: 'pair' as const }))),
    ])
    return pairs.map(({ chain, pair }, index) =>
      priceEntry({
        chain,
        pair,
        target: targets[index]?.record,
        windows: windows[index]?.record,
        headTime: view.head(chain)?.time,
      }),
    )
  }
}
