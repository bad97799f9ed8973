import { DAY_MINUTES, WINDOW_MINUTES } from '../../domain/window.ts'
import { type LastVisit, NEVER, NO_VISIT } from './last-visits.ts'
import type { Minute, SubjectMinute } from './minutes.ts'
import type { WindowTables } from './tables.ts'

/**
 * Counts distinct wallets. A wallet is counted in a window if its previous trade is older than the window. It belongs
 * to the minute of its last trade, and expires with it.
 */
export class Makers {
  readonly #tables: WindowTables

  constructor(tables: WindowTables) {
    this.#tables = tables
  }

  /** Adds a wallet that bought or sold the subject in the running minute. */
  enter({ subject, subjectSlot, minute, slot }: SubjectMinute, wallet: number, isBuy: boolean): void {
    const { subjects, minutes, visits } = this.#tables
    const { boughtAt, soldAt } = this.#lastVisit(subject, subjectSlot, wallet, minute)
    const didAt = isBuy ? boughtAt : soldAt
    if (didAt === minute) return
    const tradedAt = Math.max(boughtAt, soldAt)
    const isMaker = tradedAt !== minute
    visits.put(subject, wallet, isBuy ? { boughtAt: minute, soldAt } : { boughtAt, soldAt: minute })

    const { windows } = subjects.edit(subjectSlot)
    for (let place = 0; place < WINDOW_MINUTES.length; place++) {
      const lastOutside = minute - (WINDOW_MINUTES[place] as number)
      // A previous trade within this window is also within all longer ones.
      if (didAt > lastOutside) break
      const window = windows.at(place)
      if (isMaker && tradedAt <= lastOutside) window.makers++
      if (isBuy) window.buyers++
      else window.sellers++
    }
    count(minutes.edit(slot), isMaker, isBuy)
    if (isMaker && tradedAt !== NEVER) minutes.edit(minutes.slotOf(subject, tradedAt)).makers--
    if (didAt === NEVER) return
    const before = minutes.edit(minutes.slotOf(subject, didAt))
    if (isBuy) before.buyers--
    else before.sellers--
  }

  /**
   * Call before trades of the pair that do not count for its token, because they replace the visits that the two shared.
   * Wallets that traded while they did are counted once more when they trade the token again within a day.
   */
  forgetShared(slotOfToken: number, pair: number): void {
    const { subjects } = this.#tables
    if (subjects.at(slotOfToken).partedFrom === pair) subjects.edit(slotOfToken).partedFrom = undefined
  }

  /**
   * A visit to a pair is also one to its token: until the wallet's next visit, it is stored with the pair that the
   * token shared its windows with.
   */
  #lastVisit(number: number, slot: number, wallet: number, minute: number): LastVisit {
    const { subjects, visits } = this.#tables
    const known = visits.last(number, wallet)
    if (known !== undefined) return known
    const { partedFrom, partedAt } = subjects.at(slot)
    if (partedFrom === undefined || partedAt === undefined) return NO_VISIT
    const isRecent = partedAt > minute - DAY_MINUTES
    return (isRecent ? visits.last(partedFrom, wallet) : undefined) ?? NO_VISIT
  }
}

function count(running: Minute, isMaker: boolean, isBuy: boolean): void {
  if (isMaker) running.makers++
  if (isBuy) running.buyers++
  else running.sellers++
}
