import type { Candle, CandleValues } from './change.ts'

/**
 * The unit whose values equal those in the quote token: in most pairs the quote token counts as a dollar or is the
 * native coin, so the values need not be stored twice.
 */
export function quoteUnit({ usd, native, quote }: Candle): 'usd' | 'native' | undefined {
  if (quote === undefined) return undefined
  if (isSame(quote, usd)) return 'usd'
  return isSame(quote, native) ? 'native' : undefined
}

function isSame(quote: CandleValues, other: CandleValues | undefined): boolean {
  if (quote === other) return true
  return (
    quote.open === other?.open &&
    quote.high === other.high &&
    quote.low === other.low &&
    quote.close === other.close &&
    quote.volume === other.volume
  )
}
