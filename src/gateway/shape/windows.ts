import type { Windows } from '../../domain/change.ts'
import type { Price } from '../../domain/money.ts'
import { formatFixed, pow10 } from '../../domain/money.ts'
import { dayOf, sumsOf, volumeOf } from '../../domain/window.ts'

const PERCENT_DIGITS = 2

/** By how many percent points a price is above what it was; unknown unless both are known. */
export function percentChange(now: Price | undefined, before: Price | undefined): string | undefined {
  if (now === undefined || before === undefined || before === 0n) return undefined
  return formatFixed(((now - before) * pow10(2 + PERCENT_DIGITS)) / before, PERCENT_DIGITS)
}

/** Over the last 24 hours. */
export function change24h(windows: Windows | undefined): string | undefined {
  return windows && percentChange(windows.priceUsd, sumsOf(windows, '24h').openUsd)
}

/** Since 00:00 UTC; a day without a trade has changed nothing. */
export function change1d(windows: Windows | undefined, headTime: number | undefined): string | undefined {
  if (windows?.priceUsd === undefined || headTime === undefined) return undefined
  const isToday = windows.day === dayOf(headTime)
  return percentChange(windows.priceUsd, isToday ? windows.dayOpenUsd : windows.priceUsd)
}

export function volume24h(windows: Windows | undefined): bigint | undefined {
  return windows && volumeOf(sumsOf(windows, '24h'))
}

export function count24h(windows: Windows | undefined): number | undefined {
  if (windows === undefined) return undefined
  const { buys, sells } = sumsOf(windows, '24h')
  return buys + sells
}
