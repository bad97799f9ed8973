import { amountValue, UNKNOWN, type Worth } from './expected-numbers.ts'
import { type ExpectedPool, pricedTokens, quoteOf, targetOf } from './expected-pools.ts'
import type { ExpectedPrices, TokenInfo } from './expected-prices.ts'

export type ExpectedToken = {
  readonly info: TokenInfo
  supply: bigint | undefined
  price: Worth
  mainPair: ExpectedPool | undefined
  mainPairTvlUsd: bigint | undefined
  tvlUsd: bigint | undefined
  updatedAt: number
}

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
      ...{ info, supply, price: this.#prices.worthOf(info.address), updatedAt: time },
      ...{ mainPair: undefined, mainPairTvlUsd: undefined, tvlUsd: undefined },
    })
  }

  /** `changed` are the pools that something happened to, or whose price counts only now. */
  endBlock(changed: Iterable<ExpectedPool>, block: { readonly number: number; readonly time: number }): void {
    const touched = new Set([...changed].flatMap(pricedTokens).map(({ address }) => address))
    for (const address of touched) this.#update(address, block)
    for (const address of [this.#prices.stable, ...this.#prices.natives]) {
      const token = this.all.get(address)
      if (token === undefined || (token.mainPair && targetOf(token.mainPair)?.address === address)) continue
      const worth = this.#prices.worthOf(address)
      if (worth.usd === token.price.usd && worth.eth === token.price.eth) continue
      token.price = worth
      token.updatedAt = block.time
    }
  }

  #update(address: string, { number, time }: { readonly number: number; readonly time: number }): void {
    const token = this.all.get(address)
    if (token === undefined) throw new Error(`${address} was never met`)
    const known = [...this.#pools.values()]
      .filter((pool) => pool.tvl.usd !== undefined)
      .sort((a, b) => {
        const [depthA, depthB] = [a.depthUsd ?? 0n, b.depthUsd ?? 0n]
        return depthA === depthB ? (a.id < b.id ? -1 : 1) : depthA > depthB ? -1 : 1
      })
    const asTarget = known.filter((pool) => targetOf(pool)?.address === address)
    const asQuote = known.filter((pool) => quoteOf(pool)?.address === address)
    const old = token.mainPair
    const pools = asTarget.length > 0 ? asTarget : asQuote
    const [deepest] = pools
    const stays = old !== undefined && pools.includes(old)
    const isDeeper = (deepest?.depthUsd ?? 0n) * 100n > (old?.depthUsd ?? 0n) * 110n
    const main = stays && !isDeeper ? old : deepest
    if (old !== undefined && main !== undefined && main !== old) {
      const reason = [...asTarget, ...asQuote].includes(old) ? 'deeper' : 'emptied'
      this.switches.push({ token: address, block: number, time, oldPair: old.id, newPair: main.id, reason })
    }
    token.mainPair = main
    token.mainPairTvlUsd = main?.tvl.usd
    token.tvlUsd = main && sumOf(asTarget.map(({ tvl }) => tvl.usd ?? 0n)) + sumOf(asQuote.map(tvlForQuote))
    const pricing = asTarget.length > 0 ? main : undefined
    token.price = pricing === undefined ? this.#prices.worthOf(address) : this.#prices.countedWorth(pricing)
    token.updatedAt = time
  }
}

/** The target's side counts for the quote asset up to ten times the quote's own. */
function tvlForQuote({ tvl, depthUsd = 0n }: ExpectedPool): bigint {
  const all = tvl.usd ?? 0n
  if (all - depthUsd <= depthUsd * 10n) return all
  return depthUsd * 11n
}

function sumOf(values: readonly bigint[]): bigint {
  return values.reduce((sum, value) => sum + value, 0n)
}

export function fdvOf({ info, supply, price }: ExpectedToken): bigint | undefined {
  return supply === undefined ? undefined : amountValue(supply, info.decimals, (price ?? UNKNOWN).usd)
}
