import type { WindowSums, Windows } from './change.ts'
import { sumOfValues } from './limits.ts'
import type { Value } from './money.ts'

/** The rolling windows, shortest first, in the order of their wire codes: append only. */
export const WINDOWS = ['1m', '5m', '15m', '1h', '4h', '24h'] as const

export type WindowName = (typeof WINDOWS)[number]

/** How many minutes each takes in: the running one, and those before it. */
export const WINDOW_MINUTES = [1, 5, 15, 60, 240, 1_440] as const satisfies { length: typeof WINDOWS.length }

/** The place of the longest window, and its length: what is older is of no use any more. */
export const DAY_WINDOW = WINDOWS.indexOf('24h')
export const DAY_MINUTES = 1_440

const MINUTE_SECONDS = 60
const DAY_SECONDS = 86_400

/** Minutes since the epoch; all trades of a minute enter and leave a window together. */
export function minuteOf(time: number): number {
  return Math.floor(time / MINUTE_SECONDS)
}

/** Days since the epoch, in UTC. */
export function dayOf(time: number): number {
  return Math.floor(time / DAY_SECONDS)
}

export function sumsOf(windows: Pick<Windows, 'lengths'>, name: WindowName): WindowSums {
  const sums = windows.lengths[WINDOWS.indexOf(name)]
  if (sums === undefined) throw new Error(`there are no sums of ${name}`)
  return sums
}

/** What was bought and sold together; unknown if either is. */
export function volumeOf({ buyUsd, sellUsd }: WindowSums): Value | undefined {
  return sumOfValues(buyUsd, sellUsd)
}

/** What was traded in 24 hours, even if only a part of them is known: to order by, that is good enough. */
export function dayVolume(windows: Windows | undefined): Value | undefined {
  return windows && volumeOf(sumsOf(windows, '24h'))
}

/** The time that trades are known for: from the first block read, or from the birth of what is traded, to the head. */
export type KnownSpan = {
  readonly headTime: number | undefined
  /** Undefined where all trades are known. */
  readonly since: number | undefined
}

/** Whether all trades of the window are known: it began after the first block read. */
export function isWindowKnown(name: WindowName, { headTime, since }: KnownSpan): boolean {
  if (since === undefined || headTime === undefined) return true
  const minutes: number = WINDOW_MINUTES[WINDOWS.indexOf(name)] ?? 0
  return headTime - since >= minutes * MINUTE_SECONDS
}

/** Whether all trades since 00:00 UTC are known. */
export function isDayKnown({ headTime, since }: KnownSpan): boolean {
  return since === undefined || headTime === undefined || since <= dayOf(headTime) * DAY_SECONDS
}
