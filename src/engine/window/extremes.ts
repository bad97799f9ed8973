import type { Price } from '../../domain/money.ts'
import { DAY_MINUTES } from '../../domain/window.ts'
import type { Minutes } from './minutes.ts'
import { EXTREMES, HIGH, LOW } from './subject-row.ts'
import type { Subject } from './subjects.ts'

type Side = (typeof EXTREMES)[number]

/**
 * The highest and the lowest price of 24 hours. When the minute that had it leaves, the next one has to be known: every
 * minute tells which one before it had a price further out, and those between the two never matter again. Backwards from
 * the last minute this is a chain of ever higher (or lower) prices; its end is the answer.
 */
export class Extremes {
  readonly #minutes: Minutes

  constructor(minutes: Minutes) {
    this.#minutes = minutes
  }

  /** Prices of the running minute. */
  enter(number: number, subject: Subject, minute: number, highUsd: Price, lowUsd: Price): void {
    this.#enter(number, subject, minute, HIGH, highUsd)
    this.#enter(number, subject, minute, LOW, lowUsd)
    subject.lastPricedMinute = minute
  }

  /** A minute is a day ago. */
  leave(number: number, subject: Subject, minute: number): void {
    for (const side of EXTREMES)
      if (subject.extremes.at(side).minute === minute) this.#leave(number, subject, side)
  }

  #enter(number: number, subject: Subject, minute: number, side: Side, price: Price): void {
    const running = this.#minutes.edit(number, minute).extremes.at(side)
    const known = running.usd
    // Within a minute only what is further out counts.
    if (known !== undefined && !isFurtherOut(side, price, known)) return
    let earlier = known === undefined ? subject.lastPricedMinute : running.outdoneBy
    while (earlier !== undefined) {
      if (earlier <= minute - DAY_MINUTES) {
        earlier = undefined
        break
      }
      const { usd, outdoneBy } = this.#minutes.at(number, earlier).extremes.at(side)
      if (usd !== undefined && isFurtherOut(side, usd, price)) break
      earlier = outdoneBy
    }
    running.usd = price
    running.outdoneBy = earlier
    if (earlier === undefined) setExtreme(subject, side, minute, price)
  }

  #leave(number: number, subject: Subject, side: Side): void {
    const gone = subject.extremes.at(side).minute as number
    let left: number | undefined
    let price: Price | undefined
    for (let minute = subject.lastPricedMinute; minute !== undefined && minute > gone; ) {
      const { usd, outdoneBy } = this.#minutes.at(number, minute).extremes.at(side)
      left = minute
      price = usd
      minute = outdoneBy
    }
    setExtreme(subject, side, left, price)
  }
}

function setExtreme(subject: Subject, side: Side, minute: number | undefined, usd: Price | undefined): void {
  const extreme = subject.extremes.at(side)
  extreme.minute = minute
  extreme.usd = usd
}

function isFurtherOut(side: Side, price: Price, than: Price): boolean {
  return side === HIGH ? price > than : price < than
}
