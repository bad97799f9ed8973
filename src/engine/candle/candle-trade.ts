import type { Price, Value } from '../../domain/money.ts'
import { type Cursor, cursorMaker, type ReadRow } from '../../state/cursor.ts'
import { layout, optional, repeated, u256 } from '../../state/layout.ts'
import { Memory } from '../../state/memory.ts'
import { NATIVE, QUOTE, UNITS, USD } from './candle-rows.ts'

/** A trade as candles see it: the price of one target token and the value of the trade, in each unit. */
export type CandleTrade = {
  readonly paid: {
    readonly usd: Price | undefined
    readonly native: Price | undefined
    readonly inQuote: Price | undefined
  }
  readonly valueUsd: Value | undefined
  readonly valueNative: Value | undefined
  readonly quoteValue: Value | undefined
}

/** A trade with a known price has a value, unless that exceeds the limits. */
const PAID = { price: optional(u256), value: optional(u256) } as const
const TRADE = layout({ units: repeated(UNITS.length, PAID) })

export type Paid = ReadRow<typeof PAID>

/** The numbers of one trade in row encoding: written once, then copied by every candle. */
export class TradeNumbers {
  readonly #row = newCursor().edit(0)
  /** The trade had the same value in the quote asset as in this unit. */
  isQuoteUsd = false
  isQuoteNative = false

  set({ paid, valueUsd, valueNative, quoteValue }: CandleTrade): void {
    this.#set(USD, paid.usd, valueUsd)
    this.#set(NATIVE, paid.native, valueNative)
    this.#set(QUOTE, paid.inQuote, quoteValue)
    const isPriced = paid.inQuote !== undefined
    this.isQuoteUsd = isPriced && paid.inQuote === paid.usd && quoteValue === valueUsd
    this.isQuoteNative = isPriced && paid.inQuote === paid.native && quoteValue === valueNative
  }

  in(unit: number): Paid {
    return this.#row.units.at(unit)
  }

  #set(unit: number, price: Price | undefined, value: Value | undefined): void {
    const paid = this.#row.units.at(unit)
    paid.price = price
    paid.value = value
  }
}

function newCursor(): Cursor<typeof TRADE.fields> {
  return cursorMaker(TRADE)(new Memory(TRADE.stride), () => undefined)
}
