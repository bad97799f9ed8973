import type { WindowSums, Windows } from '../../domain/change.ts'
import { boundedAmount, boundedValue, MAX_FIXED } from '../../domain/limits.ts'
import { WINDOWS } from '../../domain/window.ts'
import { u256, u320 } from '../../state/layout.ts'
import { compare, compareLimbs, isZeroLimbs, writeBigint } from '../../state/limbs.ts'
import { Memory } from '../../state/memory.ts'
import type { ByteWriter } from '../../wire/byte-writer.ts'
import {
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
} from '../../wire/windows-codec.ts'
import { EXTREMES, HIGH, LOW } from './subject-row.ts'
import type { ReadSubject } from './subjects.ts'

const maxFixed = new Memory(u256.limbs)
writeBigint(maxFixed, 0, MAX_FIXED)

/** The published form: a sum beyond its type's range is unknown, and exact again once it fits. */
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

/** Writes the bytes that `writeWindows` writes for `published`, straight from the row. */
export function writePublished(w: ByteWriter, subject: ReadSubject): void {
  const { words, windows } = subject
  w.bool(subject.hasPair)
  if (subject.hasPair) w.idWords(words, subject.pairAt)
  w.bool(subject.hasToken)
  if (subject.hasToken) w.idWords(words, subject.tokenAt)
  w.bool(subject.hasPriceUsd)
  if (subject.hasPriceUsd) w.limbs(words, subject.priceUsdAt)
  knownAt.length = 0
  knownAt.push(subject.hasPriceUsd ? subject.priceUsdAt : NO_PRICE)
  for (let place = 0; place < WINDOWS.length; place++) {
    writeSums(w, subject, place)
    const { hasOpenUsd, openUsdAt } = windows.at(place)
    knownAt.push(hasOpenUsd ? openUsdAt : NO_PRICE)
  }
  const isAmount = isZeroLimbs(words, subject.amountRawAt + u256.limbs, u320.limbs - u256.limbs)
  w.bool(isAmount)
  if (isAmount) w.limbs(words, subject.amountRawAt)
  for (const side of EXTREMES) {
    const { hasUsd, usdAt } = subject.extremes.at(side)
    writePrice(w, words, hasUsd, usdAt)
  }
  w.varuint(subject.day)
  writePrice(w, words, subject.hasDayOpenUsd, subject.dayOpenUsdAt)
}

const NO_PRICE = -1
/** Word offsets of the document's prices in the row, in document order. */
const knownAt: number[] = []

function writePrice(w: ByteWriter, words: Uint32Array, isKnown: boolean, at: number): void {
  if (!isKnown) {
    w.u8(UNKNOWN_PRICE)
    knownAt.push(NO_PRICE)
    return
  }
  for (let place = 0; place < knownAt.length; place++) {
    const other = knownAt[place] as number
    if (other !== NO_PRICE && compare(words, other, words, at) === 0) {
      w.u8(SAME_PRICE + place)
      knownAt.push(at)
      return
    }
  }
  w.u8(OWN_PRICE)
  w.limbs(words, at)
  knownAt.push(at)
}

/**
 * A longer window contains all trades of a shorter one, so an equal count of buys, sells or wallets means the same
 * ones. The shortest window is compared with an empty one.
 */
function writeSums(w: ByteWriter, subject: ReadSubject, place: number): void {
  const { words, windows } = subject
  const { buys, sells, makers, buyers, sellers } = windows.at(place)
  let [isSameBuys, isSameSells, isSameMakers] = [buys === 0, sells === 0, makers === 0]
  if (place > 0) {
    const shorter = windows.at(place - 1)
    isSameBuys = shorter.buys === buys
    isSameSells = shorter.sells === sells
    isSameMakers = shorter.makers === makers
  }
  const { hasOpenUsd, openUsdAt, buyUsdAt, sellUsdAt } = windows.at(place)
  const openBefore = knownAt[place] as number
  const isSameOpen = hasOpenUsd
    ? openBefore !== NO_PRICE && compare(words, openBefore, words, openUsdAt) === 0
    : openBefore === NO_PRICE
  const isOnceEach =
    !(isSameBuys && isSameSells) && (isSameBuys || buyers === buys) && (isSameSells || sellers === sells)
  const isBuyKnown = isSameBuys || isValue(words, buyUsdAt)
  const isSellKnown = isSameSells || isValue(words, sellUsdAt)
  const open = isSameOpen ? SAME_OPEN : hasOpenUsd ? 0 : NO_OPEN
  w.u8(
    (isSameBuys ? SAME_BUYS : isBuyKnown ? 0 : NO_BUY) |
      (isSameSells ? SAME_SELLS : isSellKnown ? 0 : NO_SELL) |
      (isSameMakers ? SAME_MAKERS : 0) |
      (isOnceEach ? ONCE_EACH : 0) |
      open,
  )
  if (!isSameBuys) {
    if (isBuyKnown) w.limbs(words, buyUsdAt)
    w.varuint(buys)
    if (!isOnceEach) w.varuint(buyers)
  }
  if (!isSameSells) {
    if (isSellKnown) w.limbs(words, sellUsdAt)
    w.varuint(sells)
    if (!isOnceEach) w.varuint(sellers)
  }
  if (!isSameMakers) w.varuint(makers)
  if (open === 0) w.limbs(words, openUsdAt)
}

/** Whether a sum fits its type. */
function isValue(words: Uint32Array, at: number): boolean {
  return compareLimbs(words, at, u320.limbs, maxFixed.words, 0, u256.limbs) <= 0
}
