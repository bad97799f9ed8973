import { type Action, id, type Market } from '../arbitraries/market-arbitraries.ts'
import { ETH_POOL, ExampleMarket, eth, sync, usd, WETH, world } from './example-market.ts'

// All tokens that are no quote assets have 18 decimals.
/** Traded for ETH; others are traded for it. */
export const HUB = id(0xb0, 20)
/** Traded for HUB alone. */
export const AGENT = id(0xb1, 20)
/** Traded for AGENT alone. */
export const SUB_AGENT = id(0xb2, 20)
/** Traded for ETH alone. */
export const COIN = id(0xb3, 20)
/** Made by an attacker. */
export const FAKE = id(0xb8, 20)
export const FAKE_TOO = id(0xb9, 20)

const FACTORY = id(0xf1, 20)
const TOKENS = [HUB, AGENT, SUB_AGENT, COIN, FAKE, FAKE_TOO]

/** Pools by their tokens, in ascending order, as exchanges have them. */
const POOLS: readonly (readonly [string, string])[] = [
  [WETH, HUB],
  [HUB, AGENT],
  [AGENT, SUB_AGENT],
  [WETH, COIN],
  [WETH, FAKE],
  [FAKE, FAKE_TOO],
  ...[HUB, AGENT, SUB_AGENT, COIN].flatMap((victim): [string, string][] => [
    [victim, FAKE],
    [victim, FAKE_TOO],
  ]),
  [SUB_AGENT, COIN],
]

const added = world.pools.length

export const routedWorld: Market = {
  ...world,
  tokens: [...world.tokens, ...TOKENS.map((address) => ({ address, decimals: 18, supplyRaw: undefined }))],
  pools: [
    ...world.pools,
    ...POOLS.map(([token0, token1], at) => ({
      address: id(0x30 + at, 20),
      factory: FACTORY,
      token0,
      token1,
    })),
  ],
  minDepthUsd: 1_000n * 10n ** 18n,
}

/** The pool of two tokens, by its place in the world. */
export function poolOf(a: string, b: string): number {
  const found = POOLS.findIndex((pair) => pair.includes(a) && pair.includes(b))
  if (found === -1) throw new Error(`no pool of ${a} and ${b}`)
  return added + found
}

export function poolAddress(a: string, b: string): string {
  return routedWorld.pools[poolOf(a, b)]?.address ?? ''
}

/** A pool holds so many whole tokens of each. */
export function holds(a: string, amountA: bigint, b: string, amountB: bigint): Action {
  const isInOrder = routedWorld.pools[poolOf(a, b)]?.token0 === a
  const [amount0, amount1] = isInOrder ? [amountA, amountB] : [amountB, amountA]
  return sync(poolOf(a, b), eth(amount0), eth(amount1))
}

/** So many whole tokens of `paid` for so many of `got`, by a wallet of its own. */
export function trade(paid: string, amountPaid: bigint, got: string, amountGot: bigint): Action {
  const isInOrder = routedWorld.pools[poolOf(paid, got)]?.token0 === paid
  const [paidRaw, gotRaw] = [eth(amountPaid), eth(amountGot)]
  const amounts = isInOrder ? [paidRaw, 0n, 0n, gotRaw] : [0n, paidRaw, gotRaw, 0n]
  return { do: 'swap', pool: poolOf(paid, got), amounts, newTx: true }
}

/**
 * An ETH is worth 2,000 dollars; a HUB 2, with 4,000,000 dollars in its pool with ETH; an AGENT 0.5, with 400,000
 * dollars of HUB; a SUB_AGENT 0.05, with 200,000 dollars of AGENT; a COIN 20, with 200,000 dollars of ETH.
 */
export function routedMarket(of = routedWorld): ExampleMarket {
  return hubMarket(of)
    .block(12, holds(HUB, 200_000n, AGENT, 800_000n))
    .block(12, holds(AGENT, 400_000n, SUB_AGENT, 4_000_000n))
}

/** The same before AGENT and SUB_AGENT are traded. */
export function hubMarket(of = routedWorld): ExampleMarket {
  return new ExampleMarket(of)
    .block(12, sync(ETH_POOL, usd(20_000_000n), eth(10_000n)))
    .block(12, holds(WETH, 2_000n, HUB, 2_000_000n), holds(WETH, 100n, COIN, 10_000n))
}
