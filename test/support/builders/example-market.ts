import assert from 'node:assert/strict'
import type { ChainSettings } from '../../../src/domain/chain-settings.ts'
import type { Pair, Token, Trade } from '../../../src/domain/change.ts'
import type { BlockEnvelope, Fact } from '../../../src/domain/envelope.ts'
import { formatPrice, formatValue } from '../../../src/domain/money.ts'
import {
  type Action,
  buildBlock,
  CHAIN,
  chainSettingsOf,
  id,
  type Market,
  settingsOf,
} from '../arbitraries/market-arbitraries.ts'
import { foldChangeSets, type Tables } from '../reference/change-tables.ts'
import { EngineRun } from '../rigs/engine-run.ts'

// Two stablecoins of 6 decimals, the native coin of 18, and a token of 9 decimals of which 1,000,000 exist.
export const USDC = id(0xa0, 20)
export const USDT = id(0xa1, 20)
export const WETH = id(0xa2, 20)
export const TOKEN = id(0xa3, 20)
const FACTORY = id(0xf1, 20)
export const ETH_POOL = 0
export const TOKEN_ETH = 1
export const TOKEN_USDC = 2
export const STABLE_POOL = 3
export const DEEPER_ETH_POOL = 4
export const UNPRICED = 5
export const world: Market = {
  tokens: [
    { address: USDC, decimals: 6, supplyRaw: 5_000_000_000_000n },
    { address: USDT, decimals: 6, supplyRaw: 7_000_000_000_000n },
    { address: WETH, decimals: 18, supplyRaw: undefined },
    { address: TOKEN, decimals: 9, supplyRaw: 1_000_000_000_000_000n },
    { address: id(0xa4, 20), decimals: 18, supplyRaw: undefined },
  ],
  pools: [
    { address: id(0x10, 20), factory: FACTORY, token0: USDC, token1: WETH },
    { address: id(0x11, 20), factory: FACTORY, token0: WETH, token1: TOKEN },
    { address: id(0x12, 20), factory: FACTORY, token0: TOKEN, token1: USDC },
    { address: id(0x13, 20), factory: FACTORY, token0: USDT, token1: USDC },
    { address: id(0x14, 20), factory: FACTORY, token0: WETH, token1: USDT },
    { address: id(0x15, 20), factory: FACTORY, token0: TOKEN, token1: id(0xa4, 20) },
  ],
  quoteAssets: [
    { address: USDC, kind: 'stable' },
    { address: USDT, kind: 'stable' },
    { address: WETH, kind: 'native' },
  ],
  minDepthUsd: 0n,
}

export const usd = (whole: bigint): bigint => whole * 10n ** 6n
export const eth = (whole: bigint): bigint => whole * 10n ** 18n
export const tokens = (whole: bigint): bigint => whole * 10n ** 9n
export const sync = (pool: number, ...amounts: [bigint, bigint]): Action => ({
  do: 'sync',
  pool,
  amounts,
  newTx: true,
})
export const swap = (pool: number, ...amounts: [bigint, bigint, bigint, bigint]): Action => {
  return { do: 'swap', pool, amounts, newTx: false }
}

/** A market built block by block, and the change sets that the engine publishes. */
export class ExampleMarket {
  readonly run: EngineRun
  readonly chain: BlockEnvelope[] = []
  readonly #world: Market

  constructor(of = world) {
    this.#world = of
    this.run = new EngineRun(settingsOf(of))
  }

  block(seconds: number, ...actions: Action[]): this {
    return this.#apply(seconds, actions, [])
  }

  /** A block without events, but with facts. */
  facts(...facts: Fact[]): this {
    return this.#apply(12, [], facts)
  }

  #apply(seconds: number, actions: Action[], facts: Fact[]): this {
    const step = { do: 'block', seconds, actions } as const
    const block = buildBlock(this.#world, this.chain, step, this.run.sets.length)
    const whole = { ...block, facts: [...block.facts, ...facts] }
    this.chain.push(whole)
    this.run.apply(whole)
    return this
  }

  /** The settings of the market, with these changes. */
  settings(changes: Partial<ChainSettings>): this {
    const settings = { ...chainSettingsOf(this.#world), ...changes }
    this.run.apply({ kind: 'settings', chain: CHAIN, settings })
    return this
  }

  undo(): this {
    const gone = this.chain.pop()
    assert.ok(gone)
    const lastValid = { number: gone.number - 1, hash: gone.parentHash }
    this.run.apply({ kind: 'undo', chain: CHAIN, lastValid })
    return this
  }

  get tables(): Tables {
    return foldChangeSets(this.run.sets)
  }

  pair(pool: number): Pair {
    const pair = this.tables.pairs.get(this.#world.pools[pool]?.address ?? '')
    assert.ok(pair)
    return pair
  }

  token(address: string): Token {
    const token = this.tables.tokens.get(address)
    assert.ok(token)
    return token
  }

  lastTrade(): Trade {
    const trade = [...this.tables.trades.values()].at(-1)
    assert.ok(trade)
    return trade
  }
}

/** An ETH is worth so many dollars, in a pool of `depth` of them. */
export function ethAt(dollars: bigint, depth = 1_000n): ExampleMarket {
  return new ExampleMarket().block(12, sync(ETH_POOL, usd(dollars * depth), eth(depth)))
}

/** 2,000 dollars for an ETH; 0.01 ETH, so 20 dollars, for a token; about 200,000 dollars on each side. */
export function calmMarket(): ExampleMarket {
  return ethAt(2_000n, 10_000n).block(12, sync(TOKEN_ETH, eth(100n), tokens(10_000n)))
}

export function addressOf(pool: number): string | undefined {
  return world.pools[pool]?.address
}

export function price(fixed: bigint | undefined): string | undefined {
  return fixed === undefined ? undefined : formatPrice(fixed)
}

export function value(fixed: bigint | undefined): string | undefined {
  return fixed === undefined ? undefined : formatValue(fixed)
}
