import { DAY_MINUTES } from '../../domain/window.ts'
import { compare, copy } from '../../state/limbs.ts'
import type { Minutes, SubjectMinute } from './minutes.ts'
import { EXTREMES, HIGH } from './subject-row.ts'
import type { Subject } from './subjects.ts'
import type { ReadEntering } from './sums.ts'

type Side = (typeof EXTREMES)[number]
/** The words that hold a price. */
type UsdPrice = { readonly words: Uint32Array; readonly usdAt: number }

/**
 * The highest and the lowest price of 24 hours. When the minute with an extreme expires, the next one must be found:
 * every minute links to the latest earlier minute with a more extreme price, and the minutes between the two never
 * matter again. Followed back from the last minute, the links form a chain of ever higher (or lower) prices; its end is
 * the extreme.
 */
export class Extremes {
  readonly #minutes: Minutes

  constructor(minutes: Minutes) {
    this.#minutes = minutes
  }

  /** Prices of the running minute. */
  enter(running: SubjectMinute, subject: Subject, entering: ReadEntering): void {
    for (const side of EXTREMES) this.#enter(running, subject, side, entering.extremes.at(side))
    subject.lastPricedMinute = running.minute
  }

  /** Removes an expired minute. */
  leave({ subject: number, minute }: SubjectMinute, subject: Subject): void {
    for (const side of EXTREMES)
      if (subject.extremes.at(side).minute === minute) this.#leave(number, subject, side)
  }

  #enter(
    { subject: number, minute, slot }: SubjectMinute,
    subject: Subject,
    side: Side,
    price: UsdPrice,
  ): void {
    const running = this.#minutes.edit(slot).extremes.at(side)
    // Within a minute, only a more extreme price changes anything.
    if (running.hasUsd && !isFurtherOut(side, price, running)) return
    let earlier = running.hasUsd ? running.outdoneBy : subject.lastPricedMinute
    let from = slot
    while (earlier !== undefined && earlier > minute - DAY_MINUTES) {
      from = this.#minutes.slotBefore(number, from, earlier)
      const there = this.#minutes.at(from).extremes.at(side)
      if (there.hasUsd && isFurtherOut(side, there, price)) break
      earlier = there.outdoneBy
    }
    if (earlier !== undefined && earlier <= minute - DAY_MINUTES) earlier = undefined
    running.hasUsd = true
    copy(running.words, running.usdAt, price.words, price.usdAt)
    running.outdoneBy = earlier
    if (earlier === undefined) setExtreme(subject, side, minute, price)
  }

  #leave(number: number, subject: Subject, side: Side): void {
    const gone = subject.extremes.at(side).minute as number
    let left: number | undefined
    let slot = subject.lastSlot
    for (let minute = subject.lastPricedMinute; minute !== undefined && minute > gone; ) {
      slot =
        left === undefined
          ? this.#minutes.slotOf(number, minute, slot)
          : this.#minutes.slotBefore(number, slot, minute)
      left = minute
      minute = this.#minutes.at(slot).extremes.at(side).outdoneBy
    }
    if (left === undefined) {
      const extreme = subject.extremes.at(side)
      extreme.minute = undefined
      extreme.usd = undefined
    } else setExtreme(subject, side, left, this.#minutes.at(slot).extremes.at(side))
  }
}

function setExtreme(subject: Subject, side: Side, minute: number, { words, usdAt }: UsdPrice): void {
  const extreme = subject.extremes.at(side)
  extreme.minute = minute
  extreme.hasUsd = true
  copy(subject.words, extreme.usdAt, words, usdAt)
}

function isFurtherOut(side: Side, price: UsdPrice, than: UsdPrice): boolean {
  const order = compare(price.words, price.usdAt, than.words, than.usdAt)
  return side === HIGH ? order > 0 : order < 0
}
