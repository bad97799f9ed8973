import type { Candle, CandleValues } from '../../domain/change.ts'
import { INTERVALS } from '../../domain/interval.ts'
import type { ReadRow, Row } from '../../state/cursor.ts'
import { flag, layout, optional, repeated, u32, u256 } from '../../state/layout.ts'

/** The units of a candle's prices and volumes. */
export const UNITS = ['usd', 'native', 'quote'] as const
export const [USD, NATIVE, QUOTE] = [0, 1, 2] as const

const VALUES = {
  /** Whether any of its trades had a price in this unit. */
  isKnown: flag,
  open: u256,
  high: u256,
  low: u256,
  /** Unknown once it, or the value of a trade, exceeds the limit. */
  volume: optional(u256),
} as const

const CANDLE = {
  start: u32,
  /** The next shorter candle has the same trades: the fields below are stored there only. */
  isSame: flag,
  tradeCount: u32,
  firstBlock: u32,
  firstTx: u32,
  firstLog: u32,
  /** All trades had the same value in the quote asset as in this unit, so the values are stored once, in this unit. */
  isQuoteUsd: flag,
  isQuoteNative: flag,
  units: repeated(UNITS.length, VALUES),
} as const

const CLOSE = { price: u256 } as const

/**
 * The newest candle of every interval of a pair. All share one last trade and one close, because every candle ends with
 * the pair's latest trade.
 */
export const CANDLES = layout({
  lastBlock: u32,
  lastTx: u32,
  lastLog: u32,
  closes: repeated(UNITS.length, CLOSE),
  candles: repeated(INTERVALS.length, CANDLE),
})

export type CloseRow = Row<typeof CLOSE>
export type ReadCloseRow = ReadRow<typeof CLOSE>
export type ValuesRow = Row<typeof VALUES>
export type ReadValuesRow = ReadRow<typeof VALUES>
export type CandleRow = Row<typeof CANDLE>
export type ReadCandleRow = ReadRow<typeof CANDLE>
export type CandlesRow = Row<typeof CANDLES.fields>
export type ReadCandlesRow = ReadRow<typeof CANDLES.fields>

/** Decodes the candles, to publish them again after an undo. */
export function candlesOf(row: ReadCandlesRow, pair: string): Candle[] {
  const candles: Candle[] = []
  const lastTrade = { block: row.lastBlock, tx: row.lastTx, log: row.lastLog }
  for (const [at, interval] of INTERVALS.entries()) {
    const candle = row.candles.at(at)
    const shorter = candles.at(-1)
    if (candle.isSame && shorter !== undefined) candles.push({ ...shorter, interval, start: candle.start })
    else
      candles.push({
        pair,
        interval,
        start: candle.start,
        usd: valuesOf(row, candle, USD),
        native: valuesOf(row, candle, NATIVE),
        quote: valuesOf(row, candle, unitOfQuote(candle)),
        tradeCount: candle.tradeCount,
        firstTrade: { block: candle.firstBlock, tx: candle.firstTx, log: candle.firstLog },
        lastTrade,
      })
  }
  return candles
}

/** The unit that stores the values in the quote asset. */
export function unitOfQuote({ isQuoteUsd, isQuoteNative }: ReadCandleRow): number {
  return isQuoteUsd ? USD : isQuoteNative ? NATIVE : QUOTE
}

function valuesOf(row: ReadCandlesRow, candle: ReadCandleRow, unit: number): CandleValues | undefined {
  const { isKnown, open, high, low, volume } = candle.units.at(unit)
  return isKnown ? { open, high, low, close: row.closes.at(unit).price, volume } : undefined
}
