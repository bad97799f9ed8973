import type { Windows } from '../../../../../../src/domain/change.ts'
import { dayOf, minuteOf, WINDOW_MINUTES } from '../../../../../../src/domain/window.ts'
import { type Contribution, mergedContributions, mergedVisits, type Visit } from './contribution.ts'
import { type Extremes, NO_EXTREMES, withoutMinutes, withPrices } from './extremes.ts'
import type { PairTrades } from './gathered-trades.ts'
import { lastTimes, withoutVisit, withVisit } from './makers.ts'
import { NOBODY, Recount, sumOfDistinct } from './recount.ts'
import { ALL_PAIRS, subjectOf, subjectOfTrades } from './subject.ts'
import { type OpenMinute, SEVERAL, type TradedIn, type WindowTables } from './tables.ts'
import { type ExactWindows, newWindows, published, withoutMinute, withTrades } from './windows.ts'

const ONLY = 'only'
const DAY_WINDOW = WINDOW_MINUTES.length - 1

/**
 * Brings the windows up to one block: what has become too old leaves, what was traded enters. Only pairs that were
 * traded in one of the minutes that leave are looked at; those that rest cost nothing.
 */
export class WindowFold {
  readonly #tables: WindowTables
  readonly #block: { readonly number: number; readonly time: number }
  readonly #isQuoteAsset: (token: string) => boolean
  readonly #touched = new Set<string>()

  constructor(
    tables: WindowTables,
    block: { readonly number: number; readonly time: number },
    isQuoteAsset: (token: string) => boolean,
  ) {
    this.#tables = tables
    this.#block = block
    this.#isQuoteAsset = isQuoteAsset
  }

  /** All windows that are different now, and those of pairs that have become main: who follows a token needs them. */
  run(trades: readonly PairTrades[], newMainPairs: readonly string[] = []): Windows[] {
    for (const pair of newMainPairs) this.#touched.add(subjectOf('pair', pair))
    const open = this.#turn()
    for (const pairTrades of trades) this.#enter(pairTrades, open.minute)
    if (trades.length > 0) {
      const { number } = this.#block
      const parts = { sums: trades.map(({ sums }) => sums), visits: trades.flatMap(({ visits }) => visits) }
      this.#tables.blockTrades.put(String(number), parts)
      this.#tables.openMinute.put(ONLY, { minute: open.minute, blocks: [...open.blocks, number] })
    }
    return [...this.#touched].flatMap((subject) => {
      const windows = this.#tables.windows.get(subject)
      return windows === undefined ? [] : [published(windows)]
    })
  }

  /** Opens the block's minute, if it is a new one. A block that claims to be older than the last is not believed. */
  #turn(): OpenMinute {
    const minute = minuteOf(this.#block.time)
    const open = this.#tables.openMinute.get(ONLY)
    if (open !== undefined && open.minute >= minute) return open
    const opened = { minute, blocks: [] }
    this.#tables.openMinute.put(ONLY, opened)
    if (open === undefined) return opened
    this.#close(open)
    WINDOW_MINUTES.forEach((minutes, place) => {
      const last = Math.min(minute - minutes, open.minute)
      for (let old = open.minute - minutes + 1; old <= last; old++) this.#leave(place, old)
    })
    return opened
  }

  /** From now on the minute is one record, however many blocks it had. */
  #close({ minute, blocks }: OpenMinute): void {
    if (blocks.length === 0) return
    const { blockTrades, minuteSums, minuteVisits } = this.#tables
    const parts = blocks.flatMap((block) => blockTrades.get(String(block)) ?? [])
    for (const block of blocks) blockTrades.delete(String(block))
    minuteSums.put(String(minute), mergedContributions(parts.map(({ sums }) => sums)))
    minuteVisits.put(String(minute), mergedVisits(parts.map(({ visits }) => visits)))
  }

  #leave(place: number, minute: number): void {
    const { minuteSums, minuteVisits } = this.#tables
    const sums = minuteSums.get(String(minute))
    if (sums === undefined) return
    const seen = new Set<string>()
    for (const contribution of sums) {
      const { pair, token, pairCloseUsd, tokenCloseUsd } = contribution
      this.#take(subjectOfTrades(pair, token), place, contribution, pairCloseUsd, minute, true)
      const own = this.#ownSubject(token)
      if (own === undefined) continue
      // Its wallets leave with the first of its pairs.
      this.#take(own, place, contribution, tokenCloseUsd, minute, !seen.has(own))
      seen.add(own)
    }
    if (place !== DAY_WINDOW) return
    for (const visit of minuteVisits.get(String(minute)) ?? []) this.#forget(visit, minute)
    minuteSums.delete(String(minute))
    minuteVisits.delete(String(minute))
  }

  #take(
    subject: string,
    place: number,
    trades: Contribution,
    closeUsd: bigint | undefined,
    minute: number,
    isFirst: boolean,
  ): void {
    const { lasting, extremes } = this.#tables
    const key = lastingKey(subject, minute)
    const wallets = isFirst ? lasting.get(key) : undefined
    const left = withoutMinute(this.#windows(subject), place, trades, wallets ?? NOBODY, closeUsd)
    if (place !== DAY_WINDOW || !isFirst) {
      this.#put(subject, left)
      return
    }
    lasting.delete(key)
    const after = withoutMinutes(extremes.get(subject) ?? NO_EXTREMES, minute)
    extremes.put(subject, after)
    this.#put(subject, withExtremes(left, after))
  }

  #enter(trades: PairTrades, minute: number): void {
    const { sums, visits } = trades
    this.#meet(sums, minute)
    const own = this.#ownSubject(sums.token)
    const [pairWallets, ownWallets] = [new Recount(minute), new Recount(minute)]
    for (const visit of visits)
      this.#visit(visit, minute, pairWallets, own === undefined ? undefined : ownWallets)
    this.#add(subjectOfTrades(sums.pair, sums.token), trades, pairWallets, sums.pairCloseUsd, minute)
    if (own !== undefined) this.#add(own, trades, ownWallets, sums.tokenCloseUsd, minute)
  }

  /**
   * Sees to it that there are windows to enter. A token has its own as soon as it is traded in a second pair, or its
   * price comes from another one; until then both have the same, and from there they part. A quote asset always has
   * its own, which only what is summed up over all its pairs enters.
   */
  #meet({ pair, token, pairCloseUsd, tokenCloseUsd }: Contribution, minute: number): void {
    const { windows, tradedIn } = this.#tables
    if (this.#isQuoteAsset(token)) {
      const whose = subjectOfTrades(pair, token)
      const ref = pair === ALL_PAIRS ? { pair: undefined, token } : { pair, token: undefined }
      if (windows.get(whose) === undefined) this.#put(whose, newWindows(ref))
      return
    }
    const known = tradedIn.get(token)
    const isShared = (known === undefined || known.pair === pair) && pairCloseUsd === tokenCloseUsd
    const subject = subjectOf('pair', pair)
    if (windows.get(subject) === undefined) {
      this.#put(subject, newWindows({ pair, token: isShared ? token : undefined }))
    }
    if (known === undefined) tradedIn.put(token, { pair: isShared ? pair : SEVERAL, since: minute })
    if (isShared || known?.pair === SEVERAL) return
    if (known === undefined) this.#put(subjectOf('token', token), newWindows({ pair: undefined, token }))
    else this.#part(token, known, minute)
  }

  #part(token: string, { pair, since }: TradedIn, minute: number): void {
    const { extremes, tradedIn, lasting } = this.#tables
    const [shared, own] = [subjectOf('pair', pair), subjectOf('token', token)]
    const windows = this.#windows(shared)
    tradedIn.put(token, { pair: SEVERAL, since })
    this.#put(shared, { ...windows, token: undefined })
    this.#put(own, { ...windows, pair: undefined })
    const peaks = extremes.get(shared)
    if (peaks !== undefined) extremes.put(own, peaks)
    const longest = WINDOW_MINUTES[DAY_WINDOW] as number
    for (let past = Math.max(since, minute - longest + 1); past <= minute; past++) {
      const wallets = lasting.get(lastingKey(shared, past))
      if (wallets !== undefined) lasting.put(lastingKey(own, past), wallets)
    }
  }

  #add(
    subject: string,
    { sums, high, low }: PairTrades,
    wallets: Recount,
    close: bigint | undefined,
    minute: number,
  ): void {
    const added = withTrades(this.#windows(subject), sums, wallets.entered, close, dayOf(this.#block.time))
    const { lasting, extremes } = this.#tables
    for (const [past, difference] of wallets.moved) {
      const key = lastingKey(subject, past)
      lasting.put(key, sumOfDistinct(lasting.get(key), difference))
    }
    if (high === undefined || low === undefined) {
      this.#put(subject, added)
      return
    }
    const before = extremes.get(subject) ?? NO_EXTREMES
    const after = withPrices(before, minute, high, low)
    if (after.highs !== before.highs || after.lows !== before.lows) extremes.put(subject, after)
    this.#put(subject, withExtremes(added, after))
  }

  #visit(visit: Visit, minute: number, pairWallets: Recount, ownWallets: Recount | undefined): void {
    const { lastVisits } = this.#tables
    const { pair, token, wallet } = visit
    const key = visitorKey(token, wallet)
    const before = lastVisits.get(key) ?? []
    const after = withVisit(before, pair, minute, visit)
    // The wallet did the same in this minute before.
    if (after === before) return
    lastVisits.put(key, after)
    pairWallets.add(lastTimes(before, pair), lastTimes(after, pair))
    ownWallets?.add(lastTimes(before), lastTimes(after))
  }

  #forget({ pair, token, wallet }: Visit, minute: number): void {
    const { lastVisits } = this.#tables
    const key = visitorKey(token, wallet)
    const left = withoutVisit(lastVisits.get(key) ?? [], pair, minute)
    if (left.length === 0) lastVisits.delete(key)
    else lastVisits.put(key, left)
  }

  /** Of a token that has windows beside those of its pairs, and is no quote asset. */
  #ownSubject(token: string): string | undefined {
    return this.#tables.tradedIn.get(token)?.pair === SEVERAL ? subjectOf('token', token) : undefined
  }

  #windows(subject: string): ExactWindows {
    const windows = this.#tables.windows.get(subject)
    if (windows === undefined) throw new Error(`${subject} was traded, but has no windows`)
    return windows
  }

  #put(subject: string, windows: ExactWindows): void {
    this.#tables.windows.put(subject, windows)
    this.#touched.add(subject)
  }
}

function withExtremes(windows: ExactWindows, { highs, lows }: Extremes): ExactWindows {
  return { ...windows, highUsd: highs[0]?.price, lowUsd: lows[0]?.price }
}

function lastingKey(subject: string, minute: number): string {
  return `${subject}/${minute}`
}

function visitorKey(token: string, wallet: string): string {
  return `${token}/${wallet}`
}
