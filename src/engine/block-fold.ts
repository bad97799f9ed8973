import type { CurveOpened, PoolCreated, PoolEvent, Swapped } from '../dex/events.ts'
import type { Deployed } from '../dex/registry.ts'
import type { EventRef, LiquidityEvent, MainPairSwitch, TradeHoldings, WindowsRef } from '../domain/change.ts'
import type { LaunchFact, PoolFact, PoolStateFact, RawLog, TokenFact } from '../domain/envelope.ts'
import { isAmount } from '../domain/limits.ts'
import type { Price } from '../domain/money.ts'
import { NONE } from '../state/slot-index.ts'
import type { ChangeSetWriter } from '../wire/change-set-writer.ts'
import { reportCodec } from '../wire/contract-codec.ts'
import type { OpenedBlock } from '../wire/envelope-codec.ts'
import { liquidityCodec, switchCodec } from '../wire/liquidity-codec.ts'
import type { OpenedTransaction } from '../wire/opened-transaction.ts'
import { writeBalance } from '../wire/record-codec.ts'
import { BlockRecords } from './block-records.ts'
import { candleStarts } from './candle/take-trade.ts'
import type { DeferredDocuments } from './deferred-documents.ts'
import { newPair, newToken } from './first-records.ts'
import { BlockMoves } from './holders/block-moves.ts'
import { HolderFold } from './holders/holder-fold.ts'
import { WalletHoldings } from './holders/wallet-holdings.ts'
import { platformAfter, withPastLaunch } from './launch/platform.ts'
import { foldTokenLaunch } from './launch/token-launch.ts'
import { toLiquidity } from './liquidity.ts'
import { noteTrade, setReserves } from './pair/pair-updates.ts'
import type { PairView, SideView } from './pair/pair-view.ts'
import { Parties } from './parties.ts'
import { newPool, type Pool, pairId, placeOf } from './pool/pool.ts'
import { ratioOf } from './pool/ratio.ts'
import { boundedReserve, type Reserves, reservesAfter } from './pool/reserves.ts'
import type { OpenedPool } from './pool-table.ts'
import { AskedPrices } from './price/asked-prices.ts'
import { CountedWorth } from './price/counted-worth.ts'
import { amountValue, reprice } from './price/pair-prices.ts'
import { ReferencePrices } from './price/reference-prices.ts'
import { RiskFold } from './risk/risk-fold.ts'
import type { EngineSettings } from './settings.ts'
import type { AssetChanges } from './settings-fold.ts'
import { type EngineTables, ONLY } from './tables.ts'
import { launchOf } from './token/launch.ts'
import { TokenUpdates } from './token/token-updates.ts'
import type { TokenView } from './token/token-view.ts'
import {
  type Exchange,
  exchangeOf,
  type FoldedTrade,
  holdingsOf,
  type Origin,
  toTrade,
  writeFoldedTrade,
} from './trade.ts'
import { type Closes, GatheredBlock } from './window/gathered-trades.ts'
import { WindowFold } from './window/window-fold.ts'

/** Folds one block into the tables and publishes the changes. */
export class BlockFold {
  readonly #settings: EngineSettings
  readonly #tables: EngineTables
  readonly #block: OpenedBlock
  readonly #changes: ChangeSetWriter
  readonly #reference: ReferencePrices
  readonly #records: BlockRecords
  readonly #moves: BlockMoves
  readonly #parties: Parties
  readonly #wallets: WalletHoldings
  /** Tokens whose supply is a fact of this block. */
  readonly #met = new Set<string>()
  readonly #trades: EventRef[] = []
  readonly #liquidity: LiquidityEvent[] = []
  /** Pairs whose candles the block changed. */
  readonly #traded = new Set<PairView>()
  readonly #candleStarts: readonly number[]
  readonly #gathered: GatheredBlock
  readonly #asked = new AskedPrices()
  readonly #deferred: DeferredDocuments
  readonly #assetChanges: AssetChanges

  constructor(
    settings: EngineSettings,
    tables: EngineTables,
    block: OpenedBlock,
    changes: ChangeSetWriter,
    deferred: DeferredDocuments,
    assetChanges: AssetChanges,
  ) {
    this.#settings = settings
    this.#tables = tables
    this.#block = block
    this.#changes = changes
    this.#deferred = deferred
    this.#assetChanges = assetChanges
    this.#candleStarts = candleStarts(block.time)
    this.#reference = new ReferencePrices(settings, tables)
    this.#records = new BlockRecords(tables)
    this.#moves = new BlockMoves(block.transactions, (token) => this.#reference.isNative(token))
    this.#parties = new Parties(tables.holdings)
    this.#wallets = new WalletHoldings(tables, this.#moves)
    this.#gathered = new GatheredBlock((token) => this.#reference.isQuoteAsset(token))
  }

  /** Publishes trades as they are folded, and everything else at the end of the block. */
  run(): void {
    this.#deferred.begin(this.#block)
    // Pools refer to their tokens, so tokens come first.
    for (const fact of this.#block.facts) if (fact.type === 'token') this.#meetToken(fact)
    this.#setNativeSupply()
    for (const fact of this.#block.facts) if (fact.type === 'launch') this.#meetLaunch(fact)
    for (const fact of this.#block.facts) if (fact.type === 'pool') this.#meetPool(fact)
    for (const transaction of this.#block.transactions) {
      for (const log of transaction.logs) this.#foldLog(transaction, log)
    }
    for (const fact of this.#block.facts) if (fact.type === 'poolState') this.#foldState(fact)
    const [settings, tables, records, block] = [this.#settings, this.#tables, this.#records, this.#block]
    const holders = new HolderFold(settings, tables, records, block, this.#moves, this.#met)
    const balances = holders.run()
    const settled = this.#asked.settle(this.#settings, this.#tables, this.#reference)
    const { routes } = this.#reference
    const reference = new ReferencePrices(this.#settings, this.#tables, routes)
    const after = new CountedWorth(reference, this.#tables.prices)
    const updates = new TokenUpdates(this.#settings, this.#records, after, this.#block)
    const switches = updates.run(settled, this.#assetChanges.all)
    const contracts = new RiskFold(this.#tables, this.#records, this.#block).run(holders.touched)
    this.#keepForUndo(switches)

    const changes = this.#changes
    for (const event of this.#liquidity) liquidityCodec.write(changes.next('liquidity'), event)
    const newMain = new Set(switches.map(({ newPair }) => newPair))
    const named = this.#deferred.publish(this.#block, this.#records, this.#traded, newMain, changes)
    this.#foldWindows(after, named)
    for (const each of switches) switchCodec.write(changes.next('switch'), each)
    for (const balance of balances) writeBalance(changes.next('balance'), balance)
    for (const contract of contracts) reportCodec.write(changes.next('contract'), contract)
  }

  /** Records the block's events, which no later version replaces: an undo retracts them one by one. */
  #keepForUndo(switches: readonly MainPairSwitch[]): void {
    const [trades, liquidity] = [this.#trades, this.#liquidity.map(refOf)]
    if (trades.length === 0 && liquidity.length === 0 && switches.length === 0) return
    this.#tables.emitted.put(String(this.#block.number), { trades, liquidity, switches })
  }

  #meetToken(fact: TokenFact): void {
    const known = this.#records.tokenIfKnown(fact.address)
    if (known !== undefined) {
      this.#meetTokenAgain(known, fact)
      return
    }
    this.#met.add(fact.address)
    const token = newToken(fact, this.#reference.worthWithoutPair(fact.address), this.#block.time)
    this.#records.addToken(token)
  }

  /** A supplement has added the token earlier, without its supply, because the log follows it only from this block on. */
  #meetTokenAgain(token: TokenView, { address, supplyRaw }: TokenFact): void {
    if (token.supplyRaw !== undefined || supplyRaw === undefined) return
    this.#met.add(address)
    this.#records.editToken(token)
    token.supplyRaw = supplyRaw
    token.fdvUsd = amountValue(supplyRaw, token.decimals, token.priceUsd)
  }

  #meetLaunch(fact: LaunchFact): void {
    const { time } = this.#block
    const platform = this.#settings.registry.deploymentOf(fact.factory, fact.block)
    const token = this.#records.tokenIfKnown(fact.address)
    const isPast = (fact.createdAt ?? 0) <= time && (fact.graduatedAt ?? 0) <= time
    if (platform?.is.isLaunchPlatform === undefined || token === undefined || !isPast) return
    this.#records.editToken(token)
    token.platform = withPastLaunch(token.platform, platform.amm, fact)
    token.updatedAt = time
  }

  /** Differs in the block that mentions the coin first, and in the first block folded by other settings. */
  #setNativeSupply(): void {
    const { native } = this.#settings
    const token = native && this.#records.tokenIfKnown(native.address)
    if (native === undefined || token === undefined || token.supplyRaw === native.supplyRaw) return
    this.#records.editToken(token)
    token.supplyRaw = native.supplyRaw
    token.fdvUsd = amountValue(native.supplyRaw, token.decimals, token.priceUsd)
    token.marketCapUsd = token.fdvUsd
    token.updatedAt = this.#block.time
  }

  #meetPool(fact: PoolFact): void {
    if (this.#tables.pools.has(fact.address)) {
      this.#meetAgain(fact)
      return
    }
    const deployment = this.#settings.registry.deploymentOf(fact.factory, this.#block.number)
    if (deployment === undefined) return
    const pool = newPool(fact)
    this.#tables.pools.put(pool)
    const { isLaunchPlatform, isSingleton } = deployment.is
    if (isLaunchPlatform && !isSingleton) this.#tables.curves.put(pool.tokens[0] ?? '', pool.address)
    if (fact.tokens.length === 2) this.#meetPair(pool, 0, 1, fact.reservesBefore)
  }

  /**
   * A pool whose exchange was not read for some blocks: reserves that are counted lack what happened in between. Before the
   * first settings in the log no exchange can have been left out.
   */
  #meetAgain({ address, factory, reservesBefore }: PoolFact): void {
    if (this.#tables.foldedBy.get(ONLY) === undefined) return
    const pool = this.#tables.pools.open(address)
    if (pool?.pair === undefined || pool.factory !== factory) return
    const how = pool.exchangeIn(this.#block.number, this.#settings.registry)?.is.reserves
    if (how !== 'counted' && how !== 'counted_without_fees') return
    this.#records.editPair(pool.pair)
    setReserves(pool.pair, [reservesBefore?.[0], reservesBefore?.[1]])
  }

  #meetPair(pool: Pool, lower: number, higher: number, reserves: readonly bigint[] | undefined): PairView {
    const token0 = pool.tokens[lower] ?? ''
    const token1 = pool.tokens[higher] ?? ''
    const { registry } = this.#settings
    const pair = newPair({
      address: pairId(pool, lower, higher),
      amm: registry.deploymentOf(pool.factory, this.#block.number)?.amm ?? '',
      tokens: [token0, token1],
      reserves,
      targetToken: this.#reference.targetOf(token0, token1),
      tokenOf: (address) => this.#records.tokenIfKnown(address),
      time: this.#block.time,
    })
    return this.#records.addPair(pair)
  }

  #foldLog(transaction: OpenedTransaction, log: RawLog): void {
    const { registry } = this.#settings
    const { number } = this.#block
    const created = registry.announced(log, number)
    if (created !== undefined) {
      this.#foldCreation(created, this.#originOf(transaction, log))
      return
    }
    const launch = registry.tokenEventOf(log, number)
    if (launch !== undefined) {
      const name = registry.deploymentOf(log.address, number)?.amm ?? ''
      if (launch.type !== 'tokenLaunched') this.#emptyCurve(launch.token, name)
      foldTokenLaunch(launch, name, this.#block.time, this.#records)
      return
    }
    const id = registry.poolOf(log, number)
    const pool = id === undefined ? undefined : this.#tables.pools.open(id)
    const exchange = pool?.exchangeIn(number, registry)
    const event = exchange === undefined ? undefined : registry.eventOf(exchange, log)
    if (pool === undefined || exchange === undefined || event === undefined) return
    const origin = this.#originOf(transaction, log)
    if (event.type === 'curveOpened') {
      this.#foldCreation(event, origin)
      return
    }
    if (event.type === 'swapped')
      this.#foldSwap(pool, this.#withParties(event, pool, exchange, origin, log), origin)
    // The reserves of a pool with more than two tokens belong to no single pair.
    else if (pool.pair !== undefined) this.#foldOther(pool, pool.pair, event, origin)
    this.#foldLaunch(pool, event)
  }

  #originOf(transaction: OpenedTransaction, log: RawLog): Origin {
    const { number, time } = this.#block
    return { key: { block: number, tx: transaction.index, log: log.index }, time, transaction }
  }

  #foldOther(pool: OpenedPool, pair: PairView, event: Exclude<PoolEvent, Swapped>, origin: Origin): void {
    const { prices } = this.#tables
    if (event.type === 'priceSet') prices.setReported(pool, event.price)
    this.#refresh(pool, pair, event)
    const liquidity = toLiquidity(pool, pair, event, origin, prices)
    if (liquidity !== undefined) this.#liquidity.push(liquidity)
  }

  #foldCreation(created: PoolCreated | CurveOpened, origin: Origin): void {
    const { pools, prices } = this.#tables
    const pool = pools.open(created.pool)
    if (pool === undefined) return
    if ('price' in created && created.price !== undefined) prices.setReported(pool, created.price)
    const { pair } = pool
    if (pair === undefined) return
    this.#records.editPair(pair)
    pair.createdAt = this.#block.time
    setReserves(pair, [pair.token0.reserveRaw, pair.token1.reserveRaw])
    const liquidity = toLiquidity(pool, pair, created, origin, prices)
    if (liquidity !== undefined) this.#liquidity.push(liquidity)
    this.#foldLaunch(pool, created)
  }

  /** Updates the launch progress of a token if the pool is the bonding curve that sells it. */
  #foldLaunch(pool: OpenedPool, event: PoolEvent | PoolCreated): void {
    const exchange = pool.exchangeIn(this.#block.number, this.#settings.registry)
    if (exchange?.is.isLaunchPlatform === undefined || pool.pair === undefined) return
    const token = this.#records.tokenIfKnown(pool.tokens[0] ?? '')
    if (token === undefined) return
    const curve = { name: exchange.amm, pool, pair: pool.pair }
    this.#records.editToken(token)
    token.platform = platformAfter(token.platform, event, curve, this.#block.time)
    token.updatedAt = this.#block.time
  }

  #withParties(swap: Swapped, pool: Pool, { is }: Deployed, origin: Origin, log: RawLog): Swapped {
    if (is.payerOf === undefined || !this.#settings.hasParties) return swap
    return this.#parties.complete(swap, pool, is.payerOf(log), origin.transaction)
  }

  /** Empties a token's bonding curve, whose own events do not report it. */
  #emptyCurve(token: string, name: string): void {
    const pool = this.#tables.pools.open(this.#tables.curves.get(token) ?? '')
    if (pool?.pair?.amm === name) this.#refresh(pool, pool.pair, { type: 'curveClosed', pool: pool.address })
  }

  #foldSwap(pool: OpenedPool, swap: Swapped, origin: Origin): void {
    const from = placeOf(pool, swap.token0)
    const to = placeOf(pool, swap.token1)
    if (from === undefined || to === undefined || from === to) return
    const isInOrder = from < to
    const lower = isInOrder ? from : to
    const higher = isInOrder ? to : from
    const exchange = isInOrder ? exchangeOf(swap.delta0, swap.delta1) : exchangeOf(swap.delta1, swap.delta0)
    const pair =
      pool.pair ??
      this.#tables.pairs.get(pairId(pool, lower, higher)) ??
      this.#meetPair(pool, lower, higher, undefined)
    if (exchange !== undefined && pool.pricing.kind === 'trades') {
      const ratio = { raw0: exchange.amount0, raw1: exchange.amount1 }
      this.#tables.prices.setLastExchange(pair, ratio)
    }
    if (swap.price !== undefined) this.#tables.prices.setReported(pool, swap.price)
    this.#refresh(pool, pair, swap)
    if (exchange !== undefined) this.#trade(pair, exchange, swap, origin)
  }

  /** The state after the block's events, as a node reports it; a pool with more than two tokens has no pair to set. */
  #foldState({ address, reserves, price }: PoolStateFact): void {
    const pool = this.#tables.pools.open(address)
    const pair = pool?.pair
    const exchange = pool?.exchangeIn(this.#block.number, this.#settings.registry)
    if (pool === undefined || pair === undefined || exchange === undefined) return
    const { prices } = this.#tables
    if (price?.kind === 'exchange') {
      if (isAmount(price.raw0) && isAmount(price.raw1)) prices.setLastExchange(pair, price)
    } else if (price !== undefined) prices.setReported(pool, price)
    if (pair.targetToken === undefined) this.#orient(pair)
    this.#setPairState(pool, pair, [boundedReserve(reserves?.[0]), boundedReserve(reserves?.[1])])
  }

  /** A pair without a target token gets it once one of its tokens has become a quote asset, or has a route to one. */
  #orient(pair: PairView): void {
    const target = this.#reference.targetOf(pair.token0.token, pair.token1.token)
    if (target === undefined) return
    this.#records.editPair(pair)
    this.#tables.pairs.orient(pair, target)
  }

  /** Updates a pair's reserves and prices after an event of its pool. */
  #refresh(pool: OpenedPool, pair: PairView, event: PoolEvent): void {
    if (pair.targetToken === undefined) this.#orient(pair)
    const exchange = pool.exchangeIn(this.#block.number, this.#settings.registry)
    const how = exchange?.is.reserves ?? 'unknown'
    // A Sync event reports the reserves before the Swap, Mint or Burn that caused it.
    if (how === 'reported' && pool.pricing.kind === 'reserves' && event.type !== 'reservesSet') return
    this.#setPairState(pool, pair, reservesAfter(pool, pair, event, how, this.#tables.prices))
  }

  #setPairState(pool: OpenedPool, pair: PairView, reserves: Reserves): void {
    this.#records.editPair(pair)
    setReserves(pair, reserves)
    pair.updatedAt = this.#block.time
    const exchange = pool.exchangeIn(this.#block.number, this.#settings.registry)
    const ratio = ratioOf(pool, pair, this.#tables.prices, exchange?.is.isLaunchPlatform)
    this.#asked.note(pair, ratio)
    reprice(pair, ratio, this.#supplyOfTarget(pair), this.#reference)
  }

  #trade(pair: PairView, exchange: Exchange, swap: Swapped, origin: Origin): void {
    const trade = toTrade(pair, exchange, this.#reference)
    const { paid } = trade
    if (pair.targetToken !== undefined && !this.#traded.has(pair)) this.#openCandles(pair)
    const holdings = this.#holdingsAfter(origin.transaction, trade)
    writeFoldedTrade(this.#changes.next('trade'), origin, swap, pair, trade, holdings)
    this.#trades.push({ key: origin.key, time: origin.time, pair: pair.address })
    this.#records.editPair(pair)
    noteTrade(pair, this.#block.time, trade.side, paid.usd)
    if (pair.targetToken === undefined || pair.oriented === undefined) return
    const quote = trade.side === 'buy' ? trade.sold : trade.bought
    if (!pair.hasTraded) {
      const isNoted = this.#noteFirstTrade(pair.oriented.target, paid.usd)
      // A pair that is priced by a route counts for its target only.
      const isRouted = this.#reference.routes.isNeededFor(quote.token)
      if (!isRouted) pair.hasTraded = this.#noteFirstTrade(pair.oriented.quote, quote.priceUsd) && isNoted
    }
    this.#traded.add(pair)
    this.#tables.candles.take(pair.candleSlot, origin.key, trade, this.#candleStarts)
    if (this.#block.isOld) {
      this.#gathered.note(quote.token, pair.address, pair.targetToken)
      return
    }
    const wallet = this.#tables.visits.walletOf(origin.transaction)
    this.#gathered.add(trade, wallet, pair.address, pair.targetToken)
  }

  /** Solana reports balances with a transaction. Elsewhere they are those that the engine keeps. */
  #holdingsAfter(transaction: OpenedTransaction, trade: FoldedTrade): TradeHoldings | undefined {
    const { wallet } = transaction
    if (wallet !== undefined) {
      const { tokens, nativeRaw } = wallet
      return holdingsOf(trade, (token) => tokens.find((each) => each.token === token), nativeRaw)
    }
    if (!this.#settings.hasParties) return undefined
    return holdingsOf(trade, (token) => this.#wallets.after(transaction, token))
  }

  /** Call before a pair's first trade in the block, which may end candles that are not published yet. */
  #openCandles(pair: PairView): void {
    const { candles } = this.#tables
    const { since } = this.#deferred
    if (pair.candleSlot === NONE) pair.candleSlot = candles.slotOf(pair.address)
    if (since !== undefined)
      candles.publishEnded(pair.candleSlot, pair.names.idOnWire, this.#candleStarts, since, this.#changes)
  }

  /** Returns whether the token's first trade is known now. */
  #noteFirstTrade(side: SideView, priceUsd: Price | undefined): boolean {
    const token = this.#records.tokenOf(side)
    if (token === undefined) return false
    if (token.firstTrade !== undefined) return true
    const firstTrade = { time: this.#block.time, priceUsd }
    this.#records.editToken(token)
    token.firstTrade = firstTrade
    token.launch = launchOf(token.origin, firstTrade, this.#tables.startTime.get(ONLY))
    return true
  }

  #foldWindows(after: CountedWorth, named: readonly WindowsRef[]): void {
    const closeOfToken = (token: string) => this.#records.tokenIfKnown(token)?.priceUsd
    const closesOf = (address: string) => {
      const pair = this.#records.pair(address)
      return {
        pairCloseUsd: after.worthOf(pair).usd,
        tokenCloseUsd: closeOfToken(pair.targetToken ?? ''),
        ...this.#roleOf(pair),
      }
    }
    const trades = this.#gathered.finish(closesOf, closeOfToken)
    const isQuoteAsset = (token: string): boolean => after.reference.isQuoteAsset(token)
    const { joinedOrLeft } = this.#assetChanges
    const { hasRoutes } = this.#settings
    const windows = new WindowFold(this.#tables, this.#block.time, isQuoteAsset, joinedOrLeft, hasRoutes)
    if (this.#block.isOld) windows.runOld(trades, named, this.#changes)
    else windows.run(trades, named, this.#changes)
  }

  /** Anyone can make a route, so a pair that is priced by one counts for its target only while it is the main pair. */
  #roleOf({ address, oriented }: PairView): Pick<Closes, 'isRouted' | 'isForToken'> {
    const isRouted = oriented !== undefined && this.#reference.routes.isNeededFor(oriented.quote.token)
    const isForToken = !isRouted || this.#records.tokenOf(oriented.target)?.mainPair === address
    return { isRouted, isForToken }
  }

  #supplyOfTarget({ oriented }: PairView): bigint | undefined {
    return oriented === undefined ? undefined : this.#records.tokenOf(oriented.target)?.supplyRaw
  }
}

function refOf({ key, time, pair }: EventRef): EventRef {
  return { key, time, pair }
}
