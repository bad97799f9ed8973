import type { Interval } from '../ids.ts'

const DAY_SECONDS = 86_400
const WEEK_SECONDS = 7 * DAY_SECONDS
// Weeks start on Monday. 1970-01-01 was a Thursday, so the first Monday of Unix time is four days in.
const FIRST_MONDAY = 4 * DAY_SECONDS

export function intervalSeconds(interval: Interval): number {
  const count = Number(interval.slice(1))
  return interval.startsWith('s') ? count : count * 60
}

/** Start of the candle that contains `time` (Unix seconds, UTC), as the gateway aligns it. */
export function candleStart(interval: Interval, time: number): number {
  const seconds = intervalSeconds(interval)
  const origin = seconds < WEEK_SECONDS ? 0 : FIRST_MONDAY
  return time - ((((time - origin) % seconds) + seconds) % seconds)
}
