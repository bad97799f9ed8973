import type { Candle, Change, ChangeSet, Pair, Token } from '../domain/change.ts'
import { never } from '../domain/ids.ts'
import type { Interval } from '../domain/interval.ts'

/** A document as one change set left it; without a record it is a tombstone. */
export type Version<T> = { readonly seq: number; readonly record: T | undefined }

type Applied = { readonly seq: number; readonly forget: (() => void)[] }

/**
 * What one chain's change sets say that the hot store may not say yet. Sets come in order of `seq` and leave
 * in that order, so its size is the writer's lag.
 */
export class Overlay {
  readonly #pairs = new Map<string, Version<Pair>>()
  readonly #tokens = new Map<string, Version<Token>>()
  readonly #candles = new Map<string, Map<number, Version<Candle>>>()
  readonly #pairsOfToken = new Map<string, Set<string>>()
  readonly #removedPairs = new Set<string>()
  readonly #applied: Applied[] = []

  /** Documents held, tombstones included. */
  get size(): number {
    let size = this.#pairs.size + this.#tokens.size
    for (const versions of this.#candles.values()) size += versions.size
    return size
  }

  get removedPairCount(): number {
    return this.#removedPairs.size
  }

  pair(address: string): Version<Pair> | undefined {
    return this.#pairs.get(address)
  }

  token(address: string): Version<Token> | undefined {
    return this.#tokens.get(address)
  }

  /** By the start of the candle: a removed newest candle gives the one before it back. */
  candles(pair: string, interval: Interval): ReadonlyMap<number, Version<Candle>> | undefined {
    return this.#candles.get(candleKey(pair, interval))
  }

  pairsOfToken(token: string): ReadonlySet<string> {
    return this.#pairsOfToken.get(token) ?? new Set()
  }

  apply(set: ChangeSet): void {
    const forget: Applied['forget'] = []
    for (const change of set.changes) {
      const undo = this.#applyChange(change, set.seq)
      if (undo !== undefined) forget.push(undo)
    }
    if (forget.length > 0) this.#applied.push({ seq: set.seq, forget })
  }

  /** Forgets what the sets up to `seq` said, unless a later one said it anew; true if there was any. */
  drop(seq: number): boolean {
    const kept = this.#applied.findIndex((applied) => applied.seq > seq)
    const dropped = this.#applied.splice(0, kept === -1 ? this.#applied.length : kept)
    for (const { forget } of dropped) for (const each of forget) each()
    return dropped.length > 0
  }

  #applyChange(change: Change, seq: number): (() => void) | undefined {
    switch (change.type) {
      case 'pair':
        return this.#setPair(change.pair.address, { seq, record: change.pair })
      case 'pairRemoved':
        return this.#setPair(change.pair, { seq, record: undefined })
      case 'token':
        return this.#setToken(change.token.address, { seq, record: change.token })
      case 'tokenRemoved':
        return this.#setToken(change.token, { seq, record: undefined })
      case 'candle':
        return this.#setCandle(change.candle, { seq, record: change.candle })
      case 'candleRemoved':
        return this.#setCandle(change.candle, { seq, record: undefined })
      case 'trade':
      case 'tradeRemoved':
        return undefined
      default:
        return never(change)
    }
  }

  #setPair(address: string, version: Version<Pair>): () => void {
    this.#unlinkPair(address)
    this.#pairs.set(address, version)
    if (version.record === undefined) this.#removedPairs.add(address)
    else for (const side of [version.record.token0, version.record.token1]) this.#link(side.token, address)
    return () => {
      if (this.#pairs.get(address) !== version) return
      this.#unlinkPair(address)
      this.#pairs.delete(address)
    }
  }

  #setToken(address: string, version: Version<Token>): () => void {
    this.#tokens.set(address, version)
    return () => {
      if (this.#tokens.get(address) === version) this.#tokens.delete(address)
    }
  }

  #setCandle(ref: { pair: string; interval: Interval; start: number }, version: Version<Candle>): () => void {
    const key = candleKey(ref.pair, ref.interval)
    const versions = this.#candles.get(key) ?? new Map<number, Version<Candle>>()
    this.#candles.set(key, versions.set(ref.start, version))
    return () => {
      if (versions.get(ref.start) !== version) return
      versions.delete(ref.start)
      if (versions.size === 0) this.#candles.delete(key)
    }
  }

  #link(token: string, pair: string): void {
    const pairs = this.#pairsOfToken.get(token)
    if (pairs === undefined) this.#pairsOfToken.set(token, new Set([pair]))
    else pairs.add(pair)
  }

  #unlinkPair(address: string): void {
    this.#removedPairs.delete(address)
    const record = this.#pairs.get(address)?.record
    for (const token of record === undefined ? [] : [record.token0.token, record.token1.token]) {
      const pairs = this.#pairsOfToken.get(token)
      pairs?.delete(address)
      if (pairs?.size === 0) this.#pairsOfToken.delete(token)
    }
  }
}

function candleKey(pair: string, interval: Interval): string {
  return `${pair}/${interval}`
}
