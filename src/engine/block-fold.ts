import type { Swapped } from '../dex/events.ts'
import type { Change, Pair, PairSide, Trade, TradeSide } from '../domain/change.ts'
import type { BlockEnvelope, PoolFact, RawLog, RawTransaction, TokenFact } from '../domain/envelope.ts'
import { never } from '../domain/ids.ts'
import { ONE_PRICE } from '../domain/money.ts'
import { foldTrade } from './candle/fold-trade.ts'
import { newPair, newToken } from './first-records.ts'
import { amountValue, orient, repriced, targetWorth } from './price/pair-prices.ts'
import { ReferencePrices, UNKNOWN_WORTH, type Worth } from './price/reference-prices.ts'
import type { EngineSettings } from './settings.ts'
import type { EngineTables, TokenState } from './tables.ts'
import { deepest, withDepth } from './token/main-pair.ts'

/** Folds one block into the tables and gathers what became different. */
export class BlockFold {
  readonly #settings: EngineSettings
  readonly #tables: EngineTables
  readonly #block: BlockEnvelope
  readonly #reference: ReferencePrices
  readonly #trades: Trade[] = []
  readonly #touchedPairs = new Set<string>()
  readonly #touchedTokens = new Set<string>()
  readonly #touchedCandles = new Set<string>()
  #anchorMoved = false

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
    for (const address of [...this.#touchedPairs]) this.#updateTarget(address)
    if (this.#anchorMoved) this.#updateStables()
    const { pairs, tokens, candles, emitted } = this.#tables
    const refs = this.#trades.map(({ key, time, pair }) => ({ key, time, pair }))
    if (refs.length > 0) emitted.put(String(this.#block.number), refs)
    return [
      ...this.#trades.map((trade): Change => ({ type: 'trade', trade })),
      ...[...this.#touchedCandles].flatMap((pair) =>
        (candles.get(pair) ?? []).map((candle): Change => ({ type: 'candle', candle })),
      ),
      ...[...this.#touchedPairs].map((address): Change => ({ type: 'pair', pair: must(pairs.get(address)) })),
      ...[...this.#touchedTokens].map(
        (address): Change => ({ type: 'token', token: must(tokens.get(address)).token }),
      ),
    ]
  }

  #meetToken(fact: TokenFact): void {
    if (this.#tables.tokens.get(fact.address) !== undefined) return
    const token = newToken(fact, this.#worthWithoutPair(fact.address), this.#block.time)
    this.#putToken({ token, targetOf: [] })
  }

  #meetPool(fact: PoolFact): void {
    const deployment = this.#settings.registry.deploymentOf(fact.factory)
    if (deployment === undefined || this.#tables.pairs.get(fact.address) !== undefined) return
    const targetToken = this.#reference.targetOf(fact.token0, fact.token1)
    const tokenOf = (address: string) => this.#tables.tokens.get(address)?.token
    this.#putPair(newPair(fact, deployment.amm, targetToken, tokenOf, this.#block.time))
  }

  #foldLog(transaction: RawTransaction, log: RawLog): void {
    const created = this.#settings.registry.decodeFactoryLog(log)
    if (created !== undefined) {
      const pair = this.#tables.pairs.get(created.pool)
      if (pair !== undefined) this.#putPair({ ...pair, createdAt: this.#block.time })
      return
    }
    const pair = this.#tables.pairs.get(log.address)
    if (pair === undefined) return
    const event = this.#settings.registry.decodePoolLog(pair.amm, log)
    if (event === undefined) return
    switch (event.type) {
      case 'poolCreated':
        // Only a factory's word counts, and a pool is no factory.
        break
      case 'reservesSet':
        this.#setReserves(pair, event.reserve0, event.reserve1)
        break
      case 'swapped':
        this.#trade(pair, event, transaction, log)
        break
      default:
        never(event)
    }
  }

  #setReserves(pair: Pair, reserve0: bigint, reserve1: bigint): void {
    const withReserve = (side: PairSide, reserveRaw: bigint): PairSide => ({
      ...side,
      reserveRaw,
      initialReserveRaw: side.initialReserveRaw === 0n ? reserveRaw : side.initialReserveRaw,
    })
    const filled = {
      ...pair,
      token0: withReserve(pair.token0, reserve0),
      token1: withReserve(pair.token1, reserve1),
      updatedAt: this.#block.time,
    }
    if (this.#reference.observe(filled)) this.#anchorMoved = true
    this.#putPair(repriced(filled, this.#supplyOfTarget(filled), this.#reference))
  }

  #trade(pair: Pair, swap: Swapped, transaction: RawTransaction, log: RawLog): void {
    const sells0 = swap.delta0 > 0n && swap.delta1 < 0n
    const sells1 = swap.delta1 > 0n && swap.delta0 < 0n
    // A flash swap paid back in kind exchanges nothing: no one bought, no one sold.
    if (!sells0 && !sells1) return
    const amount0 = sells0 ? swap.delta0 : -swap.delta0
    const amount1 = sells1 ? swap.delta1 : -swap.delta1
    const oriented = orient(pair)
    const targetIs0 = pair.targetToken === pair.token0.token
    const targetRaw = targetIs0 ? amount0 : amount1
    const quoteRaw = targetIs0 ? amount1 : amount0
    const quoteWorth = oriented === undefined ? UNKNOWN_WORTH : this.#reference.worthOf(oriented.quote.token)
    const paid =
      oriented === undefined
        ? UNKNOWN_WORTH
        : targetWorth(oriented, targetRaw, quoteRaw, quoteWorth, this.#reference)
    const tradeSide = (side: PairSide, amountRaw: bigint): TradeSide => {
      const worth = side.token === pair.targetToken ? paid : quoteWorth
      const { token, symbol, decimals, reserveRaw } = side
      return {
        token,
        symbol,
        decimals,
        amountRaw,
        reserveRaw,
        priceUsd: worth.usd,
        priceNative: worth.native,
      }
    }
    const side0 = tradeSide(pair.token0, amount0)
    const side1 = tradeSide(pair.token1, amount1)
    const side = oriented === undefined ? undefined : sells0 === targetIs0 ? 'sell' : 'buy'
    const trade: Trade = {
      key: { block: this.#block.number, tx: transaction.index, log: log.index },
      time: this.#block.time,
      pair: pair.address,
      amm: pair.amm,
      transaction: transaction.hash,
      sender: swap.sender,
      recipient: swap.recipient,
      wallet: transaction.from,
      targetToken: pair.targetToken,
      side,
      sold: sells0 ? side0 : side1,
      bought: sells0 ? side1 : side0,
      valueUsd: amountValue(quoteRaw, oriented?.quote.decimals, quoteWorth.usd),
      valueNative:
        oriented !== undefined && this.#reference.isNative(oriented.target.token)
          ? amountValue(targetRaw, oriented.target.decimals, ONE_PRICE)
          : amountValue(quoteRaw, oriented?.quote.decimals, quoteWorth.native),
      liquidityUsd: pair.tvlUsd,
      liquidityNative: pair.tvlNative,
    }
    this.#trades.push(trade)
    this.#putPair({
      ...pair,
      updatedAt: this.#block.time,
      firstTradeAt: pair.firstTradeAt ?? this.#block.time,
      lastTradeAt: this.#block.time,
      lastTradePriceUsd: paid.usd,
      lastSide: side,
      athPriceUsd: higher(pair.athPriceUsd, paid.usd),
    })
    if (oriented === undefined) return
    const newest = this.#tables.candles.get(pair.address) ?? []
    const { key, time, valueUsd, valueNative } = trade
    const paidFor = {
      key,
      time,
      pair: pair.address,
      priceUsd: paid.usd,
      priceNative: paid.native,
      valueUsd,
      valueNative,
    }
    this.#tables.candles.put(pair.address, foldTrade(newest, paidFor))
    this.#touchedCandles.add(pair.address)
  }

  /** Carries a pair's new depth and price over to its target token, and moves the main pair if need be. */
  #updateTarget(address: string): void {
    const pair = must(this.#tables.pairs.get(address))
    const state = pair.targetToken === undefined ? undefined : this.#tables.tokens.get(pair.targetToken)
    if (state === undefined) return
    const targetOf = withDepth(state.targetOf, pair)
    const main = deepest(targetOf)
    const previous = state.token.mainPair
    if (previous !== undefined && previous !== main?.pair) this.#setMain(previous, false)
    if (main !== undefined) this.#setMain(main.pair, true)
    const mainPair = main === undefined ? undefined : must(this.#tables.pairs.get(main.pair))
    const side = mainPair === undefined ? undefined : orient(mainPair)?.target
    const { address: token, decimals, supplyRaw } = state.token
    const worth =
      side === undefined ? this.#worthWithoutPair(token) : { usd: side.priceUsd, native: side.priceNative }
    this.#putToken({
      token: {
        ...state.token,
        priceUsd: worth.usd,
        priceNative: worth.native,
        mainPair: main?.pair,
        mainPairTvlUsd: main?.tvlUsd,
        tvlUsd: main === undefined ? undefined : targetOf.reduce((total, { tvlUsd }) => total + tvlUsd, 0n),
        fdvUsd: supplyRaw === undefined ? undefined : amountValue(supplyRaw, decimals, worth.usd),
        updatedAt: this.#block.time,
      },
      targetOf,
    })
  }

  #setMain(address: string, isMain: boolean): void {
    const pair = must(this.#tables.pairs.get(address))
    if (pair.isMain !== isMain) this.#putPair({ ...pair, isMain })
  }

  /** A stablecoin's price in native coins follows the native coin's price in dollars. */
  #updateStables(): void {
    for (const { address, kind } of this.#settings.quoteAssets) {
      const state = this.#tables.tokens.get(address)
      // One that has a main pair is priced by it, like any other token.
      if (kind !== 'stable' || state === undefined || state.token.mainPair !== undefined) continue
      const { native } = this.#reference.worthOf(address)
      this.#putToken({
        ...state,
        token: { ...state.token, priceNative: native, updatedAt: this.#block.time },
      })
    }
  }

  /** Of a token that no pair prices: a stablecoin is a dollar, of any other nothing is known. */
  #worthWithoutPair(address: string): Worth {
    return this.#reference.isStable(address) ? this.#reference.worthOf(address) : UNKNOWN_WORTH
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

function higher(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return a > b ? a : b
}

function must<T>(record: T | undefined): T {
  if (record === undefined) throw new Error('a record the block has just touched is missing')
  return record
}
