/** The candle intervals, in the order of their wire codes: append only. */
export const INTERVALS = ['s1', 'k1', 'k5', 'k15', 'k30', 'k60', 'k120', 'k240', 'k1440', 'k10080'] as const

export type Interval = (typeof INTERVALS)[number]

const DAY_SECONDS = 86_400
const WEEK_SECONDS = 7 * DAY_SECONDS
// Weeks start on Monday. 1970-01-01 was a Thursday, so the first Monday of Unix time is four days in.
const FIRST_MONDAY = 4 * DAY_SECONDS

export function isInterval(text: string): text is Interval {
  return (INTERVALS as readonly string[]).includes(text)
}

export function intervalSeconds(interval: Interval): number {
  const count = Number(interval.slice(1))
  return interval.startsWith('s') ? count : count * 60
}

/** Start of the candle that contains `time` (Unix seconds, UTC). */
export function candleStart(interval: Interval, time: number): number {
  const seconds = intervalSeconds(interval)
  if (seconds < WEEK_SECONDS) return time - (time % seconds)
  const sinceMonday = (((time - FIRST_MONDAY) % WEEK_SECONDS) + WEEK_SECONDS) % WEEK_SECONDS
  return time - sinceMonday
}

/** The interval name in a push: seconds keep their letter, minutes are the bare number. */
export function pushedInterval(interval: Interval): string {
  return interval.startsWith('k') ? interval.slice(1) : interval
}
