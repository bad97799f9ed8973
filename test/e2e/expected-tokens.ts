import { amountValue, UNKNOWN, type Worth } from './expected-numbers.ts'
import { type ExpectedPool, pricedTokens, quoteOf, targetOf } from './expected-pools.ts'
import type { ExpectedPrices, Route, TokenInfo } from './expected-prices.ts'

export type ExpectedToken = {
  readonly info: TokenInfo
  supply: bigint | undefined
  price: Worth
  mainPair: ExpectedPool | undefined
  mainPairTvlUsd: bigint | undefined
  tvlUsd: bigint | undefined
  updatedAt: number
  /** How deep each pool that prices it was when it was last updated; by a route, a tenth of that. */
  depths: ReadonlyMap<ExpectedPool, bigint>
}

/** A thousand dollars. */
const MIN_DEPTH_USD = 1_000n * 10n ** 18n

export type ExpectedSwitch = {
  readonly token: string
  readonly block: number
  readonly time: number
  readonly oldPair: string
  readonly newPair: string
  readonly reason: 'deeper' | 'emptied'
}

/** Tokens as their pairs leave them when a block ends. */
export class ExpectedTokens {
  readonly all = new Map<string, ExpectedToken>()
  readonly switches: ExpectedSwitch[] = []
  readonly #prices: ExpectedPrices
  readonly #pools: ReadonlyMap<string, ExpectedPool>

  constructor(prices: ExpectedPrices, pools: ReadonlyMap<string, ExpectedPool>) {
    this.#prices = prices
    this.#pools = pools
  }

  /** Before the block in which it is met changes what anything is worth. */
  meet(info: TokenInfo, supply: bigint | undefined, time: number): void {
    if (this.all.has(info.address)) return
    this.all.set(info.address, {
      ...{ info, supply, updatedAt: time, price: this.#worthWithoutPair(info.address) },
      depths: new Map(),
      ...{ mainPair: undefined, mainPairTvlUsd: undefined, tvlUsd: undefined },
    })
  }

  /** `changed` are the pools that something happened to, or whose price counts only now. */
  endBlock(changed: Iterable<ExpectedPool>, block: { readonly number: number; readonly time: number }): void {
    const pools = new Set(changed)
    const touched = new Set([...pools].flatMap(pricedTokens).map(({ address }) => address))
    for (const address of touched) this.#update(address, pools, block)
    for (const address of [this.#prices.stable, ...this.#prices.natives]) {
      const token = this.all.get(address)
      if (token === undefined || (token.mainPair && targetOf(token.mainPair)?.address === address)) continue
      const worth = this.#prices.worthOf(address)
      if (worth.usd === token.price.usd && worth.eth === token.price.eth) continue
      token.price = worth
      token.updatedAt = block.time
    }
  }

  /** The routes that a block leaves, which the next one uses. */
  routes(): Map<string, Route> {
    const routes = new Map<string, Route>()
    for (const address of this.all.keys()) {
      const route = this.#route(address)
      if (route !== undefined) routes.set(address, route)
    }
    return routes
  }

  #worthWithoutPair(address: string): Worth {
    return this.#prices.isQuoteAsset(address) ? this.#prices.worthOf(address) : UNKNOWN
  }

  /** Over its main pair, or that and the main pair of its quote. */
  #route(address: string): Route | undefined {
    const token = this.all.get(address)
    const own = this.#mainDepth(address)
    const quote = token?.mainPair && quoteOf(token.mainPair)
    if (token === undefined || own === undefined || quote === undefined) return undefined
    if (this.#prices.isQuoteAsset(quote.address)) return { worth: token.price, depthUsd: own }
    const next = this.#mainDepth(quote.address)
    const last = this.all.get(quote.address)?.mainPair
    if (next === undefined || last === undefined || last.isRouted) return undefined
    const depthUsd = least(own, next / 10n)
    return depthUsd < MIN_DEPTH_USD ? undefined : { worth: token.price, depthUsd }
  }

  #mainDepth(address: string): bigint | undefined {
    const token = this.all.get(address)
    if (token?.mainPair === undefined || token.price.usd === undefined) return undefined
    if (this.#prices.isQuoteAsset(address)) return undefined
    const depth = token.depths.get(token.mainPair) ?? 0n
    return depth < MIN_DEPTH_USD ? undefined : depth
  }

  /** Undefined if it is unknown, or its route has been lost. */
  #depthOf(pool: ExpectedPool): bigint | undefined {
    if (!pool.isRouted || pool.depthUsd === undefined) return pool.depthUsd
    const route = this.#prices.routes.get(quoteOf(pool)?.address ?? '')
    const depth = route === undefined ? 0n : least(pool.depthUsd, route.depthUsd) / 10n
    return depth === 0n ? undefined : depth
  }

  #update(
    address: string,
    changed: ReadonlySet<ExpectedPool>,
    { number, time }: { readonly number: number; readonly time: number },
  ): void {
    const token = this.all.get(address)
    if (token === undefined) throw new Error(`${address} was never met`)
    const known = [...this.#pools.values()]
      .filter((pool) => pool.tvl.usd !== undefined && this.#depthOf(pool) !== undefined)
      .sort((a, b) => {
        const [depthA, depthB] = [this.#depthOf(a) ?? 0n, this.#depthOf(b) ?? 0n]
        return depthA === depthB ? (a.id < b.id ? -1 : 1) : depthA > depthB ? -1 : 1
      })
    // A pool whose route was lost counts again after its next event.
    const asTarget = known.filter(
      (pool) =>
        targetOf(pool)?.address === address &&
        (!pool.isRouted || token.depths.has(pool) || changed.has(pool)),
    )
    const asQuote = known.filter((pool) => !pool.isRouted && quoteOf(pool)?.address === address)
    const old = token.mainPair
    const pools = asTarget.length > 0 ? asTarget : asQuote
    const [deepest] = pools
    const stays = old !== undefined && pools.includes(old)
    const depthOf = (pool: ExpectedPool | undefined): bigint => (pool && this.#depthOf(pool)) ?? 0n
    const isDeeper = depthOf(deepest) * 100n > depthOf(old) * 110n
    const main = stays && !isDeeper ? old : deepest
    if (old !== undefined && main !== undefined && main !== old) {
      const reason = [...asTarget, ...asQuote].includes(old) ? 'deeper' : 'emptied'
      this.switches.push({ token: address, block: number, time, oldPair: old.id, newPair: main.id, reason })
    }
    token.mainPair = main
    token.depths = new Map(asTarget.map((pool) => [pool, depthOf(pool)]))
    // By a route, only the main pair counts, up to what the route carries: its depth, and ten times that of the target.
    const mainTvl = main?.isRouted ? least(main.tvl.usd ?? 0n, depthOf(main) * 110n) : main?.tvl.usd
    const direct = asTarget.filter(({ isRouted }) => !isRouted).map(({ tvl }) => tvl.usd ?? 0n)
    token.mainPairTvlUsd = mainTvl
    token.tvlUsd = main && sumOf(direct) + sumOf(asQuote.map(tvlForQuote))
    if (main?.isRouted) token.tvlUsd = (token.tvlUsd ?? 0n) + (mainTvl ?? 0n)
    const pricing = asTarget.length > 0 ? main : undefined
    token.price = pricing === undefined ? this.#worthWithoutPair(address) : this.#prices.countedWorth(pricing)
    token.updatedAt = time
  }
}

/** The target's side counts for the quote asset up to ten times the quote's own. */
function tvlForQuote({ tvl, depthUsd = 0n }: ExpectedPool): bigint {
  const all = tvl.usd ?? 0n
  if (all - depthUsd <= depthUsd * 10n) return all
  return depthUsd * 11n
}

function least(a: bigint, b: bigint): bigint {
  const isLess = a < b
  return isLess ? a : b
}

function sumOf(values: readonly bigint[]): bigint {
  return values.reduce((sum, value) => sum + value, 0n)
}

export function fdvOf({ info, supply, price }: ExpectedToken): bigint | undefined {
  return supply === undefined ? undefined : amountValue(supply, info.decimals, (price ?? UNKNOWN).usd)
}
