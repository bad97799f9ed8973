import type { WindowsRef } from '../../domain/change.ts'
import type { Price } from '../../domain/money.ts'
import { DAY_MINUTES, DAY_WINDOW, dayOf, minuteOf, WINDOW_MINUTES } from '../../domain/window.ts'
import { copy } from '../../state/limbs.ts'
import { NONE } from '../../state/slot-index.ts'
import type { ChangeSetWriter } from '../../wire/change-set-writer.ts'
import { addToMinute, addToWindows, entering, setEntering, setOpen, setPrice } from './entering.ts'
import { Extremes } from './extremes.ts'
import { ALL_PAIRS, type PairTrades } from './gathered-trades.ts'
import { Makers } from './makers.ts'
import type { SubjectMinute } from './minutes.ts'
import { writePublished } from './published.ts'
import { HIGH } from './subject-row.ts'
import type { Subject } from './subjects.ts'
import { subtractSum } from './sums.ts'
import type { WindowTables } from './tables.ts'

const ONLY = 'only'

/**
 * Advances the sliding windows by one block: expired minutes leave, new trades enter. Only subjects that were traded in
 * an expiring minute are visited; idle ones cost nothing.
 */
export class WindowFold {
  readonly #tables: WindowTables
  readonly #time: number
  readonly #isQuoteAsset: (token: string) => boolean
  readonly #changedAssets: readonly string[]
  readonly #hasRoutes: boolean
  readonly #makers: Makers
  readonly #extremes: Extremes
  /** Slots of the subjects whose windows changed. */
  readonly #touched = new Set<number>()
  #minute = 0
  #isEmptying = false

  constructor(
    tables: WindowTables,
    time: number,
    isQuoteAsset: (token: string) => boolean,
    /** Tokens that became quote assets or ceased to be. */
    changedAssets: readonly string[] = [],
    hasRoutes = false,
  ) {
    this.#tables = tables
    this.#time = time
    this.#isQuoteAsset = isQuoteAsset
    this.#changedAssets = changedAssets
    this.#hasRoutes = hasRoutes
    this.#makers = new Makers(tables)
    this.#extremes = new Extremes(tables.minutes)
  }

  /** Publishes the `named` windows, then all that changed. */
  run(trades: readonly PairTrades[], named: readonly WindowsRef[], changes: ChangeSetWriter): void {
    const { visits } = this.#tables
    this.#restart()
    this.#turn()
    visits.begin(this.#minute)
    for (const pairTrades of trades) this.#enter(pairTrades)
    visits.keepList()
    this.#publish(named, this.#touched, changes)
  }

  /**
   * Empties the windows for an old block. Its trades do not enter them: they only set the price that later price
   * changes refer to. Publishes the `named` windows, then the emptied ones.
   */
  runOld(trades: readonly PairTrades[], named: readonly WindowsRef[], changes: ChangeSetWriter): void {
    const { subjects } = this.#tables
    this.#restart()
    this.#empty()
    const emptied = new Set(this.#touched)
    for (const each of trades) {
      const slot = subjects.slotOf(this.#meet(each))
      const own = subjects.at(slot).ownOfToken
      setOpen(subjects.edit(slot), each.pairCloseUsd, dayOf(this.#time))
      if (own === undefined || !each.isForToken) continue
      setOpen(subjects.edit(subjects.slotOf(own)), each.tokenCloseUsd, dayOf(this.#time))
    }
    this.#publish(named, emptied, changes)
  }

  #publish(named: readonly WindowsRef[], touched: ReadonlySet<number>, changes: ChangeSetWriter): void {
    const { subjects } = this.#tables
    const numbers = named.map(({ pair, token }) =>
      pair === undefined ? subjects.ofToken(token ?? '') : subjects.ofPair(pair),
    )
    const first = new Set(numbers.flatMap((number) => (number === undefined ? [] : subjects.slotOf(number))))
    const publish = (slot: number): void => {
      const subject = subjects.at(slot)
      if (subject.hasPair || subject.hasToken) writePublished(changes.next('windows'), subject)
    }
    first.forEach(publish)
    touched.forEach((slot) => {
      if (!first.has(slot)) publish(slot)
    })
  }

  /**
   * Begins the windows of these tokens anew, because the trades of a quote asset enter its windows in another way than
   * those of its pairs' other tokens. The old ones run empty without a name.
   */
  #restart(): void {
    const { subjects } = this.#tables
    for (const token of this.#changedAssets) {
      const number = subjects.ofToken(token)
      if (number === undefined) continue
      const slot = subjects.slotOf(number)
      subjects.edit(slot).token = undefined
      this.#touched.add(slot)
      this.#create(undefined, token)
    }
  }

  /** Opens the block's minute, if it is a new one. Block times that run backwards are ignored. */
  #turn(): void {
    const { emptied } = this.#tables
    const open = this.#openMinute()
    if (emptied.get(ONLY)) emptied.delete(ONLY)
    else if (open !== undefined && open !== this.#minute) this.#leaveUntil(this.#minute, open)
  }

  #empty(): void {
    const { emptied } = this.#tables
    const open = this.#openMinute()
    if (emptied.get(ONLY)) return
    emptied.put(ONLY, true)
    this.#isEmptying = true
    if (open !== undefined) this.#leaveUntil(open + DAY_MINUTES, open)
  }

  /** Returns the minute that was open before. */
  #openMinute(): number | undefined {
    const { openMinute } = this.#tables
    const minute = minuteOf(this.#time)
    const open = openMinute.get(ONLY)
    this.#minute = open === undefined ? minute : Math.max(open, minute)
    if (open !== this.#minute) openMinute.put(ONLY, this.#minute)
    return open
  }

  /** Removes from each window the minutes that expire between `before` and `minute`. */
  #leaveUntil(minute: number, before: number): void {
    WINDOW_MINUTES.forEach((length, place) => {
      const last = Math.min(minute - length, before)
      for (let old = before - length + 1; old <= last; old++) this.#leave(place, old)
    })
  }

  /** Removes a minute from the windows of one length, for every subject traded in it and for that subject's token. */
  #leave(place: number, minute: number): void {
    const { minutes, subjects, visits } = this.#tables
    const tokens = new Set<number>()
    let listed = minutes.first(minute)
    if (listed === undefined) return
    while (listed !== undefined) {
      const next = minutes.next(listed, minute)
      const { subject, slot } = listed
      const subjectSlot = subjects.slotOf(subject, minutes.at(slot).subjectSlot)
      this.#take({ subject, subjectSlot, minute, slot }, place)
      const own = subjects.at(subjectSlot).ownOfToken
      // Once per token, with the first of its pairs.
      if (own !== undefined && !tokens.has(own)) {
        tokens.add(own)
        const [ownSlot, minuteSlot] = [subjects.slotOf(own), minutes.find(own, minute)]
        // The trades of a pair that is priced by a route may not have counted for the token.
        if (minuteSlot !== NONE)
          this.#take({ subject: own, subjectSlot: ownSlot, minute, slot: minuteSlot }, place)
      }
      listed = next
    }
    if (place === DAY_WINDOW) visits.forget(minute, minutes.forget(minute))
  }

  #take(leaving: SubjectMinute, place: number): void {
    const { minutes, subjects } = this.#tables
    const left = minutes.at(leaving.slot)
    const subject = subjects.edit(leaving.subjectSlot)
    const window = subject.windows.at(place)
    subtractSum(subject.words, window.buyUsdAt, left.words, left.buyUsdAt)
    subtractSum(subject.words, window.sellUsdAt, left.words, left.sellUsdAt)
    window.buys -= left.buys
    window.sells -= left.sells
    window.makers -= left.makers
    window.buyers -= left.buyers
    window.sellers -= left.sellers
    if (left.hasCloseUsd) {
      window.hasOpenUsd = true
      copy(subject.words, window.openUsdAt, left.words, left.closeUsdAt)
    }
    this.#touched.add(leaving.subjectSlot)
    if (place !== DAY_WINDOW) return
    subtractSum(subject.words, subject.amountRawAt, left.words, left.amountRawAt)
    this.#extremes.leave(leaving, subject)
    minutes.remove(leaving.slot)
    if (!this.#isEmptying) return
    // The same minutes may be opened again.
    subject.lastMinute = undefined
    subject.lastPricedMinute = undefined
  }

  #enter(trades: PairTrades): void {
    const { minutes, subjects } = this.#tables
    const number = this.#meet(trades)
    const slot = subjects.slotOf(number)
    const { ownOfToken: own, lastMinute } = subjects.at(slot)
    setEntering(trades)
    const ofPair = this.#add(number, slot, trades, trades.pairCloseUsd)
    if (lastMinute !== this.#minute) minutes.list(ofPair)
    // The token first, because it may look up the wallet's previous visit to the pair.
    if (own !== undefined && trades.isForToken)
      this.#enterMakers(this.#add(own, subjects.slotOf(own), trades, trades.tokenCloseUsd), trades)
    if (own !== undefined && !trades.isForToken) this.#makers.forgetShared(subjects.slotOf(own), number)
    this.#enterMakers(ofPair, trades)
  }

  #enterMakers(running: SubjectMinute, { buyers, sellers }: PairTrades): void {
    for (const wallet of buyers) this.#makers.enter(running, wallet, true)
    for (const wallet of sellers) this.#makers.enter(running, wallet, false)
  }

  /**
   * Finds or creates the windows that the trades enter. A token shares those of its pair until it trades in a second
   * pair, or until another pair prices it. It shares none with a pair that is priced by a route, which may cease to count
   * for it. A quote asset always has its own, for the sums over all its pairs.
   */
  #meet({ pair, token, pairCloseUsd, tokenCloseUsd, isRouted, isForToken }: PairTrades): number {
    const { subjects } = this.#tables
    if (pair === ALL_PAIRS) return subjects.ofToken(token) ?? this.#create(undefined, token)
    const isSamePrice = pairCloseUsd === tokenCloseUsd && !isRouted
    const known = subjects.ofPair(pair) ?? (isForToken ? undefined : this.#create(pair, undefined))
    if (known !== undefined) {
      const { hasToken, ownOfToken } = subjects.at(subjects.slotOf(known))
      if (hasToken && !isSamePrice) this.#part(known)
      const isApart = !hasToken && ownOfToken === undefined && this.#hasRoutes
      if (isApart && isForToken && !this.#isQuoteAsset(token)) this.#link(known, token)
      return known
    }
    if (this.#isQuoteAsset(token)) return this.#create(pair, undefined)
    const ofToken = subjects.ofToken(token)
    if (ofToken === undefined && isSamePrice) return this.#create(pair, token)
    const created = this.#create(pair, undefined)
    this.#link(created, token)
    return created
  }

  /** Lets the trades of a pair count for its token. */
  #link(ofPair: number, token: string): void {
    const { subjects } = this.#tables
    const ofToken = subjects.ofToken(token)
    const own = ofToken === undefined ? this.#create(undefined, token) : this.#ownOf(ofToken)
    subjects.edit(subjects.slotOf(ofPair)).ownOfToken = own
  }

  #create(pair: string | undefined, token: string | undefined): number {
    const { subjects } = this.#tables
    const number = subjects.create({ pair, token })
    this.#touched.add(subjects.slotOf(number))
    return number
  }

  #ownOf(ofToken: number): number {
    const { subjects } = this.#tables
    return subjects.at(subjects.slotOf(ofToken)).hasPair ? this.#part(ofToken) : ofToken
  }

  /** Gives the token windows of its own: a copy of those it shared with the pair. */
  #part(shared: number): number {
    const { subjects, minutes } = this.#tables
    const own = subjects.part(shared, this.#minute)
    const sharedSlot = subjects.slotOf(shared)
    this.#touched.add(sharedSlot).add(subjects.slotOf(own))
    let minute = subjects.at(sharedSlot).lastMinute
    while (minute !== undefined && minute > this.#minute - DAY_MINUTES) {
      const slot = minutes.slotOf(shared, minute)
      minutes.copy(slot, own, minute)
      minute = minutes.at(slot).earlier
    }
    return own
  }

  /** Adds trades to the running minute and to all windows. */
  #add(number: number, slot: number, trades: PairTrades, closeUsd: Price | undefined): SubjectMinute {
    const { minutes, subjects } = this.#tables
    const subject = subjects.edit(slot)
    const running = this.#running(number, slot, subject)
    entering.closeUsd = closeUsd
    addToMinute(minutes.edit(running.slot), trades)
    addToWindows(subject, trades)
    setPrice(subject, dayOf(this.#time))
    if (entering.extremes.at(HIGH).hasUsd) this.#extremes.enter(running, subject, entering)
    this.#touched.add(slot)
    return running
  }

  /** The subject's row of the current minute, created at the first trade in it. */
  #running(number: number, slot: number, subject: Subject): SubjectMinute {
    const { minutes } = this.#tables
    const minute = this.#minute
    const place = { subject: number, subjectSlot: slot, minute }
    if (subject.lastMinute === minute)
      return { ...place, slot: minutes.slotOf(number, minute, subject.lastSlot) }
    const begun = { ...place, slot: minutes.create(number, minute) }
    const running = minutes.edit(begun.slot)
    running.subjectSlot = slot
    running.earlier = subject.lastMinute
    running.earlierSlot = subject.lastSlot
    subject.lastMinute = minute
    subject.lastSlot = begun.slot
    return begun
  }
}
