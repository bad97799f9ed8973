import { WINDOWS } from '../domain/window.ts'
import { WINDOWS_LAYOUT } from './change-layouts.ts'
import { FIRST_FIELD } from './record-layout.ts'
import { type RecordScanner, unreadable } from './record-scanner.ts'
import { isPossibleWindow, NO_BUY, NO_OPEN, NO_SELL, SAME_OPEN, SAME_SUMS } from './windows-codec.ts'

const { slots, operations } = WINDOWS_LAYOUT
const FIRST_SUMS = slots['1mBuyUsd']
const AFTER_SUMS = slots.amountRaw
/** Fields per window: bought and sold dollars, five counts, and the opening price. */
const SUMS = 8
const [SELL, COUNTS, OPEN] = [1, 2, 7] as const

export function scanWindows(scanner: RecordScanner): void {
  const base = scanner.begin(WINDOWS_LAYOUT)
  scanner.fields(WINDOWS_LAYOUT, base + FIRST_FIELD, 0, FIRST_SUMS - FIRST_FIELD)
  for (let at = 0; at < WINDOWS.length; at++) scanSums(scanner, base + FIRST_SUMS + at * SUMS, at > 0)
  scanner.fields(WINDOWS_LAYOUT, base + AFTER_SUMS, AFTER_SUMS - FIRST_FIELD, operations.length)
  scanner.end(base)
}

function scanSums(scanner: RecordScanner, slot: number, hasPrevious: boolean): void {
  const { places } = scanner
  const flags = scanner.byte()
  if (!isPossibleWindow(flags, hasPrevious)) throw unreadable(`a window cannot begin with ${flags}`)
  if (flags & SAME_SUMS) places.copyWithin(slot, slot - SUMS, slot - SUMS + OPEN)
  else {
    if (!(flags & NO_BUY)) places[slot] = scanner.passBiguint()
    if (!(flags & NO_SELL)) places[slot + SELL] = scanner.passBiguint()
    for (let at = COUNTS; at < OPEN; at++) places[slot + at] = scanner.passVaruint()
  }
  if (flags & SAME_OPEN) places[slot + OPEN] = places[slot + OPEN - SUMS] as number
  else if (!(flags & NO_OPEN)) places[slot + OPEN] = scanner.passBiguint()
}
