import type {
  Candle,
  CandleRef,
  Change,
  EventRef,
  LiquidityEvent,
  Pair,
  Token,
  Trade,
  Windows,
  WindowsRef,
} from '../../domain/change.ts'
import { never } from '../../domain/ids.ts'
import type { Interval } from '../../domain/interval.ts'
import { formatOrderKey } from '../../domain/order-key.ts'
import type { OpenedChangeSet } from '../../wire/change-codec.ts'
import { liquidityCodec } from '../../wire/liquidity-codec.ts'
import { readPair, readToken, readTrade } from '../../wire/record-codec.ts'
import { readWindows } from '../../wire/windows-codec.ts'
import { type CandlePlace, EncodedCandles, OverlayCandles, samePlaces } from './overlay-candles.ts'
import { Documents, EncodedDocument, type SetMessage, type Version } from './overlay-documents.ts'

type Held = EncodedDocument<unknown> | EncodedCandles

/** The changes of a set that the overlay holds. */
type Applied = { readonly seq: number; readonly held: readonly Held[] }

type CandleChange = Extract<Change, { type: 'candle' }>

/** For changes without a group. */
const ALL = ''

/**
 * What one chain's change sets say that the hot store may not say yet. Sets come in order of `seq` and leave
 * in that order, so its size is the writer's lag.
 */
export class Overlay {
  readonly #pairs = new Documents<Pair>(readPair)
  readonly #tokens = new Documents<Token>(readToken)
  readonly #pairWindows = new Documents<Windows>(readWindows)
  readonly #tokenWindows = new Documents<Windows>(readWindows)
  readonly #candles = new OverlayCandles()
  /** Places in the last run of candles. */
  #places: readonly CandlePlace[] = []
  /** By pair. */
  readonly #trades = new Documents<Trade>(readTrade)
  readonly #liquidity = new Documents<LiquidityEvent>(liquidityCodec.read)
  readonly #pairsOfToken = new Map<string, Set<string>>()
  readonly #removedPairs = new Set<string>()
  readonly #applied: Applied[] = []

  /** Documents held, tombstones included. */
  get size(): number {
    const tables = [this.#pairs, this.#tokens, this.#pairWindows, this.#tokenWindows]
    const byPair = [this.#trades, this.#liquidity, this.#candles]
    return [...tables, ...byPair].reduce((size, table) => size + table.size, 0)
  }

  get removedPairCount(): number {
    return this.#removedPairs.size
  }

  pair(address: string): Version<Pair> | undefined {
    return this.#pairs.get(ALL, address)
  }

  token(address: string): Version<Token> | undefined {
    return this.#tokens.get(ALL, address)
  }

  pairWindows(pair: string): Version<Windows> | undefined {
    return this.#pairWindows.get(ALL, pair)
  }

  tokenWindows(token: string): Version<Windows> | undefined {
    return this.#tokenWindows.get(ALL, token)
  }

  /** By the start of the candle: a removed newest candle gives the one before it back. */
  candles(pair: string, interval: Interval): ReadonlyMap<number, Version<Candle>> {
    return this.#candles.of(pair, interval)
  }

  /** By the place in the chain. */
  trades(pair: string): ReadonlyMap<string, Version<Trade>> {
    return this.#trades.group(pair)
  }

  liquidity(pair: string): ReadonlyMap<string, Version<LiquidityEvent>> {
    return this.#liquidity.group(pair)
  }

  pairsOfToken(token: string): ReadonlySet<string> {
    return this.#pairsOfToken.get(token) ?? new Set()
  }

  apply({ set: { seq, changes }, bytes, offsets }: OpenedChangeSet): void {
    const message: SetMessage = { seq, bytes }
    const held: Held[] = []
    for (let index = 0; index < changes.length; index++) {
      const change = changes[index] as Change
      const at = offsets[index] as number
      if (change.type !== 'candle') this.#putChange(change, message, at, held)
      // Candles of a pair begin where the first of them does.
      else if (at !== offsets[index - 1]) {
        let end = index + 1
        while (offsets[end] === at) end++
        const run = changes.slice(index, end) as CandleChange[]
        this.#putCandles(new EncodedCandles(change.candle.pair, this.#placesOf(run), message, at), held)
      }
    }
    if (held.length > 0) this.#applied.push({ seq, held })
  }

  /**
   * Drops the changes of the sets up to `seq`, oldest first, unless a later set replaced them; stops after a set once
   * `enough` changes are dropped. Returns the `seq` up to which nothing is held, or undefined if nothing was dropped.
   */
  drop(seq: number, enough = Number.POSITIVE_INFINITY): number | undefined {
    let count = 0
    let dropped = 0
    for (const applied of this.#applied) {
      if (applied.seq > seq || dropped >= enough) break
      for (const each of applied.held) this.#dropOne(each)
      dropped += applied.held.length
      count++
    }
    const last = this.#applied.splice(0, count).at(-1)
    if (last === undefined) return undefined
    const [next] = this.#applied
    return next !== undefined && next.seq <= seq ? last.seq : seq
  }

  #dropOne(held: Held): void {
    if (held instanceof EncodedCandles) this.#candles.drop(held)
    else if (held.table === this.#pairs)
      this.#changePair(held as EncodedDocument<Pair>, () => held.table.drop(held))
    else held.table.drop(held)
  }

  /** Records the change, unless the overlay does not hold its kind. */
  #putChange(change: Exclude<Change, CandleChange>, message: SetMessage, at: number, into: Held[]): void {
    switch (change.type) {
      case 'pair':
        this.#putPair(new EncodedPair(this.#pairs, change.pair, message, at), into)
        break
      case 'pairRemoved':
        this.#putPair(new EncodedDocument(this.#pairs, ALL, change.pair, message), into)
        break
      case 'token':
        put(new EncodedDocument(this.#tokens, ALL, change.token.address, message, at), into)
        break
      case 'tokenRemoved':
        put(new EncodedDocument(this.#tokens, ALL, change.token, message), into)
        break
      case 'windows':
        this.#putWindows(change.windows, message, at, into)
        break
      case 'windowsRemoved':
        this.#putWindows(change.windows, message, undefined, into)
        break
      case 'candleRemoved':
        this.#putCandles(new EncodedCandles(change.candle.pair, this.#placesOf([change]), message), into)
        break
      case 'trade':
        put(encodedEvent(this.#trades, change.trade, message, at), into)
        break
      case 'tradeRemoved':
        put(encodedEvent(this.#trades, change.trade, message), into)
        break
      case 'liquidity':
        put(encodedEvent(this.#liquidity, change.liquidity, message, at), into)
        break
      case 'liquidityRemoved':
        put(encodedEvent(this.#liquidity, change.liquidity, message), into)
        break
      case 'switch':
      case 'switchRemoved':
      // Balances are read from history alone.
      case 'balance':
      // Examined seldom, and asked for by itself.
      case 'contract':
      case 'contractRemoved':
        break
      default:
        never(change)
    }
  }

  #putCandles(run: EncodedCandles, into: Held[]): void {
    this.#candles.put(run)
    into.push(run)
  }

  #placesOf(run: readonly { readonly candle: CandleRef }[]): readonly CandlePlace[] {
    const candles = run.map(({ candle }) => candle)
    if (!samePlaces(this.#places, candles)) {
      this.#places = candles.map(({ interval, start }) => ({ interval, start }))
    }
    return this.#places
  }

  #putWindows({ pair, token }: WindowsRef, message: SetMessage, at: number | undefined, into: Held[]): void {
    if (pair !== undefined) put(new EncodedDocument(this.#pairWindows, ALL, pair, message, at), into)
    if (token !== undefined) put(new EncodedDocument(this.#tokenWindows, ALL, token, message, at), into)
  }

  #putPair(pair: EncodedDocument<Pair>, into: Held[]): void {
    this.#changePair(pair, () => put(pair, into))
  }

  #changePair({ id }: EncodedDocument<Pair>, change: () => void): void {
    const address = id as string
    const before = this.#pairs.find(ALL, address)
    change()
    const after = this.#pairs.find(ALL, address)
    if (before === after) return
    if (after?.isTombstone) this.#removedPairs.add(address)
    else this.#removedPairs.delete(address)
    const [some, others] = [tokensOf(before), tokensOf(after)]
    // Most often they are the same.
    for (const token of some) if (!others.includes(token)) this.#unlink(token, address)
    for (const token of others) if (!some.includes(token)) this.#link(token, address)
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

function put<T>(document: EncodedDocument<T>, into: Held[]): void {
  document.table.put(document)
  into.push(document as EncodedDocument<unknown>)
}

function encodedEvent<T>(
  events: Documents<T>,
  { pair, key }: EventRef,
  message: SetMessage,
  at?: number,
): EncodedDocument<T> {
  return new EncodedDocument(events, pair, formatOrderKey(key), message, at)
}

/** A pair with its tokens, so that it is found without decoding. */
class EncodedPair extends EncodedDocument<Pair> {
  readonly tokens: readonly string[]

  constructor(table: Documents<Pair>, { address, token0, token1 }: Pair, message: SetMessage, at: number) {
    super(table, ALL, address, message, at)
    this.tokens = [token0.token, token1.token]
  }
}

function tokensOf(pair: EncodedDocument<Pair> | undefined): readonly string[] {
  return pair instanceof EncodedPair ? pair.tokens : []
}
