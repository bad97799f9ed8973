import type { Price } from '../../domain/money.ts'
import { DAY_MINUTES, DAY_WINDOW, dayOf, minuteOf, WINDOW_MINUTES } from '../../domain/window.ts'
import { scratchRow } from '../../state/cursor.ts'
import { copy } from '../../state/limbs.ts'
import type { ChangeSetWriter } from '../../wire/change-set-writer.ts'
import { Extremes } from './extremes.ts'
import { ALL_PAIRS, type PairTrades } from './gathered-trades.ts'
import { Makers } from './makers.ts'
import type { Minute } from './minutes.ts'
import { writePublished } from './published.ts'
import type { Subject } from './subjects.ts'
import { addSum, ENTERING, subtractSum } from './sums.ts'
import type { WindowTables } from './tables.ts'

const ONLY = 'only'

/** Nothing of it outlasts a trade that enters. */
const entering = scratchRow(ENTERING)

/**
 * Brings the windows up to one block: what has become too old leaves, what was traded enters. Only subjects that were
 * traded in one of the minutes that leave are looked at; those that rest cost nothing.
 */
export class WindowFold {
  readonly #tables: WindowTables
  readonly #time: number
  readonly #isQuoteAsset: (token: string) => boolean
  readonly #makers: Makers
  readonly #extremes: Extremes
  /** Whose windows are different now. */
  readonly #touched = new Set<number>()
  #minute = 0

  constructor(tables: WindowTables, time: number, isQuoteAsset: (token: string) => boolean) {
    this.#tables = tables
    this.#time = time
    this.#isQuoteAsset = isQuoteAsset
    this.#makers = new Makers(tables)
    this.#extremes = new Extremes(tables.minutes)
  }

  /** Tells all windows that are different now, after those of pairs that have become main: who follows a token needs them. */
  run(trades: readonly PairTrades[], newMainPairs: readonly string[], told: ChangeSetWriter): void {
    const { subjects, visits } = this.#tables
    this.#turn()
    visits.begin(this.#minute)
    for (const pairTrades of trades) this.#enter(pairTrades)
    visits.keepList()
    const ofMainPairs = newMainPairs.flatMap((pair) => subjects.ofPair(pair) ?? [])
    for (const subject of new Set([...ofMainPairs, ...this.#touched])) {
      writePublished(told.next('windows'), subjects.at(subject))
    }
  }

  /** Opens the block's minute, if it is a new one. A block that claims to be older than the last is not believed. */
  #turn(): void {
    const { openMinute } = this.#tables
    const minute = minuteOf(this.#time)
    const open = openMinute.get(ONLY)
    this.#minute = open === undefined ? minute : Math.max(open, minute)
    if (open === this.#minute) return
    openMinute.put(ONLY, minute)
    if (open === undefined) return
    WINDOW_MINUTES.forEach((length, place) => {
      const last = Math.min(minute - length, open)
      for (let old = open - length + 1; old <= last; old++) this.#leave(place, old)
    })
  }

  /** A minute leaves the windows of one length: of each subject that was traded in it, and of that one's token. */
  #leave(place: number, minute: number): void {
    const { minutes, subjects, visits } = this.#tables
    const tokens = new Set<number>()
    let subject = minutes.firstOf(minute)
    if (subject === undefined) return
    while (subject !== undefined) {
      const next: number | undefined = minutes.at(subject, minute).nextSubject
      this.#take(subject, place, minute)
      const own = subjects.at(subject).ownOfToken
      // It leaves with the first of its pairs.
      if (own !== undefined && !tokens.has(own)) {
        tokens.add(own)
        this.#take(own, place, minute)
      }
      subject = next
    }
    if (place === DAY_WINDOW) visits.forget(minute, minutes.forget(minute))
  }

  #take(number: number, place: number, minute: number): void {
    const { minutes, subjects } = this.#tables
    const left = minutes.at(number, minute)
    const subject = subjects.edit(number)
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
    this.#touched.add(number)
    if (place !== DAY_WINDOW) return
    subtractSum(subject.words, subject.amountRawAt, left.words, left.amountRawAt)
    this.#extremes.leave(number, subject, minute)
    minutes.remove(number, minute)
  }

  #enter(trades: PairTrades): void {
    const { minutes, subjects } = this.#tables
    const minute = this.#minute
    const number = this.#meet(trades)
    const { ownOfToken: own, lastMinute } = subjects.at(number)
    entering.buyUsd = trades.buyUsd
    entering.sellUsd = trades.sellUsd
    entering.amountRaw = trades.amountRaw
    this.#add(number, trades, trades.pairCloseUsd)
    if (lastMinute !== minute) minutes.list(number, minute)
    if (own !== undefined) this.#add(own, trades, trades.tokenCloseUsd)
    // The token first: it may have to ask when a wallet last came to the pair.
    if (own !== undefined) this.#enterMakers(own, trades)
    this.#enterMakers(number, trades)
  }

  #enterMakers(subject: number, { wallets }: PairTrades): void {
    for (const [address, deeds] of wallets) {
      this.#makers.enter(subject, this.#tables.visits.walletOf(address), deeds, this.#minute)
    }
  }

  /**
   * Sees to it that there are windows to enter. A token has its own as soon as it is traded in a second pair, or its
   * price comes from another one; until then both have the same, and from there they part. A quote asset always has
   * its own, which only what is summed up over all its pairs enters.
   */
  #meet({ pair, token, pairCloseUsd, tokenCloseUsd }: PairTrades): number {
    const { subjects } = this.#tables
    if (pair === ALL_PAIRS) return subjects.ofToken(token) ?? this.#create(undefined, token)
    const isSamePrice = pairCloseUsd === tokenCloseUsd
    const known = subjects.ofPair(pair)
    if (known !== undefined) {
      if (!isSamePrice && subjects.at(known).hasToken) this.#part(known)
      return known
    }
    if (this.#isQuoteAsset(token)) return this.#create(pair, undefined)
    const ofToken = subjects.ofToken(token)
    if (ofToken === undefined && isSamePrice) return this.#create(pair, token)
    const created = this.#create(pair, undefined)
    const own = ofToken === undefined ? this.#create(undefined, token) : this.#ownOf(ofToken)
    subjects.edit(created).ownOfToken = own
    return created
  }

  #create(pair: string | undefined, token: string | undefined): number {
    const number = this.#tables.subjects.create({ pair, token })
    this.#touched.add(number)
    return number
  }

  #ownOf(ofToken: number): number {
    return this.#tables.subjects.at(ofToken).hasPair ? this.#part(ofToken) : ofToken
  }

  /** From now on the token has windows of its own, which begin as those it shared with the pair. */
  #part(shared: number): number {
    const { subjects, minutes } = this.#tables
    const own = subjects.part(shared, this.#minute)
    this.#touched.add(shared).add(own)
    let minute = subjects.at(shared).lastMinute
    while (minute !== undefined && minute > this.#minute - DAY_MINUTES) {
      minutes.copy(shared, own, minute)
      minute = minutes.at(shared, minute).earlier
    }
    return own
  }

  #add(number: number, trades: PairTrades, closeUsd: Price | undefined): void {
    const { minutes, subjects } = this.#tables
    const minute = this.#minute
    const subject = subjects.edit(number)
    const isRunning = subject.lastMinute === minute
    const running = isRunning ? minutes.edit(number, minute) : minutes.create(number, minute)
    if (!isRunning) {
      running.earlier = subject.lastMinute
      subject.lastMinute = minute
    }
    addToMinute(running, trades, closeUsd)
    addToWindows(subject, trades, closeUsd)
    setPrice(subject, closeUsd, dayOf(this.#time))
    const { highUsd, lowUsd } = trades
    if (highUsd !== undefined && lowUsd !== undefined) {
      this.#extremes.enter(number, subject, minute, highUsd, lowUsd)
    }
    this.#touched.add(number)
  }
}

function addToMinute(running: Minute, { buys, sells }: PairTrades, closeUsd: Price | undefined): void {
  addSum(running.words, running.buyUsdAt, entering.words, entering.buyUsdAt)
  addSum(running.words, running.sellUsdAt, entering.words, entering.sellUsdAt)
  addSum(running.words, running.amountRawAt, entering.words, entering.amountRawAt)
  running.buys += buys
  running.sells += sells
  if (closeUsd !== undefined) running.closeUsd = closeUsd
}

function addToWindows(subject: Subject, { buys, sells }: PairTrades, closeUsd: Price | undefined): void {
  for (let place = 0; place < WINDOW_MINUTES.length; place++) {
    const window = subject.windows.at(place)
    if (buys > 0) addSum(subject.words, window.buyUsdAt, entering.words, entering.buyUsdAt)
    if (sells > 0) addSum(subject.words, window.sellUsdAt, entering.words, entering.sellUsdAt)
    window.buys += buys
    window.sells += sells
    if (closeUsd !== undefined && !window.hasOpenUsd) window.openUsd = closeUsd
  }
  addSum(subject.words, subject.amountRawAt, entering.words, entering.amountRawAt)
}

/** `closeUsd` is what it counts for once the block is over. */
function setPrice(subject: Subject, closeUsd: Price | undefined, day: number): void {
  if (subject.day !== day) {
    subject.day = day
    subject.dayOpenUsd = subject.priceUsd
  }
  if (closeUsd === undefined) return
  if (!subject.hasDayOpenUsd) subject.dayOpenUsd = closeUsd
  subject.priceUsd = closeUsd
}
