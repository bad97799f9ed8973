import { PARTIES_RULES, RULES_VERSION } from '../../../src/domain/chain-settings.ts'
import type {
  Candle,
  EventSide,
  LiquidityEvent,
  MainPairSwitch,
  Pair,
  PairSide,
  Token,
  Trade,
} from '../../../src/domain/change.ts'
import type { BlockEnvelope } from '../../../src/domain/envelope.ts'
import { candleStart, INTERVALS } from '../../../src/domain/interval.ts'
import { ONE_PRICE, type Value } from '../../../src/domain/money.ts'
import { compareOrderKeys } from '../../../src/domain/order-key.ts'
import type { Market } from '../arbitraries/market-arbitraries.ts'
import { LOCKERS } from '../arbitraries/move-arbitraries.ts'
import { ammOf, type MetPool, type SwapSeen } from '../builders/market-events.ts'
import { END, MarketHistory, NOTHING, sumThatFits } from '../builders/market-history.ts'
import { candleId, eventId, type HeldBalance, switchId, type Tables } from './change-tables.ts'
import {
  type ReferenceHolders,
  referenceHeld,
  referenceHolders,
  referenceSupply,
} from './reference-holders.ts'
import { referenceWindows } from './reference-windows.ts'

/** The published tables once more, the slow and obvious way: every number is looked up in the whole history. */
export function referenceTables(market: Market, chain: readonly BlockEnvelope[]): Tables {
  const model = new Reference(market, chain)
  const trades = model.trades()
  return {
    trades: new Map(trades.map((trade) => [eventId(trade), trade])),
    candles: new Map(model.candles(trades).map((candle) => [candleId(candle), candle])),
    pairs: new Map(model.pools.map(({ address }) => [address, model.pair(address, trades)])),
    tokens: new Map(model.tokens.map(({ address }) => [address, model.token(address, trades)])),
    liquidity: new Map(model.liquidity().map((event) => [eventId(event), event])),
    switches: new Map(model.switches().map((each) => [switchId(each), each])),
    contracts: new Map(),
    balances: model.balances(),
    ...referenceWindows(model, trades),
  }
}

class Reference extends MarketHistory {
  trades(): Trade[] {
    return this.swaps.flatMap((swap): Trade[] => {
      const net0 = swap.in[0] - swap.out[0]
      const net1 = swap.in[1] - swap.out[1]
      if (net0 === 0n || net1 === 0n || net0 > 0n === net1 > 0n) return []
      const { key, time, pool, transaction, sender, recipient, wallet } = swap
      const fact = this.poolFact(pool)
      const amounts = [net0 > 0n ? net0 : -net0, net1 > 0n ? net1 : -net1] as const
      const place = this.placeOf(key)
      const target = this.targetOf(fact, place)
      const [targetRaw, quoteRaw] = target === fact.token0 ? amounts : [amounts[1], amounts[0]]
      const quote = this.quoteOf(fact, place)
      const quoteWorth = this.quoteWorth(quote, key)
      const paid = this.targetWorth(target, quote, targetRaw, quoteRaw, key)
      const reserves = this.reservesAt(pool, key)
      const sides = [fact.token0, fact.token1].map((token, at): EventSide => {
        const { usd, native } = token === target ? paid : quoteWorth
        const money = { priceUsd: usd, priceNative: native }
        const raw = { amountRaw: amounts[at] ?? 0n, reserveRaw: reserves[at] }
        return { ...this.named(token), ...raw, ...money }
      }) as [EventSide, EventSide]
      const [sold, bought] = net0 > 0n ? sides : [sides[1], sides[0]]
      const inNative = this.kindOf(target) === 'native'
      const depth = this.depthAt(pool, key)
      return [
        {
          ...{
            key,
            time,
            pair: pool,
            amm: ammOf(fact.factory) ?? '',
            transaction,
            sender,
            recipient,
            wallet,
          },
          targetToken: target,
          side: target === undefined ? undefined : sold.token === target ? 'sell' : 'buy',
          sold,
          bought,
          valueUsd: this.worthOf(quote, quoteRaw, quoteWorth.usd),
          valueNative: inNative
            ? this.worthOf(target, targetRaw, ONE_PRICE)
            : this.worthOf(quote, quoteRaw, quoteWorth.native),
          liquidityUsd: depth.usd,
          liquidityNative: depth.native,
          ...this.#holdings(swap, net0 > 0n, sold.token, bought.token),
        },
      ]
    })
  }

  /** What the wallet held after its transaction; the native balance is in no log. */
  #holdings(
    { key, wallet }: SwapSeen,
    isToken0Sold: boolean,
    soldToken: string,
    boughtToken: string,
  ): Pick<Trade, 'holdings'> {
    if ((this.market.rules ?? RULES_VERSION) < PARTIES_RULES) return {}
    const [sold, bought] = [soldToken, boughtToken].map((token) => {
      const options = { isWrappedNative: this.kindOf(token) === 'native', lockers: new Set(LOCKERS) }
      return referenceHeld(this.chain, token, { wallet, ...key }, options)
    })
    if (sold === undefined && bought === undefined) return {}
    return { holdings: { isToken0Sold, nativeRaw: undefined, sold, bought } }
  }

  candles(trades: readonly Trade[]): Candle[] {
    const candles = new Map<string, Candle>()
    for (const { pair, time, targetToken } of trades) {
      if (targetToken === undefined) continue
      for (const interval of INTERVALS) {
        const start = candleStart(interval, time)
        const inside = trades
          .filter((trade) => trade.pair === pair && trade.targetToken !== undefined)
          .filter((trade) => candleStart(interval, trade.time) === start)
          .sort((a, b) => compareOrderKeys(a.key, b.key))
        const [first, last] = [inside[0]?.key ?? END, inside.at(-1)?.key ?? END]
        const values = (unit: 'Usd' | 'Native' | 'Quote'): Candle['usd'] => {
          const known = inside.flatMap((trade) => {
            const { sold, bought } = trade
            const [target, quote] = sold.token === targetToken ? [sold, bought] : [bought, sold]
            const price = unit === 'Quote' ? this.priceInQuote(target, quote) : target[`price${unit}`]
            const value =
              unit === 'Quote' ? this.worthOf(quote.token, quote.amountRaw, ONE_PRICE) : trade[`value${unit}`]
            return price === undefined ? [] : [{ price, value }]
          })
          const prices = known.map(({ price }) => price)
          const [open, close] = [prices[0], prices.at(-1)]
          if (open === undefined || close === undefined) return undefined
          const sorted = prices.toSorted((a, b) => (a < b ? -1 : 1))
          const volume = sumThatFits(known.map(({ value }) => value))
          return { open, high: sorted.at(-1) ?? open, low: sorted[0] ?? open, close, volume }
        }
        const ref = { pair, interval, start, tradeCount: inside.length, firstTrade: first, lastTrade: last }
        candles.set(candleId(ref), {
          ...{ ...ref, usd: values('Usd'), native: values('Native'), quote: values('Quote') },
        })
      }
    }
    return [...candles.values()]
  }

  /** Whole quote tokens for one whole target token, cut off after 40 digits. */
  priceInQuote(target: EventSide, quote: EventSide): bigint | undefined {
    if (target.decimals === undefined || quote.decimals === undefined) return undefined
    if (target.decimals > 36 || quote.decimals > 36) return undefined
    const price =
      (quote.amountRaw * 10n ** BigInt(40 + target.decimals)) /
      (target.amountRaw * 10n ** BigInt(quote.decimals))
    return price > 0n && price < 10n ** 76n ? price : undefined
  }

  pair(address: string, allTrades: readonly Trade[]): Pair {
    const fact = this.poolFact(address)
    const trades = allTrades.filter(({ pair }) => pair === address)
    const target = this.targetOf(fact)
    const syncs = this.syncs.filter(({ pool }) => pool === address)
    const reserves = this.reservesAt(address, END)
    const creations = this.creations.filter(({ pool }) => pool === address)
    const isSince = ({ key }: { key: Trade['key'] }): boolean =>
      creations[0] !== undefined && compareOrderKeys(key, creations[0].key) > 0
    // Values counted from a pair's creation are unknown if the creation was not read.
    const initial = [0, 1].map((at) => {
      const held = creations[0] && this.reservesAt(address, creations[0].key)[at]
      return held || syncs.filter(isSince).find(({ reserves: { [at]: raw } }) => raw !== 0n)?.reserves[at]
    })
    const prices = this.poolPrices(address, END)
    const depth = this.depthAt(address, END)
    const sides = [fact.token0, fact.token1].map((token, at): PairSide => {
      const { usd, native } = prices === undefined ? NOTHING : token === target ? prices.target : prices.quote
      const raw = { reserveRaw: reserves[at], initialReserveRaw: initial[at] }
      return { ...this.named(token), ...raw, priceUsd: usd, priceNative: native }
    }) as [PairSide, PairSide]
    const last = trades.at(-1)
    const targetPrices = trades.map(({ sold, bought }) => (sold.token === target ? sold : bought).priceUsd)
    const known = trades
      .filter(isSince)
      .map(({ sold, bought }) => (sold.token === target ? sold : bought).priceUsd)
      .filter((price) => price !== undefined && target !== undefined)
    const times = [fact.time, ...syncs.map(({ time }) => time), ...trades.map(({ time }) => time)]
    return {
      address,
      amm: ammOf(fact.factory) ?? '',
      token0: sides[0],
      token1: sides[1],
      targetToken: target,
      isMain: target !== undefined && this.priceAfter(target, this.blocks.length - 1).main === address,
      tvlUsd: depth.usd,
      tvlNative: depth.native,
      fdvUsd: this.worthOf(target, this.#supplyAtLastSync(address, target), prices?.target.usd),
      createdAt: creations.at(-1)?.time,
      updatedAt: Math.max(...times),
      firstTradeAt: trades.find(isSince)?.time,
      lastTradeAt: last?.time,
      lastTradePriceUsd: target === undefined ? undefined : targetPrices.at(-1),
      lastSide: last?.side,
      athPriceUsd: known.toSorted((a, b) => ((a ?? 0n) < (b ?? 0n) ? -1 : 1)).at(-1),
    }
  }

  /** The block of a sync has not moved the supply yet: what it made or unmade counts after it. */
  #supplyAtLastSync(pool: string, target: string | undefined): bigint | undefined {
    const block = this.lastSync(pool, END)?.key.block ?? 0
    const met = this.tokenFact(target)?.block ?? 0
    const before = this.chain.filter(({ number }) => number < block || number <= met)
    return referenceSupply(before, target ?? '', this.kindOf(target) === 'native')
  }

  #holders(address: string): ReferenceHolders {
    const isWrappedNative = this.kindOf(address) === 'native'
    return referenceHolders(this.chain, address, { isWrappedNative, lockers: new Set(LOCKERS) })
  }

  balances(): Map<string, HeldBalance> {
    const followed = new Set([...this.tokens, ...this.pools].map(({ address }) => address))
    const all = [...followed].flatMap((token) =>
      [...this.#holders(token).balances].map(([holder, amountRaw]) => ({ token, holder, amountRaw })),
    )
    return new Map(all.map((balance) => [`${balance.token}/${balance.holder}`, balance]))
  }

  token(address: string, trades: readonly Trade[]): Token {
    const fact = this.tokenFact(address)
    if (fact === undefined) throw new Error(`${address} was never met`)
    const { decimals } = fact
    const supplyRaw = referenceSupply(this.chain, address, this.kindOf(address) === 'native')
    const { holding, deadRaw, origin } = this.#holders(address)
    const left = holding === undefined ? undefined : (supplyRaw ?? -1n) - deadRaw - holding.lockedRaw
    const circulatingRaw = left === undefined || left < 0n ? undefined : left
    const trade = trades.find(
      ({ targetToken, sold, bought }) =>
        targetToken === address ||
        // A pair that is priced by a route counts for its target alone.
        (targetToken !== undefined &&
          [sold.token, bought.token].includes(address) &&
          this.kindOf(address) !== undefined),
    )
    const own = trade?.sold.token === address ? trade.sold : trade?.bought
    const isYoung = origin !== undefined && origin.time >= (this.blocks[0]?.time ?? 0)
    const name = Buffer.from(fact.nameRaw).toString()
    const symbol = Buffer.from(fact.symbolRaw).toString()
    const depths = this.pools.flatMap((pool) => this.tvlFor(address, pool) ?? [])
    const { main: mainPair, price, updatedAt } = this.priceAfter(address, this.lastPlace)
    return {
      ...{ address, name, symbol, decimals, supplyRaw, mainPair },
      priceUsd: price.usd,
      priceNative: price.native,
      mainPairTvlUsd: mainPair === undefined ? undefined : this.mainTvl(address, mainPair),
      tvlUsd: mainPair === undefined ? undefined : sumThatFits(depths),
      fdvUsd: this.worthOf(address, supplyRaw, price.usd),
      marketCapUsd: this.worthOf(address, circulatingRaw, price.usd),
      holding: holding && { ...holding, circulatingRaw },
      origin,
      launch: isYoung && trade !== undefined ? { time: trade.time, priceUsd: own?.priceUsd } : undefined,
      platform: undefined,
      risk: undefined,
      updatedAt,
    }
  }

  /** What a pool adds to the TVL of one of its tokens: for its quote, no more than ten times that one's side beside it. */
  tvlFor(token: string, pool: MetPool): Value | undefined {
    const tvl = this.depthAt(pool.address, END).usd
    const isTarget = this.targetOf(pool) === token
    if (this.isRouted(pool)) {
      const isMain = isTarget && this.priceAfter(token, this.lastPlace).main === pool.address
      return isMain ? this.mainTvl(token, pool.address) : undefined
    }
    if (isTarget) return tvl
    const own = this.depthAfter(pool.address, this.blocks.length - 1)
    if (this.quoteOf(pool) !== token || tvl === undefined || own === undefined) return undefined
    return tvl - own > 10n * own ? 11n * own : tvl
  }

  /** By a route, no more than the route carries: its own depth, and ten times that of the target. */
  mainTvl(token: string, pair: string): Value | undefined {
    const tvl = this.depthAt(pair, END).usd
    if (!this.isRouted(this.poolFact(pair))) return tvl
    const most = (this.priceAfter(token, this.lastPlace).listed.get(pair) ?? 0n) * 110n
    return tvl === undefined || tvl > most ? most : tvl
  }

  liquidity(): LiquidityEvent[] {
    return this.provisions.map(({ key, time, pool, transaction, wallet, kind, provider, amounts }) => {
      const fact = this.poolFact(pool)
      const prices = this.poolPrices(pool, key)
      const depth = this.depthAt(pool, key)
      const reserves = this.reservesAt(pool, key)
      const sides = [fact.token0, fact.token1].map((token, at): EventSide => {
        const worth = token === this.targetOf(fact) ? prices?.target : prices?.quote
        const money = { priceUsd: worth?.usd, priceNative: worth?.native }
        return { ...this.named(token), amountRaw: amounts[at] ?? 0n, reserveRaw: reserves[at], ...money }
      }) as [EventSide, EventSide]
      const value = (coin: 'priceUsd' | 'priceNative') => {
        const values = sides.map((side) =>
          side.amountRaw === 0n ? 0n : this.worthOf(side.token, side.amountRaw, side[coin]),
        )
        return sumThatFits(values)
      }
      return {
        ...{ key, time, pair: pool, kind, amm: ammOf(fact.factory) ?? '', transaction, provider, wallet },
        side0: sides[0],
        side1: sides[1],
        valueUsd: value('priceUsd'),
        valueNative: value('priceNative'),
        liquidityUsd: depth.usd,
        liquidityNative: depth.native,
      }
    })
  }

  /** Wherever a block left a token with another main pair than the block before. */
  switches(): MainPairSwitch[] {
    return this.tokens.flatMap(({ address: token }) =>
      this.blocks.flatMap(({ number: block, time }, place): MainPairSwitch[] => {
        const [oldPair, newPair] = [place - 1, place].map((at) => this.priceAfter(token, at).main)
        if (oldPair === undefined || newPair === undefined || oldPair === newPair) return []
        const isListed = this.priceAfter(token, place).listed.has(oldPair)
        const isKnown = isListed || (this.kindOf(token) && this.depthAfter(oldPair, place) !== undefined)
        const reason = isKnown ? 'deeper' : 'emptied'
        return [{ token, block, time, oldPair, newPair, reason }]
      }),
    )
  }

  named(token: string): { token: string; symbol: string; decimals: number | undefined } {
    const fact = this.tokenFact(token)
    return { token, symbol: Buffer.from(fact?.symbolRaw ?? []).toString(), decimals: fact?.decimals }
  }
}
