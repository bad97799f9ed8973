import type { ReadRow } from '../../state/cursor.ts'
import { layout, optional, repeated, u256, u320 } from '../../state/layout.ts'
import { addTo, subtractFrom } from '../../state/limbs.ts'
import { EXTREMES } from './subject-row.ts'

/**
 * Sums of a window are exact. A trade's value and amount are below 2^256, and a window has less than 2^33 trades,
 * because a count beyond 32 bits throws: no sum reaches 2^289, and there is room for 2^320. Limits apply when a sum is
 * published, see `published.ts`.
 */
const { limbs: LIMBS } = u320

export function addSum(to: Uint32Array, at: number, from: Uint32Array, fromAt: number): void {
  if (addTo(to, at, LIMBS, from, fromAt, LIMBS) !== 0) throw new RangeError('a sum is beyond 320 bits')
}

export function subtractSum(to: Uint32Array, at: number, from: Uint32Array, fromAt: number): void {
  if (subtractFrom(to, at, LIMBS, from, fromAt, LIMBS) !== 0) throw new RangeError('more left than came')
}

/** Entering trades in row encoding: sums are added to a minute and to every window, prices are compared. */
export const ENTERING = layout({
  buyUsd: u320,
  sellUsd: u320,
  amountRaw: u320,
  closeUsd: optional(u256),
  extremes: repeated(EXTREMES.length, { usd: optional(u256) }),
})

export type ReadEntering = ReadRow<typeof ENTERING.fields>
