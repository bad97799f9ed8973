import { BALANCE } from './change-layouts.ts'
import { FIRST_FIELD } from './record-layout.ts'
import type { RecordScanner } from './record-scanner.ts'

const { amountRaw, beforeRaw, magnitude, magnitudeBefore } = BALANCE.slots
/** Both magnitudes are computed, not read. */
const READ = magnitude - FIRST_FIELD
const STEP_BITS = 4

export function scanBalance(scanner: RecordScanner): void {
  const base = scanner.begin(BALANCE)
  scanner.fields(BALANCE, base + FIRST_FIELD, 0, READ)
  const { bytes, places } = scanner
  places[base + magnitude] = magnitudeAt(bytes, places[base + amountRaw] as number)
  places[base + magnitudeBefore] = magnitudeAt(bytes, places[base + beforeRaw] as number)
  scanner.end(base)
}

/** `magnitudeOf` the signed number at this offset: its bit length and the four bits after the first. */
export function magnitudeAt(bytes: Uint8Array, at: number): number {
  const isNegative = bytes[at] !== 0
  const size = bytes[at + 1] as number
  if (isNegative || size === 0) return 0
  const top = at + 1 + size
  const high = bytes[top] as number
  const topBits = 32 - Math.clz32(high)
  const bits = topBits + (size - 1) * 8
  const low = size > 1 ? (bytes[top - 1] as number) : 0
  const rest = (((high << 8) | low) << STEP_BITS) >>> (topBits + 7)
  return (bits << STEP_BITS) | (rest & 0xf)
}
