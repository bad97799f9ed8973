import type { Change, ChangeSet, Pair, Token, Windows } from '../../domain/change.ts'
import { klinePush, targetDecimals } from '../shape/kline.ts'
import { priceEntry, pricePush } from '../shape/price-entry.ts'
import { swapPush } from '../shape/swap-transaction.ts'
import { pushFrame } from './push-frame.ts'
import { klineKey, pairPriceKey, type TopicName, tokenPriceKey, txKey } from './topic.ts'

/** One push, encoded for those who subscribed under one request id. */
export type Push = { readonly topic: TopicName; readonly seq: number; readonly frame: Buffer }

export type Listener = {
  /** The id of the subscribe request: every push carries it. */
  readonly id: number
  offer(key: string, push: Push): void
}

/** Who listens to what. Turns each change set into pushes: one encoding per event and distinct request id. */
export class Hub {
  readonly #listeners = new Map<string, Set<Listener>>()
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  add(key: string, listener: Listener): void {
    const listeners = this.#listeners.get(key)
    if (listeners === undefined) this.#listeners.set(key, new Set([listener]))
    else listeners.add(listener)
  }

  remove(key: string, listener: Listener): void {
    const listeners = this.#listeners.get(key)
    listeners?.delete(listener)
    if (listeners?.size === 0) this.#listeners.delete(key)
  }

  /** Keys that somebody listens to. */
  get size(): number {
    return this.#listeners.size
  }

  apply(set: ChangeSet): void {
    if (this.#listeners.size === 0) return
    const records = recordsOf(set)
    for (const change of set.changes) this.#applyChange(set, change, records)
  }

  #applyChange(set: ChangeSet, change: Change, records: SetRecords): void {
    const { chain } = set
    const headTime = set.head.time
    switch (change.type) {
      case 'trade': {
        const { trade } = change
        const keys = [txKey({ chain, address: trade.pair })]
        this.#push(set, 'tx', keys, () => swapPush(chain, trade))
        break
      }
      case 'candle': {
        const { candle } = change
        const keys = [klineKey({ chain, address: candle.pair }, candle.interval)]
        this.#push(set, 'kline', keys, () => {
          const pair = records.pairs.get(candle.pair)
          const windows = records.windows.get(candle.pair)
          return klinePush(chain, candle, { windows, decimals: pair && targetDecimals(pair), headTime })
        })
        break
      }
      case 'pair': {
        const { pair } = change
        this.#push(set, 'price', priceKeys(chain, pair), () => {
          const target = records.tokens.get(pair.targetToken ?? '')
          const windows = records.windows.get(pair.address)
          return pricePush([priceEntry({ chain, pair, target, windows, headTime })])
        })
        break
      }
      default:
        // Retractions are for those who ask for them; a plain subscriber sees the corrected values only.
        break
    }
  }

  #push(set: ChangeSet, topic: TopicName, keys: readonly string[], build: () => object): void {
    let result: string | undefined
    const frames = new Map<number, Buffer>()
    const served = new Set<Listener>()
    for (const key of keys) {
      for (const listener of this.#listeners.get(key) ?? []) {
        // One subscription may name a pair and the token whose main pair it is.
        if (served.has(listener)) continue
        if (keys.length > 1) served.add(listener)
        let frame = frames.get(listener.id)
        if (frame === undefined) {
          result ??= JSON.stringify(build())
          frame = pushFrame(listener.id, result, this.#now())
          frames.set(listener.id, frame)
        }
        listener.offer(key, { topic, seq: set.seq, frame })
      }
    }
  }
}

/** What a set says of pairs, their tokens and windows: a trade changes all three. */
type SetRecords = {
  readonly pairs: ReadonlyMap<string, Pair>
  readonly tokens: ReadonlyMap<string, Token>
  readonly windows: ReadonlyMap<string, Windows>
}

function recordsOf({ changes }: ChangeSet): SetRecords {
  const pairs = new Map<string, Pair>()
  const tokens = new Map<string, Token>()
  const windows = new Map<string, Windows>()
  for (const change of changes) {
    if (change.type === 'pair') pairs.set(change.pair.address, change.pair)
    else if (change.type === 'token') tokens.set(change.token.address, change.token)
    else if (change.type === 'windows' && change.windows.pair !== undefined)
      windows.set(change.windows.pair, change.windows)
  }
  return { pairs, tokens, windows }
}

function priceKeys(chain: string, pair: Pair): string[] {
  const own = pairPriceKey({ chain, address: pair.address })
  if (!pair.isMain || pair.targetToken === undefined) return [own]
  return [own, tokenPriceKey({ chain, address: pair.targetToken })]
}
