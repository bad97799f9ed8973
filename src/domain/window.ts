import type { WindowSums, Windows } from './change.ts'
import { sumOfValues } from './limits.ts'
import type { Value } from './money.ts'

/** The rolling windows, shortest first, in the order of their wire codes: append only. */
export const WINDOWS = ['1m', '5m', '15m', '1h', '4h', '24h'] as const

export type WindowName = (typeof WINDOWS)[number]

/** Length of each window in minutes, including the current one. */
export const WINDOW_MINUTES = [1, 5, 15, 60, 240, 1_440] as const satisfies { length: typeof WINDOWS.length }

/** Index and length of the longest window; older minutes are dropped. */
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

/** Purchases and sales; unknown if either is. */
export function volumeOf({ buyUsd, sellUsd }: WindowSums): Value | undefined {
  return sumOfValues(buyUsd, sellUsd)
}

/** Trading volume of 24 hours, even if only part of them is known: good enough for sorting. */
export function dayVolume(windows: Windows | undefined): Value | undefined {
  return windows && volumeOf(sumsOf(windows, '24h'))
}

/**
 * The time span with known trades: from the first block read, or the creation of the pair or token if later, to the
 * head.
 */
export type KnownSpan = {
  readonly headTime: number | undefined
  /** Undefined if all trades are known. */
  readonly since: number | undefined
}

/** True if the window began after the first block read. */
export function isWindowKnown(name: WindowName, { headTime, since }: KnownSpan): boolean {
  if (since === undefined || headTime === undefined) return true
  const minutes: number = WINDOW_MINUTES[WINDOWS.indexOf(name)] ?? 0
  return headTime - since >= minutes * MINUTE_SECONDS
}

/** True if all trades since 00:00 UTC are known. */
export function isDayKnown({ headTime, since }: KnownSpan): boolean {
  return since === undefined || headTime === undefined || since <= dayOf(headTime) * DAY_SECONDS
}
