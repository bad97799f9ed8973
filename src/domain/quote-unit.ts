import type { Candle, CandleValues } from './change.ts'

/**
 * The unit whose values equal those in the quote token: in most pairs the quote token counts as a dollar or is the
 * native coin, so the values need not be stored twice.
 */
export function quoteUnit({ usd, native, quote }: Candle): 'usd' | 'native' | undefined {
  if (quote === undefined) return undefined
  if (sameValues(quote, usd)) return 'usd'
  return sameValues(quote, native) ? 'native' : undefined
}

export function sameValues(a: CandleValues | undefined, b: CandleValues | undefined): boolean {
  // Decoded candles share objects, which makes this the usual case.
  if (a === b) return true
  return (
    a?.open === b?.open &&
    a?.high === b?.high &&
    a?.low === b?.low &&
    a?.close === b?.close &&
    a?.volume === b?.volume
  )
}
