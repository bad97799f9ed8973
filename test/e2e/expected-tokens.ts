import { amountValue, UNKNOWN, type Worth } from './expected-numbers.ts'
import { type ExpectedPool, targetOf } from './expected-pools.ts'
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
    const targets = new Set([...changed].flatMap((pool) => targetOf(pool)?.address ?? []))
    for (const address of targets) this.#update(address, block)
    for (const address of [this.#prices.stable, ...this.#prices.natives]) {
      const token = this.all.get(address)
      if (token === undefined || token.mainPair !== undefined) continue
      const worth = this.#prices.worthOf(address)
      if (worth.usd === token.price.usd && worth.eth === token.price.eth) continue
      token.price = worth
      token.updatedAt = block.time
    }
  }

  #update(address: string, { number, time }: { readonly number: number; readonly time: number }): void {
    const token = this.all.get(address)
    if (token === undefined) throw new Error(`${address} was never met`)
    const pools = [...this.#pools.values()]
      .filter((pool) => targetOf(pool)?.address === address && pool.tvl.usd !== undefined)
      .sort((a, b) => {
        const [depthA, depthB] = [a.depthUsd ?? 0n, b.depthUsd ?? 0n]
        return depthA === depthB ? (a.id < b.id ? -1 : 1) : depthA > depthB ? -1 : 1
      })
    const [deepest] = pools
    const old = token.mainPair
    const stays = old !== undefined && pools.includes(old)
    const isDeeper = (deepest?.depthUsd ?? 0n) * 100n > (old?.depthUsd ?? 0n) * 110n
    const main = stays && !isDeeper ? old : deepest
    if (old !== undefined && main !== undefined && main !== old) {
      const reason = stays ? 'deeper' : 'emptied'
      this.switches.push({ token: address, block: number, time, oldPair: old.id, newPair: main.id, reason })
    }
    token.mainPair = main
    token.mainPairTvlUsd = main?.tvl.usd
    token.tvlUsd = main && pools.reduce((sum, { tvl }) => sum + (tvl.usd ?? 0n), 0n)
    token.price = main === undefined ? this.#prices.worthOf(address) : this.#prices.countedWorth(main)
    token.updatedAt = time
  }
}

export function fdvOf({ info, supply, price }: ExpectedToken): bigint | undefined {
  return supply === undefined ? undefined : amountValue(supply, info.decimals, (price ?? UNKNOWN).usd)
}
