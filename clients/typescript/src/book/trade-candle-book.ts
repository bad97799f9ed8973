import type { Interval } from '../ids.ts'
import { type CandleUnit, isRetraction, type Retraction, type Trade } from '../streams/items.ts'
import { formatFixed, MAX_FIXED, PRICE_DIGITS, parseFixed, VALUE_DIGITS } from './fixed.ts'
import { candleStart } from './interval.ts'

/** A candle as REST returns it, without its revision. */
export type BookCandle = {
  readonly time: number
  readonly open: string
  readonly high: string
  readonly low: string
  readonly close: string
  /** Empty if it is unknown. */
  readonly volume: string
  /** Trades, with or without a price in this unit. */
  readonly count: number
}

type BookTrade = {
  readonly id: string
  readonly block: number
  readonly index: number
  readonly price: string
  readonly value: string
}

/**
 * Candles of one pair, folded from its trades by the rules of the gateway. A retraction removes its trades, so that the
 * book always equals the candles of the trades that remain.
 */
export class TradeCandleBook {
  readonly interval: Interval
  readonly unit: CandleUnit
  /** By start: the trades in chain order. */
  readonly #trades = new Map<number, BookTrade[]>()
  readonly #starts = new Map<string, number>()
  readonly #frozen = new Map<number, BookCandle>()

  constructor(interval: Interval, unit: CandleUnit = 'usd') {
    this.interval = interval
    this.unit = unit
  }

  /** Returns the starts of the candles that changed. */
  apply(item: Trade | Retraction): number[] {
    if (!isRetraction(item)) return [this.#add(item)]
    const changed = item.retracted.flatMap((id) => this.#remove(id) ?? [])
    return [...new Set(changed)]
  }

  /** The candle, unless it has no trade with a price in the unit of the book. */
  candle(start: number): BookCandle | undefined {
    return this.#frozen.get(start) ?? candleOf(start, this.#trades.get(start) ?? [])
  }

  /** All candles, oldest first. */
  candles(): BookCandle[] {
    const starts = [...this.#frozen.keys(), ...this.#trades.keys()].sort((a, b) => a - b)
    return starts.flatMap((start) => this.candle(start) ?? [])
  }

  /** Keeps candles that start before this time as they are, and releases their trades. Retract no such trade later. */
  freezeBefore(time: number): void {
    for (const [start, trades] of this.#trades) {
      if (start >= time) continue
      const candle = candleOf(start, trades)
      if (candle !== undefined) this.#frozen.set(start, candle)
      for (const { id } of trades) this.#starts.delete(id)
      this.#trades.delete(start)
    }
  }

  #add(trade: Trade): number {
    const start = candleStart(this.interval, trade.time)
    this.#remove(trade.id)
    const trades = this.#trades.get(start) ?? []
    const added = bookTrade(trade, this.unit)
    // Almost always the last one.
    let at = trades.length
    while (at > 0 && isAfter(trades[at - 1] as BookTrade, added)) at--
    trades.splice(at, 0, added)
    this.#trades.set(start, trades)
    this.#starts.set(trade.id, start)
    return start
  }

  #remove(id: string): number | undefined {
    const start = this.#starts.get(id)
    const trades = start === undefined ? undefined : this.#trades.get(start)
    if (start === undefined || trades === undefined) return undefined
    this.#starts.delete(id)
    const left = trades.filter((trade) => trade.id !== id)
    if (left.length === 0) this.#trades.delete(start)
    else this.#trades.set(start, left)
    return start
  }
}

/** The price is that of the target token; the value is that of the swap. */
function bookTrade(trade: Trade, unit: CandleUnit): BookTrade {
  const side = trade.target_token === trade.to_address ? 'to' : 'from'
  const price = unit === 'usd' ? trade[`${side}_price_usd`] : trade[`${side}_price_eth`]
  const value = unit === 'usd' ? trade.amount_usd : trade.amount_eth
  const index = Number(trade.id.slice(trade.id.indexOf('-') + 1))
  return { id: trade.id, block: trade.block_number, index, price, value }
}

function isAfter(one: BookTrade, other: BookTrade): boolean {
  return one.block > other.block || (one.block === other.block && one.index > other.index)
}

function candleOf(time: number, trades: readonly BookTrade[]): BookCandle | undefined {
  // A trade without a price in this unit changes nothing but the count.
  const priced = trades.filter(({ price }) => price !== '')
  const [first, last] = [priced[0], priced.at(-1)]
  if (first === undefined || last === undefined) return undefined
  let [high, low] = [first, first].map(({ price }) => parseFixed(price, PRICE_DIGITS)) as [bigint, bigint]
  let volume: bigint | undefined = 0n
  for (const { price, value } of priced) {
    const fixed = parseFixed(price, PRICE_DIGITS)
    if (fixed > high) high = fixed
    if (fixed < low) low = fixed
    if (volume !== undefined) volume = value === '' ? undefined : volume + parseFixed(value, VALUE_DIGITS)
    if (volume !== undefined && volume > MAX_FIXED) volume = undefined
  }
  return {
    time,
    open: first.price,
    high: formatFixed(high, PRICE_DIGITS),
    low: formatFixed(low, PRICE_DIGITS),
    close: last.price,
    volume: volume === undefined ? '' : formatFixed(volume, VALUE_DIGITS),
    count: trades.length,
  }
}
