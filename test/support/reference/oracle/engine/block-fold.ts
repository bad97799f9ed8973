import type {
  CurveOpened,
  PoolCreated,
  PoolEvent,
  PoolPrice,
  Swapped,
} from '../../../../../src/dex/events.ts'
import type {
  Change,
  EventRef,
  LiquidityEvent,
  Pair,
  PairSide,
  Trade,
  Windows,
} from '../../../../../src/domain/change.ts'
import type {
  BlockEnvelope,
  PoolFact,
  RawLog,
  RawTransaction,
  TokenFact,
} from '../../../../../src/domain/envelope.ts'
import type { Price } from '../../../../../src/domain/money.ts'
import { BlockRecords } from './block-records.ts'
import { type BlockTrades, candleStarts, foldTrades, withTrade } from './candle/fold-trades.ts'
import { newPair, newToken } from './first-records.ts'
import { HolderFold } from './holders/holder-fold.ts'
import { platformAfter } from './launch/platform.ts'
import { toLiquidity } from './liquidity.ts'
import { newPool, type Pool, pairId, placeOf } from './pool/pool.ts'
import { ratioOf } from './pool/ratio.ts'
import { type Reserves, reservesAfter } from './pool/reserves.ts'
import { AskedPrices } from './price/asked-prices.ts'
import { poolWorth, repriced } from './price/pair-prices.ts'
import { ReferencePrices } from './price/reference-prices.ts'
import { RiskFold } from './risk/risk-fold.ts'
import type { EngineSettings } from './settings.ts'
import { type EngineTables, ONLY } from './tables.ts'
import { launchOf } from './token/launch.ts'
import { TokenUpdates } from './token/token-updates.ts'
import { type Exchange, exchangeOf, type TradeOrigin, toTrade } from './trade.ts'
import { GatheredBlock } from './window/gathered-trades.ts'
import { WindowFold } from './window/window-fold.ts'

/** Where in the chain an event stands. */
type Origin = Omit<TradeOrigin, 'swap'>

/** Folds one block into the tables and gathers what became different. */
export class BlockFold {
  readonly #settings: EngineSettings
  readonly #tables: EngineTables
  readonly #block: BlockEnvelope
  readonly #reference: ReferencePrices
  readonly #records: BlockRecords
  readonly #trades: Trade[] = []
  readonly #liquidity: LiquidityEvent[] = []
  /** By pair, where they make candles, and where they enter windows. */
  readonly #tradesOf = new Map<string, BlockTrades>()
  readonly #gathered: GatheredBlock
  readonly #asked = new AskedPrices()

  constructor(settings: EngineSettings, tables: EngineTables, block: BlockEnvelope) {
    this.#settings = settings
    this.#tables = tables
    this.#block = block
    this.#reference = new ReferencePrices(settings, tables)
    this.#records = new BlockRecords(tables)
    this.#gathered = new GatheredBlock((token) => this.#reference.isQuoteAsset(token))
  }

  run(): Change[] {
    // Pools name their tokens, so tokens come first.
    for (const fact of this.#block.facts) if (fact.type === 'token') this.#meetToken(fact)
    for (const fact of this.#block.facts) if (fact.type === 'pool') this.#meetPool(fact)
    for (const transaction of this.#block.transactions) {
      for (const log of transaction.logs) this.#foldLog(transaction, log)
    }
    const holders = new HolderFold(this.#settings, this.#tables, this.#records, this.#block)
    const balances = holders.run()
    const settled = this.#asked.settle(this.#settings, this.#tables, this.#reference)
    const after = new ReferencePrices(this.#settings, this.#tables)
    const updates = new TokenUpdates(this.#settings, this.#tables, this.#records, after, this.#block)
    const switches = updates.run(settled)
    const contracts = new RiskFold(this.#tables, this.#records, this.#block).run(holders.touched)
    const newMainPairs = switches.map(({ newPair }) => newPair)
    const windows = this.#foldWindows(after, newMainPairs)
    const [trades, liquidity] = [this.#trades, this.#liquidity]
    if (trades.length > 0 || liquidity.length > 0 || switches.length > 0) {
      const refs = { trades: trades.map(refOf), liquidity: liquidity.map(refOf), switches }
      this.#tables.emitted.put(String(this.#block.number), refs)
    }
    return [
      ...trades.map((trade): Change => ({ type: 'trade', trade })),
      ...liquidity.map((event): Change => ({ type: 'liquidity', liquidity: event })),
      ...this.#foldCandles(),
      ...this.#records.changes(),
      ...windows.map((each): Change => ({ type: 'windows', windows: each })),
      ...switches.map((each): Change => ({ type: 'switch', switch: each })),
      ...balances.map((balance): Change => ({ type: 'balance', balance })),
      ...contracts.map((contract): Change => ({ type: 'contract', contract })),
    ]
  }

  #meetToken(fact: TokenFact): void {
    if (this.#tables.tokens.get(fact.address) !== undefined) return
    const token = newToken(fact, this.#reference.worthWithoutPair(fact.address), this.#block.time)
    this.#records.putToken({ token, targetOf: [], firstTrade: undefined })
  }

  #meetPool(fact: PoolFact): void {
    if (this.#tables.pools.get(fact.address) !== undefined) return
    const deployment = this.#settings.registry.deploymentOf(fact.factory, this.#block.number)
    if (deployment === undefined) return
    const pool = newPool(fact)
    this.#tables.pools.put(pool.address, pool)
    if (fact.tokens.length === 2) this.#meetPair(pool, 0, 1, fact.reservesBefore)
  }

  #meetPair(pool: Pool, lower: number, higher: number, reserves: readonly bigint[] | undefined): Pair {
    const token0 = pool.tokens[lower] ?? ''
    const token1 = pool.tokens[higher] ?? ''
    const { registry } = this.#settings
    const pair = newPair({
      address: pairId(pool, lower, higher),
      amm: registry.deploymentOf(pool.factory, this.#block.number)?.amm ?? '',
      tokens: [token0, token1],
      reserves,
      targetToken: this.#reference.targetOf(token0, token1),
      tokenOf: (address) => this.#tables.tokens.get(address)?.token,
      time: this.#block.time,
    })
    this.#records.putPair(pair)
    return pair
  }

  #foldLog(transaction: RawTransaction, log: RawLog): void {
    const { registry } = this.#settings
    const { number, time } = this.#block
    const origin: Origin = {
      key: { block: number, tx: transaction.index, log: log.index },
      time,
      transaction: transaction.hash,
      wallet: transaction.from,
    }
    const created = registry.announced(log, number)
    if (created !== undefined) {
      this.#foldCreation(created, origin)
      return
    }
    const id = registry.poolOf(log, number)
    const pool = id === undefined ? undefined : this.#tables.pools.get(id)
    const event = pool === undefined ? undefined : registry.decode(pool.factory, log, number)
    if (pool === undefined || event === undefined) return
    if (event.type === 'curveOpened') {
      this.#foldCreation(event, origin)
      return
    }
    if (event.type === 'swapped') this.#foldSwap(pool, event, { ...origin, swap: event })
    // What a pool of more tokens holds belongs to no pair alone.
    else if (pool.tokens.length === 2) this.#foldOther(pool, event, origin)
    this.#foldLaunch(pool, event)
  }

  #foldOther(pool: Pool, event: Exclude<PoolEvent, Swapped>, origin: Origin): void {
    const priced = event.type === 'priceSet' ? this.#withPrice(pool, event.price) : pool
    const refreshed = this.#refresh(priced, this.#records.pair(pool.address), event)
    const liquidity = toLiquidity(priced, refreshed, event, origin)
    if (liquidity !== undefined) this.#liquidity.push(liquidity)
  }

  #foldCreation(created: PoolCreated | CurveOpened, origin: Origin): void {
    const pool = this.#tables.pools.get(created.pool)
    if (pool === undefined) return
    if ('price' in created && created.price !== undefined) this.#withPrice(pool, created.price)
    const known = this.#tables.pairs.get(created.pool)
    if (known === undefined) return
    const pair = withReserves({ ...known, createdAt: this.#block.time }, reservesOf(known))
    this.#records.putPair(pair)
    const liquidity = toLiquidity(pool, pair, created, origin)
    if (liquidity !== undefined) this.#liquidity.push(liquidity)
    this.#foldLaunch(pool, created)
  }

  /** Keeps up to date how far the launch of a token has come, if the pool is a curve that sells it. */
  #foldLaunch(pool: Pool, event: PoolEvent | PoolCreated): void {
    const deployment = this.#settings.registry.deploymentOf(pool.factory, this.#block.number)
    if (deployment?.is.isLaunchPlatform === undefined) return
    const state = this.#tables.tokens.get(pool.tokens[0] ?? '')
    if (state === undefined) return
    const curve = { name: deployment.amm, pool, pair: this.#records.pair(pool.address) }
    const platform = platformAfter(state.token.platform, event, curve, this.#block.time)
    this.#records.putToken({ ...state, token: { ...state.token, platform, updatedAt: this.#block.time } })
  }

  #foldSwap(pool: Pool, swap: Swapped, origin: TradeOrigin): void {
    const from = placeOf(pool, swap.token0)
    const to = placeOf(pool, swap.token1)
    if (from === undefined || to === undefined || from === to) return
    const isInOrder = from < to
    const lower = isInOrder ? from : to
    const higher = isInOrder ? to : from
    const exchange = isInOrder ? exchangeOf(swap.delta0, swap.delta1) : exchangeOf(swap.delta1, swap.delta0)
    const pair =
      this.#tables.pairs.get(pairId(pool, lower, higher)) ?? this.#meetPair(pool, lower, higher, undefined)
    if (exchange !== undefined && pool.pricing.kind === 'trades') {
      this.#tables.lastExchanges.put(pair.address, { raw0: exchange.amount0, raw1: exchange.amount1 })
    }
    const priced = swap.price === undefined ? pool : this.#withPrice(pool, swap.price)
    const refreshed = this.#refresh(priced, pair, swap)
    if (exchange !== undefined) this.#trade(refreshed, exchange, origin)
  }

  #withPrice(pool: Pool, price: PoolPrice): Pool {
    const priced = { ...pool, price }
    this.#tables.pools.put(pool.address, priced)
    return priced
  }

  /** Brings a pair's reserves and prices up to an event of its pool. */
  #refresh(pool: Pool, pair: Pair, event: PoolEvent): Pair {
    const how =
      this.#settings.registry.deploymentOf(pool.factory, this.#block.number)?.is.reserves ?? 'unknown'
    // Told reserves come in an event of their own, before the one they result from.
    if (how === 'reported' && pool.pricing.kind === 'reserves' && event.type !== 'reservesSet') return pair
    const reserves = reservesAfter(pool, pair, event, how)
    const filled = { ...withReserves(pair, reserves), updatedAt: this.#block.time }
    const ratio = ratioOf(pool, filled, this.#tables.lastExchanges)
    this.#asked.note(pair.address, ratio)
    const refreshed = repriced(filled, ratio, this.#supplyOfTarget(filled), this.#reference)
    this.#records.putPair(refreshed)
    return refreshed
  }

  #trade(pair: Pair, exchange: Exchange, origin: TradeOrigin): void {
    const { trade, paid } = toTrade(pair, exchange, origin, this.#reference)
    this.#trades.push(trade)
    this.#records.putPair({
      ...pair,
      updatedAt: this.#block.time,
      firstTradeAt: pair.firstTradeAt ?? (isReadFromCreation(pair) ? this.#block.time : undefined),
      lastTradeAt: this.#block.time,
      lastTradePriceUsd: paid.usd,
      lastSide: trade.side,
      athPriceUsd: isReadFromCreation(pair) ? higher(pair.athPriceUsd, paid.usd) : undefined,
    })
    if (trade.targetToken === undefined) return
    const quote = trade.side === 'buy' ? trade.sold : trade.bought
    this.#noteFirstTrade(trade.targetToken, paid.usd)
    this.#noteFirstTrade(quote.token, quote.priceUsd)
    const candleTrade = {
      key: trade.key,
      priceUsd: paid.usd,
      priceNative: paid.native,
      priceQuote: paid.inQuote,
      valueUsd: trade.valueUsd,
      valueNative: trade.valueNative,
      valueQuote: paid.quoteValue,
    }
    this.#tradesOf.set(pair.address, withTrade(this.#tradesOf.get(pair.address), candleTrade))
    this.#gathered.add(trade, trade.targetToken)
  }

  #noteFirstTrade(token: string, priceUsd: Price | undefined): void {
    const state = this.#tables.tokens.get(token)
    if (state === undefined || state.firstTrade !== undefined) return
    const firstTrade = { time: this.#block.time, priceUsd }
    const launch = launchOf(state.token.origin, firstTrade, this.#tables.startTime.get(ONLY))
    this.#records.putToken({ ...state, token: { ...state.token, launch }, firstTrade })
  }

  #foldCandles(): Change[] {
    const starts = candleStarts(this.#block.time)
    const changes: Change[] = []
    for (const [pair, trades] of this.#tradesOf) {
      const newest = foldTrades(this.#tables.candles.get(pair) ?? [], pair, trades, starts)
      this.#tables.candles.put(pair, newest)
      for (const candle of newest) changes.push({ type: 'candle', candle })
    }
    return changes
  }

  #foldWindows(after: ReferencePrices, newMainPairs: readonly string[]): Windows[] {
    const closeOfToken = (token: string) => this.#tables.tokens.get(token)?.token.priceUsd
    const closesOf = (address: string) => {
      const pair = this.#records.pair(address)
      return {
        pairCloseUsd: poolWorth(pair, this.#tables.references.get(address), after).usd,
        tokenCloseUsd: closeOfToken(pair.targetToken ?? ''),
      }
    }
    const trades = this.#gathered.finish(closesOf, closeOfToken)
    const isQuoteAsset = (token: string): boolean => after.isQuoteAsset(token)
    return new WindowFold(this.#tables, this.#block, isQuoteAsset).run(trades, newMainPairs)
  }

  #supplyOfTarget(pair: Pair): bigint | undefined {
    return pair.targetToken === undefined
      ? undefined
      : this.#tables.tokens.get(pair.targetToken)?.token.supplyRaw
  }
}

/** All that happened to it is known; of an older pair the first trade, for one, is not. */
function isReadFromCreation({ createdAt }: Pair): boolean {
  return createdAt !== undefined
}

function reservesOf({ token0, token1 }: Pair): Reserves {
  return [token0.reserveRaw, token1.reserveRaw]
}

function withReserves(pair: Pair, [reserve0, reserve1]: Reserves): Pair {
  const fill = (side: PairSide, reserveRaw: bigint | undefined): PairSide => {
    const first = isReadFromCreation(pair) && reserveRaw !== 0n ? reserveRaw : undefined
    return { ...side, reserveRaw, initialReserveRaw: side.initialReserveRaw ?? first }
  }
  return { ...pair, token0: fill(pair.token0, reserve0), token1: fill(pair.token1, reserve1) }
}

function higher(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return a > b ? a : b
}

function refOf({ key, time, pair }: EventRef): EventRef {
  return { key, time, pair }
}
