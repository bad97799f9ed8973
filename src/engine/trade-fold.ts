import type { Swapped } from '../dex/events.ts'
import type { EventRef, TradeHoldings, WindowsRef } from '../domain/change.ts'
import type { Price } from '../domain/money.ts'
import { NONE } from '../state/slot-index.ts'
import type { OpenedTransaction } from '../wire/opened-transaction.ts'
import { candleStarts } from './candle/take-trade.ts'
import type { FoldedBlock } from './folded-block.ts'
import { WalletHoldings } from './holders/wallet-holdings.ts'
import { noteTrade } from './pair/pair-updates.ts'
import type { PairView, SideView } from './pair/pair-view.ts'
import type { CountedWorth } from './price/counted-worth.ts'
import { ONLY } from './tables.ts'
import { launchOf } from './token/launch.ts'
import {
  type Exchange,
  type FoldedTrade,
  holdingsOf,
  type Origin,
  toTrade,
  writeFoldedTrade,
} from './trade.ts'
import { type Closes, GatheredBlock } from './window/gathered-trades.ts'
import { WindowFold } from './window/window-fold.ts'

/** Publishes the trades of a block, and takes them into candles and windows. */
export class TradeFold {
  readonly #in: FoldedBlock
  readonly #wallets: WalletHoldings
  readonly #candleStarts: readonly number[]
  readonly #gathered: GatheredBlock
  readonly published: EventRef[] = []
  /** Pairs whose candles the block changed. */
  readonly traded = new Set<PairView>()

  constructor(block: FoldedBlock) {
    this.#in = block
    this.#wallets = new WalletHoldings(block.tables, block.moves)
    this.#candleStarts = candleStarts(block.block.time)
    this.#gathered = new GatheredBlock((token) => block.reference.isQuoteAsset(token))
  }

  take(pair: PairView, exchange: Exchange, swap: Swapped, origin: Origin): void {
    const { block, tables, records, reference, changes } = this.#in
    const trade = toTrade(pair, exchange, reference)
    const { paid } = trade
    if (pair.targetToken !== undefined && !this.traded.has(pair)) this.#openCandles(pair)
    const holdings = this.#holdingsAfter(origin.transaction, trade)
    writeFoldedTrade(changes.next('trade'), origin, swap, pair, trade, holdings)
    this.published.push({ key: origin.key, time: origin.time, pair: pair.address })
    records.editPair(pair)
    noteTrade(pair, block.time, trade.side, paid.usd)
    if (pair.targetToken === undefined || pair.oriented === undefined) return
    const quote = trade.side === 'buy' ? trade.sold : trade.bought
    if (!pair.hasTraded) {
      const isNoted = this.#noteFirstTrade(pair.oriented.target, paid.usd)
      // A pair that is priced by a route counts for its target only.
      const isRouted = reference.routes.isNeededFor(quote.token)
      if (!isRouted) pair.hasTraded = this.#noteFirstTrade(pair.oriented.quote, quote.priceUsd) && isNoted
    }
    this.traded.add(pair)
    tables.candles.take(pair.candleSlot, origin.key, trade, this.#candleStarts)
    if (block.isOld) {
      this.#gathered.note(quote.token, pair.address, pair.targetToken)
      return
    }
    const wallet = tables.visits.walletOf(origin.transaction)
    this.#gathered.add(trade, wallet, pair.address, pair.targetToken)
  }

  /** Call at the end of the block. `joinedOrLeft`: tokens that its settings made quote assets, or no longer. */
  foldWindows(after: CountedWorth, named: readonly WindowsRef[], joinedOrLeft: readonly string[]): void {
    const { block, settings, tables, records, changes } = this.#in
    const closeOfToken = (token: string) => records.tokenIfKnown(token)?.priceUsd
    const closesOf = (address: string) => {
      const pair = records.pair(address)
      return {
        pairCloseUsd: after.worthOf(pair).usd,
        tokenCloseUsd: closeOfToken(pair.targetToken ?? ''),
        ...this.#roleOf(pair),
      }
    }
    const trades = this.#gathered.finish(closesOf, closeOfToken)
    const isQuoteAsset = (token: string): boolean => after.reference.isQuoteAsset(token)
    const windows = new WindowFold(tables, block.time, isQuoteAsset, joinedOrLeft, settings.hasRoutes)
    if (block.isOld) windows.runOld(trades, named, changes)
    else windows.run(trades, named, changes)
  }

  /** Solana reports balances with a transaction. Elsewhere they are those that the engine keeps. */
  #holdingsAfter(transaction: OpenedTransaction, trade: FoldedTrade): TradeHoldings | undefined {
    const { wallet } = transaction
    if (wallet !== undefined) {
      const { tokens, nativeRaw } = wallet
      return holdingsOf(trade, (token) => tokens.find((each) => each.token === token), nativeRaw)
    }
    if (!this.#in.settings.hasParties) return undefined
    return holdingsOf(trade, (token) => this.#wallets.after(transaction, token))
  }

  /** Call before a pair's first trade in the block, which may end candles that are not published yet. */
  #openCandles(pair: PairView): void {
    const { tables, deferred, changes } = this.#in
    const { candles } = tables
    const { since } = deferred
    if (pair.candleSlot === NONE) pair.candleSlot = candles.slotOf(pair.address)
    if (since !== undefined)
      candles.publishEnded(pair.candleSlot, pair.names.idOnWire, this.#candleStarts, since, changes)
  }

  /** Returns whether the token's first trade is known now. */
  #noteFirstTrade(side: SideView, priceUsd: Price | undefined): boolean {
    const { block, tables, records } = this.#in
    const token = records.tokenOf(side)
    if (token === undefined) return false
    if (token.firstTrade !== undefined) return true
    const firstTrade = { time: block.time, priceUsd }
    records.editToken(token)
    token.firstTrade = firstTrade
    token.launch = launchOf(token.origin, firstTrade, tables.startTime.get(ONLY))
    return true
  }

  /** Anyone can make a route, so a pair that is priced by one counts for its target only while it is the main pair. */
  #roleOf({ address, oriented }: PairView): Pick<Closes, 'isRouted' | 'isForToken'> {
    const { records, reference } = this.#in
    const isRouted = oriented !== undefined && reference.routes.isNeededFor(oriented.quote.token)
    const isForToken = !isRouted || records.tokenOf(oriented.target)?.mainPair === address
    return { isRouted, isForToken }
  }
}
