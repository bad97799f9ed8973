import type { BlockEnvelope, PoolFact, TokenFact } from '../../src/domain/envelope.ts'
import {
  convertPrice,
  invertPrice,
  ONE_PRICE,
  type Price,
  priceOf,
  type Value,
  valueOfAmount,
} from '../../src/domain/money.ts'
import { compareOrderKeys, type OrderKey } from '../../src/domain/order-key.ts'
import type { QuoteAsset } from '../../src/engine/settings.ts'
import { DEPLOYMENTS, type Market } from './market-arbitraries.ts'

export type Worth = { readonly usd: Price | undefined; readonly native: Price | undefined }
type Depth = { readonly usd: Value | undefined; readonly native: Value | undefined }
type Seen = {
  readonly key: OrderKey
  readonly time: number
  readonly pool: string
  readonly transaction: string
  readonly wallet: string
}
type SyncSeen = Seen & { readonly reserves: readonly [bigint, bigint] }
type SwapSeen = Seen & {
  readonly sender: string
  readonly recipient: string
  readonly in: readonly [bigint, bigint]
  readonly out: readonly [bigint, bigint]
}
type Met<T> = T & { readonly time: number }
type MetPool = Met<PoolFact> & { readonly token0: string; readonly token1: string }

const SYNC = '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1'
const SWAP = '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822'
const PAIR_CREATED = '0x0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9'
export const END: OrderKey = { block: Number.MAX_SAFE_INTEGER, tx: 0, log: 0 }
export const NOTHING: Worth = { usd: undefined, native: undefined }

/** All that ever happened on one chain, and what any number was at any moment: nothing is remembered, all is looked up. */
export class MarketHistory {
  readonly market: Market
  readonly pools: MetPool[] = []
  readonly tokens: Met<TokenFact>[] = []
  readonly syncs: SyncSeen[] = []
  readonly swaps: SwapSeen[] = []
  readonly creations: { pool: string; time: number }[] = []

  constructor(market: Market, chain: readonly BlockEnvelope[]) {
    this.market = market
    for (const { number, time, facts, transactions } of chain) {
      for (const fact of facts) {
        if (fact.type === 'token') this.tokens.push({ ...fact, time })
        if (fact.type === 'pool' && ammOf(fact.factory) !== undefined) {
          const [token0 = '', token1 = ''] = fact.tokens
          this.pools.push({ ...fact, token0, token1, time })
        }
      }
      for (const { index: tx, hash: transaction, from: wallet, logs } of transactions) {
        for (const log of logs) {
          const [topic, topic1 = '', topic2 = ''] = log.topics
          const data = Buffer.from(log.data).toString('hex')
          const word = (at: number): bigint => BigInt(`0x${data.slice(at * 64, at * 64 + 64)}`)
          const seen = {
            key: { block: number, tx, log: log.index },
            time,
            pool: log.address,
            transaction,
            wallet,
          }
          const isPool = this.pools.some(({ address }) => address === log.address)
          if (isPool && topic === SYNC && data.length >= 128)
            this.syncs.push({ ...seen, reserves: [word(0), word(1)] })
          if (isPool && topic === SWAP && data.length >= 256) {
            const [sender, recipient] = [`0x${topic1.slice(26)}`, `0x${topic2.slice(26)}`]
            const swap = { in: [word(0), word(1)], out: [word(2), word(3)] } as Pick<SwapSeen, 'in' | 'out'>
            this.swaps.push({ ...seen, sender, recipient, ...swap })
          }
          if (ammOf(log.address) !== undefined && topic === PAIR_CREATED)
            this.creations.push({ pool: `0x${data.slice(24, 64)}`, time })
        }
      }
    }
  }

  poolFact(address: string): MetPool {
    const fact = this.pools.find((known) => known.address === address)
    if (fact === undefined) throw new Error(`${address} was never met`)
    return fact
  }

  tokenFact(address: string | undefined): Met<TokenFact> | undefined {
    return this.tokens.find((known) => known.address === address)
  }

  kindOf(token: string | undefined): QuoteAsset['kind'] | undefined {
    return this.market.quoteAssets.find(({ address }) => address === token)?.kind
  }

  /** The side that is no quote asset; of two quote assets the later one of the list; of none, none. */
  targetOf({ token0, token1 }: { token0: string; token1: string }): string | undefined {
    const ranking = this.market.quoteAssets.map(({ address }) => address)
    const [rank0, rank1] = [ranking.indexOf(token0), ranking.indexOf(token1)]
    if (rank0 === -1 && rank1 === -1) return undefined
    if (rank0 === -1 || rank1 === -1) return rank0 === -1 ? token0 : token1
    return rank0 > rank1 ? token0 : token1
  }

  quoteOf(pool: { token0: string; token1: string }): string | undefined {
    const target = this.targetOf(pool)
    return target === undefined ? undefined : target === pool.token0 ? pool.token1 : pool.token0
  }

  lastSync(pool: string, at: OrderKey): SyncSeen | undefined {
    return this.syncs.filter((sync) => sync.pool === pool && compareOrderKeys(sync.key, at) <= 0).at(-1)
  }

  reservesAt(pool: string, at: OrderKey): readonly [bigint | undefined, bigint | undefined] {
    return this.lastSync(pool, at)?.reserves ?? [undefined, undefined]
  }

  /** Pools of a stablecoin and the native coin, both of which say how many decimals they have. */
  anchors(): MetPool[] {
    return this.pools.filter(({ token0, token1 }) => {
      const kinds = [this.kindOf(token0), this.kindOf(token1)]
      const known = [token0, token1].every((token) => this.tokenFact(token)?.decimals !== undefined)
      return kinds.includes('stable') && kinds.includes('native') && known
    })
  }

  /** What the deepest stablecoin pool says; of equally deep ones, the one of the lower address. */
  nativeUsdAt(at: OrderKey): Price | undefined {
    const quotes = this.anchors().flatMap((pool) => {
      const [reserve0 = 0n, reserve1 = 0n] = this.reservesAt(pool.address, at)
      const isStable0 = this.kindOf(pool.token0) === 'stable'
      const stable = this.tokenFact(isStable0 ? pool.token0 : pool.token1)
      const native = this.tokenFact(isStable0 ? pool.token1 : pool.token0)
      const [stableRaw, nativeRaw] = isStable0 ? [reserve0, reserve1] : [reserve1, reserve0]
      const price = priceOf(nativeRaw, native?.decimals ?? -1, stableRaw, stable?.decimals ?? -1)
      const depth = valueOfAmount(stableRaw, stable?.decimals ?? -1, ONE_PRICE)
      return price === undefined || depth === undefined ? [] : [{ address: pool.address, price, depth }]
    })
    const best = quotes.filter(({ depth }) => quotes.every((other) => other.depth <= depth))
    return best.sort((a, b) => (a.address < b.address ? -1 : 1))[0]?.price
  }

  quoteWorth(quote: string | undefined, at: OrderKey): Worth {
    const kind = this.kindOf(quote)
    if (kind === undefined) return NOTHING
    const nativeUsd = this.nativeUsdAt(at)
    return kind === 'stable'
      ? { usd: ONE_PRICE, native: invertPrice(nativeUsd) }
      : { usd: nativeUsd, native: ONE_PRICE }
  }

  /** One whole target token, when so much of it goes for so much of the quote asset. */
  targetWorth(
    target: string | undefined,
    quote: string | undefined,
    targetRaw: bigint,
    quoteRaw: bigint,
    at: OrderKey,
  ): Worth {
    const targetDecimals = this.tokenFact(target)?.decimals
    const quoteDecimals = this.tokenFact(quote)?.decimals
    if (target === undefined || targetDecimals === undefined || quoteDecimals === undefined) return NOTHING
    const inQuote = priceOf(targetRaw, targetDecimals, quoteRaw, quoteDecimals)
    const { usd, native } = this.quoteWorth(quote, at)
    return {
      usd: convertPrice(inQuote, usd),
      native: this.kindOf(target) === 'native' ? ONE_PRICE : convertPrice(inQuote, native),
    }
  }

  /** By its reserves, at what the native coin was worth when they last changed. */
  poolPrices(pool: string, at: OrderKey): { target: Worth; quote: Worth } | undefined {
    const fact = this.poolFact(pool)
    const [target, quote] = [this.targetOf(fact), this.quoteOf(fact)]
    const sync = this.lastSync(pool, at)
    if (target === undefined || sync === undefined) return undefined
    const [reserve0, reserve1] = sync.reserves
    const [targetRaw, quoteRaw] = target === fact.token0 ? [reserve0, reserve1] : [reserve1, reserve0]
    return {
      target: this.targetWorth(target, quote, targetRaw, quoteRaw, sync.key),
      quote: this.quoteWorth(quote, sync.key),
    }
  }

  /** Both sides at pool prices, if both are known. */
  depthAt(pool: string, at: OrderKey): Depth {
    const fact = this.poolFact(pool)
    const prices = this.poolPrices(pool, at)
    const reserves = this.reservesAt(pool, at)
    if (prices === undefined) return NOTHING
    const inCoin = (coin: 'usd' | 'native'): Value | undefined => {
      const [value0, value1] = [fact.token0, fact.token1].map((token, side) => {
        const worth = token === this.targetOf(fact) ? prices.target : prices.quote
        return this.worthOf(token, reserves[side], worth[coin])
      })
      return value0 === undefined || value1 === undefined ? undefined : value0 + value1
    }
    return { usd: inCoin('usd'), native: inCoin('native') }
  }

  worthOf(
    token: string | undefined,
    amountRaw: bigint | undefined,
    price: Price | undefined,
  ): Value | undefined {
    const decimals = this.tokenFact(token)?.decimals
    if (amountRaw === undefined || decimals === undefined) return undefined
    return valueOfAmount(amountRaw, decimals, price)
  }

  /** The deepest pair that has this token as its target; of equally deep ones, the one of the lower address. */
  mainPair(token: string): string | undefined {
    const pairs = this.pools.flatMap((pool) => {
      const depth = this.depthAt(pool.address, END).usd
      return this.targetOf(pool) !== token || depth === undefined ? [] : [{ address: pool.address, depth }]
    })
    const best = pairs.filter(({ depth }) => pairs.every((other) => other.depth <= depth))
    return best.sort((a, b) => (a.address < b.address ? -1 : 1))[0]?.address
  }
}

export function ammOf(factory: string): string | undefined {
  return DEPLOYMENTS.find((deployment) => deployment.factory === factory)?.amm
}
