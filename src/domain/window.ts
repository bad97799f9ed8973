import type { WindowSums, Windows } from './change.ts'
import { sumOfValues } from './limits.ts'
import type { Value } from './money.ts'

/** The rolling windows, shortest first, in the order of their wire codes: append only. */
export const WINDOWS = ['1m', '5m', '15m', '1h', '4h', '24h'] as const

export type WindowName = (typeof WINDOWS)[number]

/** How many minutes each takes in: the running one, and those before it. */
export const WINDOW_MINUTES = [1, 5, 15, 60, 240, 1_440] as const satisfies { length: typeof WINDOWS.length }

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
