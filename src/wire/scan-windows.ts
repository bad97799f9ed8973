import { WINDOWS } from '../domain/window.ts'
import { WINDOWS_LAYOUT } from './change-layouts.ts'
import { FIRST_FIELD } from './record-layout.ts'
import { type RecordScanner, unreadable } from './record-scanner.ts'
import {
  isPossibleWindow,
  NO_BUY,
  NO_OPEN,
  NO_SELL,
  ONCE_EACH,
  OWN_PRICE,
  SAME_BUYS,
  SAME_MAKERS,
  SAME_OPEN,
  SAME_PRICE,
  SAME_SELLS,
  UNKNOWN_PRICE,
} from './windows-codec.ts'

const { slots } = WINDOWS_LAYOUT
const FIRST_SUMS = slots['1mBuyUsd']
/** Slots per window, and their order. */
const SUMS = 8
const [BUY_USD, SELL_USD, BUYS, SELLS, MAKERS, BUYERS, SELLERS, OPEN] = [0, 1, 2, 3, 4, 5, 6, 7] as const
const { priceUsd, amountRaw, highUsd, lowUsd, day, dayOpenUsd } = slots
/** The slots of prices that a later one may repeat, in the order of the document. */
const PRICES = [
  priceUsd,
  ...WINDOWS.map((_, at) => FIRST_SUMS + at * SUMS + OPEN),
  ...[highUsd, lowUsd, dayOpenUsd],
]

export function scanWindows(scanner: RecordScanner): void {
  const base = scanner.begin(WINDOWS_LAYOUT)
  const { places } = scanner
  scanner.fields(WINDOWS_LAYOUT, base + FIRST_FIELD, 0, FIRST_SUMS - FIRST_FIELD)
  // The last byte of a message is 0, which reads as 0 in every encoding.
  const zeroAt = scanner.bytes.length - 1
  for (let at = 0; at < WINDOWS.length; at++) {
    const slot = base + FIRST_SUMS + at * SUMS
    // For so few slots, a loop is faster than `fill` and `copyWithin`.
    for (let i = slot; i < slot + OPEN; i++) places[i] = at === 0 ? zeroAt : (places[i - SUMS] as number)
    scanSums(scanner, slot, base + (PRICES[at] as number))
  }
  scanner.fields(WINDOWS_LAYOUT, base + amountRaw, amountRaw - FIRST_FIELD, highUsd - FIRST_FIELD)
  scanPrice(scanner, base, highUsd)
  scanPrice(scanner, base, lowUsd)
  places[base + day] = scanner.passVaruint()
  scanPrice(scanner, base, dayOpenUsd)
  scanner.end(base)
}

/** The slots already hold the offsets of the next shorter window, which omitted fields keep. */
function scanSums(scanner: RecordScanner, slot: number, openBefore: number): void {
  const { places } = scanner
  const flags = scanner.byte()
  if (!isPossibleWindow(flags)) throw unreadable(`a window cannot begin with ${flags}`)
  const isOnceEach = (flags & ONCE_EACH) !== 0
  if (!(flags & SAME_BUYS)) {
    places[slot + BUY_USD] = flags & NO_BUY ? 0 : scanner.passBiguint()
    const buys = scanner.passVaruint()
    places[slot + BUYS] = buys
    places[slot + BUYERS] = isOnceEach ? buys : scanner.passVaruint()
  }
  if (!(flags & SAME_SELLS)) {
    places[slot + SELL_USD] = flags & NO_SELL ? 0 : scanner.passBiguint()
    const sells = scanner.passVaruint()
    places[slot + SELLS] = sells
    places[slot + SELLERS] = isOnceEach ? sells : scanner.passVaruint()
  }
  if (!(flags & SAME_MAKERS)) places[slot + MAKERS] = scanner.passVaruint()
  if (flags & SAME_OPEN) places[slot + OPEN] = places[openBefore] as number
  else if (!(flags & NO_OPEN)) places[slot + OPEN] = scanner.passBiguint()
}

function scanPrice(scanner: RecordScanner, base: number, slot: number): void {
  const { places } = scanner
  const code = scanner.byte()
  if (code === UNKNOWN_PRICE) return
  if (code === OWN_PRICE) {
    places[base + slot] = scanner.passBiguint()
    return
  }
  const same = PRICES[code - SAME_PRICE]
  // The slots of this price and of later ones are still empty.
  const at = same === undefined ? 0 : (places[base + same] as number)
  if (at === 0) throw unreadable(`no price at place ${code - SAME_PRICE}`)
  places[base + slot] = at
}
