import type {
  Candle,
  CandleRef,
  Change,
  ChangeSet,
  EventRef,
  LiquidityEvent,
  Pair,
  Token,
  Trade,
  Windows,
  WindowsRef,
} from '../domain/change.ts'
import { never } from '../domain/ids.ts'
import type { Interval } from '../domain/interval.ts'
import { formatOrderKey } from '../domain/order-key.ts'

/** A document as one change set left it; without a record it is a tombstone. */
export type Version<T> = { readonly seq: number; readonly record: T | undefined }

type Versions<Id, T> = Map<Id, Version<T>>

/** What a set said that is held here. It is kept as it is, because what is kept of each block is kept for all of them. */
type Applied = { readonly seq: number; readonly changes: readonly Change[] }

/** What is done with a document that a set tells of: its version is put down, or forgotten again. */
type Touch = <Id, T>(versions: Versions<Id, T>, id: Id, seq: number, record: T | undefined) => void

/**
 * What one chain's change sets say that the hot store may not say yet. Sets come in order of `seq` and leave
 * in that order, so its size is the writer's lag.
 */
export class Overlay {
  readonly #pairs = new Map<string, Version<Pair>>()
  readonly #tokens = new Map<string, Version<Token>>()
  readonly #pairWindows = new Map<string, Version<Windows>>()
  readonly #tokenWindows = new Map<string, Version<Windows>>()
  /** By pair, and within it by interval: there are ten of them for each trade. */
  readonly #candles = new Map<string, Map<Interval, Versions<number, Candle>>>()
  readonly #trades = new Map<string, Versions<string, Trade>>()
  readonly #liquidity = new Map<string, Versions<string, LiquidityEvent>>()
  readonly #pairsOfToken = new Map<string, Set<string>>()
  readonly #removedPairs = new Set<string>()
  readonly #applied: Applied[] = []

  /** Documents held, tombstones included. */
  get size(): number {
    let size = this.#pairs.size + this.#tokens.size + this.#pairWindows.size + this.#tokenWindows.size
    for (const table of [this.#trades, this.#liquidity, ...this.#candles.values()]) {
      for (const versions of table.values()) size += versions.size
    }
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

  pairWindows(pair: string): Version<Windows> | undefined {
    return this.#pairWindows.get(pair)
  }

  tokenWindows(token: string): Version<Windows> | undefined {
    return this.#tokenWindows.get(token)
  }

  /** By the start of the candle: a removed newest candle gives the one before it back. */
  candles(pair: string, interval: Interval): ReadonlyMap<number, Version<Candle>> | undefined {
    return this.#candles.get(pair)?.get(interval)
  }

  /** By the place in the chain. */
  trades(pair: string): ReadonlyMap<string, Version<Trade>> | undefined {
    return this.#trades.get(pair)
  }

  liquidity(pair: string): ReadonlyMap<string, Version<LiquidityEvent>> | undefined {
    return this.#liquidity.get(pair)
  }

  pairsOfToken(token: string): ReadonlySet<string> {
    return this.#pairsOfToken.get(token) ?? new Set()
  }

  apply({ seq, changes }: ChangeSet): void {
    const held = changes.filter((change) => this.#touch(change, seq, put))
    if (held.length > 0) this.#applied.push({ seq, changes: held })
  }

  /**
   * Forgets what the sets up to `seq` said, unless a later one said it anew, oldest first, and no more sets once those
   * had `enough` changes. Gives the version up to which nothing is held any more; undefined if nothing was to forget.
   */
  drop(seq: number, enough = Number.POSITIVE_INFINITY): number | undefined {
    let count = 0
    let forgotten = 0
    for (const applied of this.#applied) {
      if (applied.seq > seq || forgotten >= enough) break
      for (const change of applied.changes) this.#touch(change, applied.seq, forget)
      forgotten += applied.changes.length
      count++
    }
    const last = this.#applied.splice(0, count).at(-1)
    if (last === undefined) return undefined
    const [next] = this.#applied
    return next !== undefined && next.seq <= seq ? last.seq : seq
  }

  /** False if it tells of nothing that is held here. */
  #touch(change: Change, seq: number, touch: Touch): boolean {
    switch (change.type) {
      case 'pair':
        this.#touchPair(change.pair.address, seq, change.pair, touch)
        return true
      case 'pairRemoved':
        this.#touchPair(change.pair, seq, undefined, touch)
        return true
      case 'token':
        touch(this.#tokens, change.token.address, seq, change.token)
        return true
      case 'tokenRemoved':
        touch(this.#tokens, change.token, seq, undefined)
        return true
      case 'windows':
        this.#touchWindows(change.windows, seq, change.windows, touch)
        return true
      case 'windowsRemoved':
        this.#touchWindows(change.windows, seq, undefined, touch)
        return true
      case 'candle':
        this.#touchCandle(change.candle, seq, change.candle, touch)
        return true
      case 'candleRemoved':
        this.#touchCandle(change.candle, seq, undefined, touch)
        return true
      case 'trade':
        touchEvent(this.#trades, change.trade, seq, change.trade, touch)
        return true
      case 'tradeRemoved':
        touchEvent(this.#trades, change.trade, seq, undefined, touch)
        return true
      case 'liquidity':
        touchEvent(this.#liquidity, change.liquidity, seq, change.liquidity, touch)
        return true
      case 'liquidityRemoved':
        touchEvent(this.#liquidity, change.liquidity, seq, undefined, touch)
        return true
      case 'switch':
      case 'switchRemoved':
      // What addresses hold is read from history alone.
      case 'balance':
      // Examined seldom, and asked for by itself.
      case 'contract':
      case 'contractRemoved':
        return false
      default:
        return never(change)
    }
  }

  #touchPair(address: string, seq: number, pair: Pair | undefined, touch: Touch): void {
    const before = this.#pairs.get(address)?.record
    touch(this.#pairs, address, seq, pair)
    const version = this.#pairs.get(address)
    if (version !== undefined && version.record === undefined) this.#removedPairs.add(address)
    else this.#removedPairs.delete(address)
    const [some, others] = [tokensOf(before), tokensOf(version?.record)]
    // Most often they are the same.
    for (const token of some) if (!others.includes(token)) this.#unlink(token, address)
    for (const token of others) if (!some.includes(token)) this.#link(token, address)
  }

  #touchWindows({ pair, token }: WindowsRef, seq: number, windows: Windows | undefined, touch: Touch): void {
    if (pair !== undefined) touch(this.#pairWindows, pair, seq, windows)
    if (token !== undefined) touch(this.#tokenWindows, token, seq, windows)
  }

  #touchCandle(
    { pair, interval, start }: CandleRef,
    seq: number,
    candle: Candle | undefined,
    touch: Touch,
  ): void {
    const ofPair = this.#candles.get(pair) ?? new Map<Interval, Versions<number, Candle>>()
    touchGroup(ofPair, interval, start, seq, candle, touch)
    if (ofPair.size === 0) this.#candles.delete(pair)
    else this.#candles.set(pair, ofPair)
  }

  #link(token: string, pair: string): void {
    const pairs = this.#pairsOfToken.get(token)
    if (pairs === undefined) this.#pairsOfToken.set(token, new Set([pair]))
    else pairs.add(pair)
  }

  #unlink(token: string, pair: string): void {
    const pairs = this.#pairsOfToken.get(token)
    pairs?.delete(pair)
    if (pairs?.size === 0) this.#pairsOfToken.delete(token)
  }
}

function put<Id, T>(versions: Versions<Id, T>, id: Id, seq: number, record: T | undefined): void {
  versions.set(id, { seq, record })
}

/** Unless something newer has come by then. */
function forget<Id, T>(versions: Versions<Id, T>, id: Id, seq: number): void {
  if (versions.get(id)?.seq === seq) versions.delete(id)
}

function touchEvent<T>(
  events: Map<string, Versions<string, T>>,
  { pair, key }: EventRef,
  seq: number,
  event: T | undefined,
  touch: Touch,
): void {
  touchGroup(events, pair, formatOrderKey(key), seq, event, touch)
}

/** No group is empty. */
function touchGroup<Group, Id, T>(
  groups: Map<Group, Versions<Id, T>>,
  group: Group,
  id: Id,
  seq: number,
  record: T | undefined,
  touch: Touch,
): void {
  const known = groups.get(group)
  const versions = known ?? new Map<Id, Version<T>>()
  touch(versions, id, seq, record)
  if (versions.size === 0) groups.delete(group)
  else if (known === undefined) groups.set(group, versions)
}

function tokensOf(pair: Pair | undefined): string[] {
  return pair === undefined ? [] : [pair.token0.token, pair.token1.token]
}
