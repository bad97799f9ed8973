import type {
  Candle,
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

type Applied = { readonly seq: number; readonly forget: (() => void)[] }

/**
 * What one chain's change sets say that the hot store may not say yet. Sets come in order of `seq` and leave
 * in that order, so its size is the writer's lag.
 */
export class Overlay {
  readonly #pairs = new Map<string, Version<Pair>>()
  readonly #tokens = new Map<string, Version<Token>>()
  readonly #pairWindows = new Map<string, Version<Windows>>()
  readonly #tokenWindows = new Map<string, Version<Windows>>()
  readonly #candles = new Map<string, Map<number, Version<Candle>>>()
  readonly #trades = new Map<string, Map<string, Version<Trade>>>()
  readonly #liquidity = new Map<string, Map<string, Version<LiquidityEvent>>>()
  readonly #pairsOfToken = new Map<string, Set<string>>()
  readonly #removedPairs = new Set<string>()
  readonly #applied: Applied[] = []

  /** Documents held, tombstones included. */
  get size(): number {
    let size = this.#pairs.size + this.#tokens.size + this.#pairWindows.size + this.#tokenWindows.size
    for (const table of [this.#candles, this.#trades, this.#liquidity]) {
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
    return this.#candles.get(candleKey(pair, interval))
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
        return setVersion(this.#tokens, change.token.address, { seq, record: change.token })
      case 'tokenRemoved':
        return setVersion(this.#tokens, change.token, { seq, record: undefined })
      case 'windows':
        return this.#setWindows(change.windows, { seq, record: change.windows })
      case 'windowsRemoved':
        return this.#setWindows(change.windows, { seq, record: undefined })
      case 'candle':
        return this.#setCandle(change.candle, { seq, record: change.candle })
      case 'candleRemoved':
        return this.#setCandle(change.candle, { seq, record: undefined })
      case 'trade':
        return setEvent(this.#trades, change.trade, { seq, record: change.trade })
      case 'tradeRemoved':
        return setEvent(this.#trades, change.trade, { seq, record: undefined })
      case 'liquidity':
        return setEvent(this.#liquidity, change.liquidity, { seq, record: change.liquidity })
      case 'liquidityRemoved':
        return setEvent(this.#liquidity, change.liquidity, { seq, record: undefined })
      case 'switch':
      case 'switchRemoved':
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

  #setWindows({ pair, token }: WindowsRef, version: Version<Windows>): () => void {
    const forget = [
      ...(pair === undefined ? [] : [setVersion(this.#pairWindows, pair, version)]),
      ...(token === undefined ? [] : [setVersion(this.#tokenWindows, token, version)]),
    ]
    return () => {
      for (const each of forget) each()
    }
  }

  #setCandle(ref: { pair: string; interval: Interval; start: number }, version: Version<Candle>): () => void {
    return setInGroup(this.#candles, candleKey(ref.pair, ref.interval), ref.start, version)
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

/** Gives the way to forget it, unless something newer has come by then. */
function setVersion<T>(versions: Map<string, Version<T>>, id: string, version: Version<T>): () => void {
  versions.set(id, version)
  return () => {
    if (versions.get(id) === version) versions.delete(id)
  }
}

function setInGroup<Id, T>(
  groups: Map<string, Map<Id, Version<T>>>,
  group: string,
  id: Id,
  version: Version<T>,
): () => void {
  const versions = groups.get(group) ?? new Map<Id, Version<T>>()
  groups.set(group, versions.set(id, version))
  return () => {
    if (versions.get(id) !== version) return
    versions.delete(id)
    if (versions.size === 0) groups.delete(group)
  }
}

function setEvent<T>(
  groups: Map<string, Map<string, Version<T>>>,
  { pair, key }: EventRef,
  version: Version<T>,
): () => void {
  return setInGroup(groups, pair, formatOrderKey(key), version)
}

function candleKey(pair: string, interval: Interval): string {
  return `${pair}/${interval}`
}
