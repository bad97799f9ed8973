import { DAY_MINUTES, WINDOW_MINUTES } from '../../domain/window.ts'
import type { Deeds } from './gathered-trades.ts'
import { type LastVisit, NEVER, NO_VISIT } from './last-visits.ts'
import type { WindowTables } from './tables.ts'

/**
 * Counts distinct wallets. One is counted in a window if it is not there already, that is, if its last trade lies before
 * it. And it belongs to the minute of its last trade: with that one it will leave.
 */
export class Makers {
  readonly #tables: WindowTables

  constructor(tables: WindowTables) {
    this.#tables = tables
  }

  /** A wallet that traded the subject in the running minute. */
  enter(number: number, wallet: number, { bought, sold }: Deeds, minute: number): void {
    const { subjects, minutes, visits } = this.#tables
    const { boughtAt, soldAt } = this.#lastVisit(number, wallet, minute)
    const isBuyer = bought && boughtAt !== minute
    const isSeller = sold && soldAt !== minute
    if (!isBuyer && !isSeller) return
    const tradedAt = Math.max(boughtAt, soldAt)
    const isMaker = tradedAt !== minute
    const visit = { boughtAt: isBuyer ? minute : boughtAt, soldAt: isSeller ? minute : soldAt }
    visits.put(number, wallet, visit)

    const { windows } = subjects.edit(number)
    for (let place = 0; place < WINDOW_MINUTES.length; place++) {
      const window = windows.at(place)
      const lastOutside = minute - (WINDOW_MINUTES[place] as number)
      if (isMaker && tradedAt <= lastOutside) window.makers++
      if (isBuyer && boughtAt <= lastOutside) window.buyers++
      if (isSeller && soldAt <= lastOutside) window.sellers++
    }
    const running = minutes.edit(number, minute)
    if (isMaker) running.makers++
    if (isBuyer) running.buyers++
    if (isSeller) running.sellers++
    if (isMaker && tradedAt !== NEVER) minutes.edit(number, tradedAt).makers--
    if (isBuyer && boughtAt !== NEVER) minutes.edit(number, boughtAt).buyers--
    if (isSeller && soldAt !== NEVER) minutes.edit(number, soldAt).sellers--
  }

  /** Who came to a pair came to its token: until the wallet comes again, that stands with the pair they parted from. */
  #lastVisit(number: number, wallet: number, minute: number): LastVisit {
    const { subjects, visits } = this.#tables
    const known = visits.last(number, wallet)
    if (known !== undefined) return known
    const { partedFrom, partedAt } = subjects.at(number)
    if (partedFrom === undefined || partedAt === undefined) return NO_VISIT
    const isRecent = partedAt > minute - DAY_MINUTES
    return (isRecent ? visits.last(partedFrom, wallet) : undefined) ?? NO_VISIT
  }
}
