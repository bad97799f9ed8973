import type { Price } from '../../domain/money.ts'
import { WINDOW_MINUTES } from '../../domain/window.ts'
import { scratchRow } from '../../state/cursor.ts'
import { copy } from '../../state/limbs.ts'
import type { PairTrades } from './gathered-trades.ts'
import type { Minute } from './minutes.ts'
import { HIGH, LOW } from './subject-row.ts'
import type { Subject } from './subjects.ts'
import { addSum, ENTERING } from './sums.ts'

/** The sums and prices of the trades that are being added; one row for all, overwritten by the next trades. */
export const entering = scratchRow(ENTERING)

export function setEntering({ buyUsd, sellUsd, amountRaw, highUsd, lowUsd }: PairTrades): void {
  entering.buyUsd = buyUsd
  entering.sellUsd = sellUsd
  entering.amountRaw = amountRaw
  entering.extremes.at(HIGH).usd = highUsd
  entering.extremes.at(LOW).usd = lowUsd
}

export function addToMinute(running: Minute, { buys, sells }: PairTrades): void {
  addSum(running.words, running.buyUsdAt, entering.words, entering.buyUsdAt)
  addSum(running.words, running.sellUsdAt, entering.words, entering.sellUsdAt)
  addSum(running.words, running.amountRawAt, entering.words, entering.amountRawAt)
  running.buys += buys
  running.sells += sells
  if (!entering.hasCloseUsd) return
  running.hasCloseUsd = true
  copy(running.words, running.closeUsdAt, entering.words, entering.closeUsdAt)
}

export function addToWindows(subject: Subject, { buys, sells }: PairTrades): void {
  for (let place = 0; place < WINDOW_MINUTES.length; place++) {
    const window = subject.windows.at(place)
    if (buys > 0) addSum(subject.words, window.buyUsdAt, entering.words, entering.buyUsdAt)
    if (sells > 0) addSum(subject.words, window.sellUsdAt, entering.words, entering.sellUsdAt)
    window.buys += buys
    window.sells += sells
    if (!entering.hasCloseUsd || window.hasOpenUsd) continue
    window.hasOpenUsd = true
    copy(subject.words, window.openUsdAt, entering.words, entering.closeUsdAt)
  }
  addSum(subject.words, subject.amountRawAt, entering.words, entering.amountRawAt)
}

/** Sets the price to the block's close; on a new day, the previous price is the day's open. */
export function setPrice(subject: Subject, day: number): void {
  const { words } = subject
  if (subject.day !== day) {
    subject.day = day
    subject.hasDayOpenUsd = subject.hasPriceUsd
    copy(words, subject.dayOpenUsdAt, words, subject.priceUsdAt)
  }
  if (!entering.hasCloseUsd) return
  if (!subject.hasDayOpenUsd) {
    subject.hasDayOpenUsd = true
    copy(words, subject.dayOpenUsdAt, entering.words, entering.closeUsdAt)
  }
  subject.hasPriceUsd = true
  copy(words, subject.priceUsdAt, entering.words, entering.closeUsdAt)
}

/** Sets the price, and the open of all windows, as if a trade with this close had just expired. */
export function setOpen(subject: Subject, closeUsd: Price | undefined, day: number): void {
  entering.closeUsd = closeUsd
  setPrice(subject, day)
  if (closeUsd === undefined) return
  for (let place = 0; place < WINDOW_MINUTES.length; place++) {
    const window = subject.windows.at(place)
    window.hasOpenUsd = true
    copy(subject.words, window.openUsdAt, entering.words, entering.closeUsdAt)
  }
}
