import type { PoolCreated, PoolEvent, PoolPrice, Swapped } from '../dex/events.ts'
import type { Change, Pair, PairSide, Trade } from '../domain/change.ts'
import type { BlockEnvelope, PoolFact, RawLog, RawTransaction, TokenFact } from '../domain/envelope.ts'
import { type BlockTrades, candleStarts, foldTrades, withTrade } from './candle/fold-trades.ts'
import { newPair, newToken } from './first-records.ts'
import { newPool, type Pool, pairId, placeOf } from './pool/pool.ts'
import { ratioOf } from './pool/ratio.ts'
import { type Reserves, reservesAfter } from './pool/reserves.ts'
import { AskedPrices } from './price/asked-prices.ts'
import { amountValue, poolWorth, repriced } from './price/pair-prices.ts'
import { ReferencePrices } from './price/reference-prices.ts'
import type { EngineSettings } from './settings.ts'
import type { EngineTables, PairDepth, TokenState } from './tables.ts'
import { mainOf, withDepth } from './token/main-pair.ts'
import { type Exchange, exchangeOf, type TradeOrigin, toTrade } from './trade.ts'

/** Folds one block into the tables and gathers what became different. */
export class BlockFold {
  readonly #settings: EngineSettings
  readonly #tables: EngineTables
  readonly #block: BlockEnvelope
  readonly #reference: ReferencePrices
  readonly #trades: Trade[] = []
  readonly #touchedPairs = new Set<string>()
  readonly #touchedTokens = new Set<string>()
  /** By pair, where they make candles. */
  readonly #tradesOf = new Map<string, BlockTrades>()
  readonly #asked = new AskedPrices()

  constructor(settings: EngineSettings, tables: EngineTables, block: BlockEnvelope) {
    this.#settings = settings
    this.#tables = tables
    this.#block = block
    this.#reference = new ReferencePrices(settings, tables)
  }

  run(): Change[] {
    // Pools name their tokens, so tokens come first.
    for (const fact of this.#block.facts) if (fact.type === 'token') this.#meetToken(fact)
    for (const fact of this.#block.facts) if (fact.type === 'pool') this.#meetPool(fact)
    for (const transaction of this.#block.transactions) {
      for (const log of transaction.logs) this.#foldLog(transaction, log)
    }
    const settled = this.#asked.settle(this.#settings, this.#tables, this.#reference)
    const after = new ReferencePrices(this.#settings, this.#tables)
    this.#updateTargets(new Set([...this.#touchedPairs, ...settled]), after)
    this.#updateQuoteAssets(after)
    const { pairs, tokens, emitted } = this.#tables
    const refs = this.#trades.map(({ key, time, pair }) => ({ key, time, pair }))
    if (refs.length > 0) emitted.put(String(this.#block.number), refs)
    return [
      ...this.#trades.map((trade): Change => ({ type: 'trade', trade })),
      ...this.#foldCandles(),
      ...[...this.#touchedPairs].map((address): Change => ({ type: 'pair', pair: must(pairs.get(address)) })),
      ...[...this.#touchedTokens].map(
        (address): Change => ({ type: 'token', token: must(tokens.get(address)).token }),
      ),
    ]
  }

  #meetToken(fact: TokenFact): void {
    if (this.#tables.tokens.get(fact.address) !== undefined) return
    const token = newToken(fact, this.#reference.worthWithoutPair(fact.address), this.#block.time)
    this.#putToken({ token, targetOf: [] })
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
    this.#putPair(pair)
    return pair
  }

  #foldLog(transaction: RawTransaction, log: RawLog): void {
    const { registry } = this.#settings
    const { number, time } = this.#block
    const created = registry.announced(log, number)
    if (created !== undefined) {
      this.#foldCreation(created)
      return
    }
    const id = registry.poolOf(log, number)
    const pool = id === undefined ? undefined : this.#tables.pools.get(id)
    const event = pool === undefined ? undefined : registry.decode(pool.factory, log, number)
    if (pool === undefined || event === undefined) return
    if (event.type === 'swapped') {
      const key = { block: number, tx: transaction.index, log: log.index }
      const { hash, from: wallet } = transaction
      this.#foldSwap(pool, event, { key, time, transaction: hash, wallet, swap: event })
    } else if (pool.tokens.length === 2) {
      // What a pool of more tokens holds belongs to no pair alone.
      const priced = event.type === 'priceSet' ? this.#withPrice(pool, event.price) : pool
      this.#refresh(priced, must(this.#tables.pairs.get(pool.address)), event)
    }
  }

  #foldCreation({ pool: id, price }: PoolCreated): void {
    const pool = this.#tables.pools.get(id)
    if (pool === undefined) return
    if (price !== undefined) this.#withPrice(pool, price)
    const pair = this.#tables.pairs.get(id)
    if (pair !== undefined) this.#putPair({ ...pair, createdAt: this.#block.time })
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
    if (how === 'told' && pool.pricing.kind === 'reserves' && event.type !== 'reservesSet') return pair
    const reserves = reservesAfter(pool, pair, event, how)
    const filled = { ...withReserves(pair, reserves), updatedAt: this.#block.time }
    const ratio = ratioOf(pool, filled, this.#tables.lastExchanges)
    this.#asked.note(pair.address, ratio)
    const refreshed = repriced(filled, ratio, this.#supplyOfTarget(filled), this.#reference)
    this.#putPair(refreshed)
    return refreshed
  }

  #trade(pair: Pair, exchange: Exchange, origin: TradeOrigin): void {
    const { trade, paid } = toTrade(pair, exchange, origin, this.#reference)
    this.#trades.push(trade)
    this.#putPair({
      ...pair,
      updatedAt: this.#block.time,
      firstTradeAt: pair.firstTradeAt ?? this.#block.time,
      lastTradeAt: this.#block.time,
      lastTradePriceUsd: paid.usd,
      lastSide: trade.side,
      athPriceUsd: higher(pair.athPriceUsd, paid.usd),
    })
    if (trade.targetToken === undefined) return
    const { key, valueUsd, valueNative } = trade
    const paidFor = { key, priceUsd: paid.usd, priceNative: paid.native, valueUsd, valueNative }
    this.#tradesOf.set(pair.address, withTrade(this.#tradesOf.get(pair.address), paidFor))
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

  /** Carries pairs' new depths and prices over to their target tokens. */
  #updateTargets(pairs: ReadonlySet<string>, after: ReferencePrices): void {
    // All depths first: which pair is the main one must not depend on which was looked at before.
    const depths = new Map<string, PairDepth[]>()
    for (const address of pairs) {
      const pair = must(this.#tables.pairs.get(address))
      const state = pair.targetToken === undefined ? undefined : this.#tables.tokens.get(pair.targetToken)
      if (state === undefined) continue
      const { address: token } = state.token
      depths.set(token, withDepth(depths.get(token) ?? state.targetOf, pair))
    }
    for (const [token, targetOf] of depths) {
      this.#updateTarget(must(this.#tables.tokens.get(token)), targetOf, after)
    }
  }

  #updateTarget(state: TokenState, targetOf: readonly PairDepth[], after: ReferencePrices): void {
    const previous = state.token.mainPair
    const main = mainOf(targetOf, previous)
    if (previous !== undefined && previous !== main?.pair) this.#setMain(previous, false)
    if (main !== undefined) this.#setMain(main.pair, true)
    const mainPair = main === undefined ? undefined : must(this.#tables.pairs.get(main.pair))
    const { address: token, decimals, supplyRaw } = state.token
    const worth =
      mainPair === undefined
        ? after.worthWithoutPair(token)
        : poolWorth(mainPair, this.#tables.references.get(mainPair.address), after)
    this.#putToken({
      token: {
        ...state.token,
        priceUsd: worth.usd,
        priceNative: worth.native,
        mainPair: main?.pair,
        mainPairTvlUsd: main?.tvlUsd,
        tvlUsd: main === undefined ? undefined : targetOf.reduce((total, { tvlUsd }) => total + tvlUsd, 0n),
        fdvUsd: amountValue(supplyRaw, decimals, worth.usd),
        updatedAt: this.#block.time,
      },
      targetOf,
    })
  }

  #setMain(address: string, isMain: boolean): void {
    const pair = must(this.#tables.pairs.get(address))
    if (pair.isMain !== isMain) this.#putPair({ ...pair, isMain })
  }

  /** A stablecoin or native coin that no pair prices is worth what it counts for. */
  #updateQuoteAssets(after: ReferencePrices): void {
    for (const { address, kind } of this.#settings.quoteAssets) {
      const state = this.#tables.tokens.get(address)
      if (kind === 'major' || state === undefined || state.token.mainPair !== undefined) continue
      const { usd, native } = after.worthOf(address)
      const { decimals, supplyRaw, priceUsd, priceNative } = state.token
      if (usd === priceUsd && native === priceNative) continue
      const fdvUsd = amountValue(supplyRaw, decimals, usd)
      const prices = { priceUsd: usd, priceNative: native, fdvUsd, updatedAt: this.#block.time }
      this.#putToken({ ...state, token: { ...state.token, ...prices } })
    }
  }

  #supplyOfTarget(pair: Pair): bigint | undefined {
    return pair.targetToken === undefined
      ? undefined
      : this.#tables.tokens.get(pair.targetToken)?.token.supplyRaw
  }

  #putPair(pair: Pair): void {
    this.#tables.pairs.put(pair.address, pair)
    this.#touchedPairs.add(pair.address)
  }

  #putToken(state: TokenState): void {
    this.#tables.tokens.put(state.token.address, state)
    this.#touchedTokens.add(state.token.address)
  }
}

function withReserves(pair: Pair, [reserve0, reserve1]: Reserves): Pair {
  const fill = (side: PairSide, reserveRaw: bigint | undefined): PairSide => {
    const initialReserveRaw = side.initialReserveRaw ?? (reserveRaw === 0n ? undefined : reserveRaw)
    return { ...side, reserveRaw, initialReserveRaw }
  }
  return { ...pair, token0: fill(pair.token0, reserve0), token1: fill(pair.token1, reserve1) }
}

function higher(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return a > b ? a : b
}

function must<T>(record: T | undefined): T {
  if (record === undefined) throw new Error('a record the block has just touched is missing')
  return record
}
