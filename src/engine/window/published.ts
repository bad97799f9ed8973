import type { WindowSums, Windows } from '../../domain/change.ts'
import { boundedAmount, boundedValue, MAX_FIXED } from '../../domain/limits.ts'
import { WINDOWS } from '../../domain/window.ts'
import { u256, u320 } from '../../state/layout.ts'
import { compare, compareLimbs, isZeroLimbs, writeBigint } from '../../state/limbs.ts'
import { Memory } from '../../state/memory.ts'
import type { ByteWriter } from '../../wire/byte-writer.ts'
import { NO_BUY, NO_OPEN, NO_SELL, SAME_OPEN, SAME_SUMS } from '../../wire/windows-codec.ts'
import { EXTREMES, HIGH, LOW } from './subject-row.ts'
import type { ReadSubject } from './subjects.ts'

const maxFixed = new Memory(u256.limbs)
writeBigint(maxFixed, 0, MAX_FIXED)

/** As others see them: a sum that does not fit its type is unknown, and exact again as soon as it fits. */
export function published(subject: ReadSubject): Windows {
  return {
    pair: subject.pair,
    token: subject.token,
    lengths: WINDOWS.map((_, place) => sumsOf(subject, place)),
    amountRaw: boundedAmount(subject.amountRaw),
    highUsd: subject.extremes.at(HIGH).usd,
    lowUsd: subject.extremes.at(LOW).usd,
    priceUsd: subject.priceUsd,
    day: subject.day,
    dayOpenUsd: subject.dayOpenUsd,
  }
}

function sumsOf(subject: ReadSubject, place: number): WindowSums {
  const { buyUsd, sellUsd, buys, sells, makers, buyers, sellers, openUsd } = subject.windows.at(place)
  return {
    buyUsd: boundedValue(buyUsd),
    sellUsd: boundedValue(sellUsd),
    ...{ buys, sells, makers, buyers, sellers, openUsd },
  }
}

/** The bytes that `writeWindows` makes of `published`, straight from the row. */
export function writePublished(w: ByteWriter, subject: ReadSubject): void {
  const { words } = subject
  w.bool(subject.hasPair)
  if (subject.hasPair) w.idWords(words, subject.pairAt)
  w.bool(subject.hasToken)
  if (subject.hasToken) w.idWords(words, subject.tokenAt)
  for (let place = 0; place < WINDOWS.length; place++) writeSums(w, subject, place)
  const isAmount = isZeroLimbs(words, subject.amountRawAt + u256.limbs, u320.limbs - u256.limbs)
  w.bool(isAmount)
  if (isAmount) w.limbs(words, subject.amountRawAt)
  for (const side of EXTREMES) {
    const { hasUsd, usdAt } = subject.extremes.at(side)
    writePrice(w, words, hasUsd, usdAt)
  }
  writePrice(w, words, subject.hasPriceUsd, subject.priceUsdAt)
  w.varuint(subject.day)
  writePrice(w, words, subject.hasDayOpenUsd, subject.dayOpenUsdAt)
}

function writePrice(w: ByteWriter, words: Uint32Array, isKnown: boolean, at: number): void {
  w.bool(isKnown)
  if (isKnown) w.limbs(words, at)
}

function writeSums(w: ByteWriter, subject: ReadSubject, place: number): void {
  const { words, windows } = subject
  const window = windows.at(place)
  const { buys, sells, hasOpenUsd, openUsdAt } = window
  let isSameOpen = false
  if (place > 0) {
    const shorter = windows.at(place - 1)
    // A longer window has all trades of a shorter one: with as many, they are the same trades, and began after the same.
    if (shorter.buys === buys && shorter.sells === sells) {
      w.u8(SAME_SUMS | SAME_OPEN)
      return
    }
    isSameOpen =
      shorter.hasOpenUsd === hasOpenUsd && compare(words, shorter.openUsdAt, words, openUsdAt) === 0
    windows.at(place)
  }
  const { buyUsdAt, sellUsdAt } = window
  const [isBuyKnown, isSellKnown] = [isValue(words, buyUsdAt), isValue(words, sellUsdAt)]
  const open = isSameOpen ? SAME_OPEN : hasOpenUsd ? 0 : NO_OPEN
  w.u8(open | (isBuyKnown ? 0 : NO_BUY) | (isSellKnown ? 0 : NO_SELL))
  if (isBuyKnown) w.limbs(words, buyUsdAt)
  if (isSellKnown) w.limbs(words, sellUsdAt)
  w.varuint(buys)
  w.varuint(sells)
  w.varuint(window.makers)
  w.varuint(window.buyers)
  w.varuint(window.sellers)
  if (open === 0) w.limbs(words, openUsdAt)
}

/** Whether a sum fits its type. */
function isValue(words: Uint32Array, at: number): boolean {
  return compareLimbs(words, at, u320.limbs, maxFixed.words, 0, u256.limbs) <= 0
}
