import type {
  Candle,
  CandleRef,
  Change,
  ChangeSet,
  EventRef,
  LiquidityEvent,
  MainPairSwitch,
  Pair,
  Trade,
} from '../../../domain/change.ts'
import { type ChainAddress, formatChainAddress } from '../../../domain/ids.ts'
import { pushedInterval } from '../../../domain/interval.ts'
import { type OrderKey, publicEventId } from '../../../domain/order-key.ts'
import type { FeedPosition } from '../../market/read-position.ts'
import { klinePush } from '../../shape/kline.ts'
import { liquidityPush } from '../../shape/liquidity-transaction.ts'
import { switchPush } from '../../shape/main-pair-switch.ts'
import { priceEntry, pricePush, quoteEntry } from '../../shape/price-entry.ts'
import { swapPush, tokenSwapPush } from '../../shape/swap-transaction.ts'
import type { LiveBlock } from '../send/freshness.ts'
import type { PushParts, PushPlace, Shape } from '../send/push-event.ts'
import {
  klineKey,
  liquidityKey,
  pairPriceKey,
  switchKey,
  type TopicName,
  tokenPriceKey,
  tokenTxKey,
  txKey,
} from '../topic.ts'
import type { SubscribedTopics } from './subscribed-topics.ts'
import type { WatchedPairs } from './watched-pairs.ts'

/** Hands a push to the subscribers of the keys; it is built only if there are any. */
export type Emit = (keys: readonly string[], isReorg: boolean, build: () => PushParts) => void

/** The pushes of one change set, for live subscribers or for a replay. */
export class SetPushes {
  readonly #set: ChangeSet
  readonly #origin: FeedPosition
  readonly #heard: SubscribedTopics
  readonly #watched: WatchedPairs
  readonly #now: number
  readonly #live: LiveBlock | undefined
  #pairs: Map<string, Pair> | undefined

  constructor(
    set: ChangeSet,
    origin: FeedPosition,
    heard: SubscribedTopics,
    watched: WatchedPairs,
    now: number,
    live?: LiveBlock,
  ) {
    this.#set = set
    this.#origin = origin
    this.#heard = heard
    this.#watched = watched
    this.#now = now
    this.#live = live
  }

  ofChange(change: Change, index: number, emit: Emit): void {
    switch (change.type) {
      case 'trade':
        this.#trade(change.trade, index, emit)
        break
      case 'liquidity':
        if (this.#heard.has('liq', change.liquidity.pair)) this.#liquidity(change.liquidity, index, emit)
        break
      case 'candle':
        if (this.#heard.has('kline', change.candle.pair)) this.#candle(change.candle, index, emit)
        break
      case 'tradeRemoved':
        this.#revert('tx', [txKey(this.#on(change.trade.pair))], change.trade, index, emit)
        this.#revert('multi_tx', this.#tokenKeysOf(change.trade), change.trade, index, emit)
        break
      case 'liquidityRemoved':
        this.#revert('liq', [liquidityKey(this.#on(change.liquidity.pair))], change.liquidity, index, emit)
        break
      case 'candleRemoved':
        if (this.#heard.has('kline', change.candle.pair)) this.#candleRemoved(change.candle, index, emit)
        break
      case 'switch':
        this.#switch(change.switch, index, emit)
        break
      case 'switchRemoved': {
        const { oldPair, newPair } = change.switch
        this.#switch({ ...change.switch, oldPair: newPair, newPair: oldPair }, index, emit)
        break
      }
      default:
        break
    }
  }

  /** After everything else of the set: an entry is made of all it says of the pair. */
  ofPrices(pairs: readonly string[], emit: Emit): void {
    const { chain, head, changes } = this.#set
    for (const address of pairs) {
      const priced = this.#watched.priced(chain, address, head)
      if (priced === undefined) continue
      const { targetToken, isMain } = priced.pair
      const own = pairPriceKey({ chain, address })
      const keys =
        isMain && targetToken !== undefined ? [own, tokenPriceKey({ chain, address: targetToken })] : [own]
      emit(keys, false, () => this.#state('price', changes.length - 1, () => pricePush([priceEntry(priced)])))
    }
  }

  /** A quote asset has an entry of its own where its main pair's is about another token. */
  ofQuoteAssets(tokens: readonly string[], emit: Emit): void {
    const { chain, head, changes } = this.#set
    for (const address of tokens) {
      const priced = this.#watched.pricedQuote(chain, address, head)
      if (priced === undefined) continue
      emit([tokenPriceKey({ chain, address })], false, () =>
        this.#state('price', changes.length - 1, () => pricePush([quoteEntry(priced)])),
      )
    }
  }

  #on(address: string): ChainAddress {
    return { chain: this.#set.chain, address }
  }

  #trade(trade: Trade, index: number, emit: Emit): void {
    const { chain } = this.#set
    if (this.#heard.has('tx', trade.pair)) {
      const build = () => this.#event('tx', index, () => swapPush(chain, trade), trade)
      emit([txKey(this.#on(trade.pair))], false, build)
    }
    const tokens = tokensOf(trade).filter((token) => this.#heard.has('multi_tx', token))
    if (tokens.length === 0) return
    const build = () => this.#event('multi_tx', index, () => tokenSwapPush(chain, trade))
    emit(
      tokens.map((token) => tokenTxKey(this.#on(token))),
      false,
      build,
    )
  }

  #liquidity(liquidity: LiquidityEvent, index: number, emit: Emit): void {
    const build = () => this.#event('liq', index, () => liquidityPush(this.#set.chain, liquidity), liquidity)
    emit([liquidityKey(this.#on(liquidity.pair))], false, build)
  }

  #candle(candle: Candle, index: number, emit: Emit): void {
    const build = () => this.#state('kline', index, (shape) => this.#kline(candle, shape), candle.start)
    emit([klineKey(this.#on(candle.pair), candle.interval)], false, build)
  }

  #candleRemoved({ pair, interval, start }: CandleRef, index: number, emit: Emit): void {
    const id = formatChainAddress(pair, this.#set.chain)
    const removed = { id, interval: pushedInterval(interval), time: start, topic: 'revert' }
    emit([klineKey(this.#on(pair), interval)], true, () => this.#event('kline', index, () => removed))
  }

  #event(topic: TopicName, index: number, build: () => object, event?: EventRef): PushParts {
    const place = { ...this.#place(index), ...(event && { event: { time: event.time, key: event.key } }) }
    return { topic, place, isState: false, sentTime: this.#now, live: this.#live, build }
  }

  #state(
    topic: 'kline' | 'price',
    index: number,
    build: (shape: Shape) => object,
    candle?: number,
  ): PushParts {
    const place = this.#place(index)
    return { topic, place, isState: true, candle, sentTime: this.#now, live: this.#live, build }
  }

  #place(index: number): PushPlace {
    const { chain, seq } = this.#set
    return { chain, seq, origin: this.#origin, published: index + 1 }
  }

  #kline(candle: Candle, shape: Shape): object {
    const { chain, head, seq } = this.#set
    const priced = this.#watched.priced(chain, candle.pair, head)
    const push = klinePush(chain, candle, {
      windows: priced?.windows,
      pair: priced?.pair,
      times: head,
    })
    return shape === 'revised' ? { ...push, revision: seq } : push
  }

  #revert(
    topic: TopicName,
    keys: readonly string[],
    { pair, key }: EventRef,
    index: number,
    emit: Emit,
  ): void {
    emit(keys, true, () => this.#event(topic, index, () => revertPush(pair, key)))
  }

  #switch(to: MainPairSwitch, index: number, emit: Emit): void {
    const { chain } = this.#set
    const pair = this.#pairsOfSet().get(to.newPair)
    if (pair === undefined) return
    emit([switchKey({ chain, address: to.oldPair })], false, () => {
      const build = () => switchPush(chain, to, pair, this.#platformOf(to.token))
      // The document shows it without `sent_time`.
      const sentTime = undefined
      return { topic: 'kline', place: this.#place(index), isState: false, sentTime, live: this.#live, build }
    })
  }

  /** A switch changes the token too, so the set has it. */
  #platformOf(address: string): string | undefined {
    for (const change of this.#set.changes)
      if (change.type === 'token' && change.token.address === address) return change.token.platform?.name
    return undefined
  }

  #tokenKeysOf({ pair }: EventRef): string[] {
    const { chain } = this.#set
    // An undo publishes the restored pair of every retracted trade, unless it removes the pair itself.
    const known = this.#pairsOfSet().get(pair)
    const tokens =
      known === undefined ? this.#watched.tokensOf(chain, pair) : [known.token0.token, known.token1.token]
    return tokens.map((address) => tokenTxKey({ chain, address }))
  }

  #pairsOfSet(): ReadonlyMap<string, Pair> {
    this.#pairs ??= new Map(
      this.#set.changes.flatMap((change) =>
        change.type === 'pair' ? [[change.pair.address, change.pair] as const] : [],
      ),
    )
    return this.#pairs
  }
}

/** `result` of the message that takes an event back. */
export function revertPush(pair: string, key: OrderKey) {
  return { id: pair, ids: [publicEventId(key)], topic: 'revert' }
}

function tokensOf({ sold, bought }: Trade): string[] {
  return [sold.token, bought.token]
}
