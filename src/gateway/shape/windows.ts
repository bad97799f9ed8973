import type { Pair, Token, WindowSums, Windows } from '../../domain/change.ts'
import type { Price } from '../../domain/money.ts'
import { formatFixed, pow10 } from '../../domain/money.ts'
import { dayOf, isDayKnown, isWindowKnown, type KnownSpan, sumsOf, volumeOf } from '../../domain/window.ts'

const PERCENT_DIGITS = 2

/** Times of a chain's head and of the first block that windows include; undefined if unknown. */
export type ChainTimes = { readonly time: number; readonly startTime?: number }

/** Rolling windows and the time from which they are complete. */
export type SeenWindows = KnownSpan & { readonly windows: Windows | undefined }

/** Known since the pair's creation, if windows contain all trades since then. */
export function pairWindows(
  windows: Windows | undefined,
  { createdAt }: Pick<Pair, 'createdAt'>,
  times: ChainTimes | undefined,
): SeenWindows {
  return { windows, headTime: times?.time, since: completeSince(createdAt, times) }
}

/** Known since the token's first transfer, if windows contain all trades since then. */
export function tokenWindows(
  windows: Windows | undefined,
  { origin }: Pick<Token, 'origin'>,
  times: ChainTimes | undefined,
): SeenWindows {
  return { windows, headTime: times?.time, since: completeSince(origin?.time, times) }
}

/** The time from which all trades are known; undefined if that is the creation. */
function completeSince(createdAt: number | undefined, times: ChainTimes | undefined): number | undefined {
  const start = times?.startTime
  return start !== undefined && createdAt !== undefined && createdAt >= start ? undefined : start
}

/** Change in percent; undefined unless both prices are known. */
export function percentChange(now: Price | undefined, before: Price | undefined): string | undefined {
  if (now === undefined || before === undefined || before === 0n) return undefined
  return formatFixed(((now - before) * pow10(2 + PERCENT_DIGITS)) / before, PERCENT_DIGITS)
}

/** Over the last 24 hours. */
export function change24h(seen: SeenWindows): string | undefined {
  return percentChange(seen.windows?.priceUsd, lastDay(seen)?.openUsd)
}

/** Since 00:00 UTC; zero on a day without a trade. */
export function change1d(seen: SeenWindows): string | undefined {
  const { windows, headTime } = seen
  if (windows?.priceUsd === undefined || headTime === undefined || !isDayKnown(seen)) return undefined
  const isToday = windows.day === dayOf(headTime)
  return percentChange(windows.priceUsd, isToday ? windows.dayOpenUsd : windows.priceUsd)
}

export function volume24h(seen: SeenWindows): bigint | undefined {
  const day = lastDay(seen)
  return day && volumeOf(day)
}

export function count24h(seen: SeenWindows): number | undefined {
  const day = lastDay(seen)
  return day && day.buys + day.sells
}

export function makers24h(seen: SeenWindows): number | undefined {
  return lastDay(seen)?.makers
}

export function amount24h(seen: SeenWindows): bigint | undefined {
  return lastDay(seen) && seen.windows?.amountRaw
}

export function high24h(seen: SeenWindows): Price | undefined {
  return lastDay(seen) && seen.windows?.highUsd
}

export function low24h(seen: SeenWindows): Price | undefined {
  return lastDay(seen) && seen.windows?.lowUsd
}

function lastDay(seen: SeenWindows): WindowSums | undefined {
  return seen.windows && isWindowKnown('24h', seen) ? sumsOf(seen.windows, '24h') : undefined
}
