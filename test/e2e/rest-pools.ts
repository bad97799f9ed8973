import { type Hex, zeroAddress } from 'viem'
import { uniswapV2Router } from '../../dev/market/artifacts.ts'
import type { Call, Market } from '../../dev/market/market.ts'
import { inOrder, rangeAround, sqrtPrice, type UniswapV3, type V3Pool } from '../../dev/market/uniswap-v3.ts'
import { idOf, poolKey, type UniswapV4 } from '../../dev/market/uniswap-v4.ts'

/** How much of each token a pool begins with, in base units. */
export type Sides = {
  readonly tokenA: Hex
  readonly rawA: bigint
  readonly tokenB: Hex
  readonly rawB: bigint
}

/** A pool of any exchange, as a trader and a provider see it. All that is sent needs mining. */
export type TradedPool = {
  readonly sides: Sides
  /** Known once the pool is there. */
  id(): Promise<string>
  create(): Promise<unknown>
  /** So many hundredths of what the pool began with. */
  add(percent: bigint): Promise<unknown>
  sell(token: Hex, raw: bigint, from: Hex): Promise<unknown>
}

const DEADLINE = 2n ** 64n
/** About two thirds up and down. */
const RANGE_TICKS = 5_000
/** With fees in millionths and the tick spacing that belongs to them. */
export type Fee = 500 | 3_000 | 10_000
const SPACING: Readonly<Record<Fee, number>> = { 500: 10, 3000: 60, 10000: 200 }

export function v2Pool(market: Market, sides: Sides): TradedPool {
  const { tokenA, tokenB, rawA, rawB } = sides
  const add = (percent: bigint) =>
    market.send(
      routerCall(market, 'addLiquidity', [
        ...[tokenA, tokenB, (rawA * percent) / 100n, (rawB * percent) / 100n, 0n, 0n],
        ...[market.owner, DEADLINE],
      ]),
    )
  return {
    sides,
    id: async () => (await market.pairOf(tokenA, tokenB)).toLowerCase(),
    // The first to add creates it.
    create: async () => undefined,
    add,
    sell: (token, raw, from) => {
      const path = [token, token === tokenA ? tokenB : tokenA]
      return market.send(
        routerCall(market, 'swapExactTokensForTokens', [raw, 0n, path, from, DEADLINE]),
        from,
      )
    },
  }
}

/** Takes all of the owner's liquidity out of a V2 pool, but for so many hundredths; the router must be allowed to. */
export async function removeFromV2(
  market: Market,
  { id, sides }: TradedPool,
  percent: bigint,
): Promise<void> {
  const shares = await market.balanceOf((await id()) as Hex)
  const args = [sides.tokenA, sides.tokenB, (shares * percent) / 100n, 0n, 0n, market.owner, DEADLINE]
  await market.send(routerCall(market, 'removeLiquidity', args))
}

export function v3Pool(v3: UniswapV3, sides: Sides, fee: Fee): TradedPool {
  const { tokenA, tokenB, rawA, rawB } = sides
  const found = (): Promise<V3Pool> => v3.poolOf(tokenA, tokenB, fee)
  return {
    sides,
    id: async () => (await found()).address.toLowerCase(),
    create: () => v3.createPool(tokenA, tokenB, fee, sqrtPrice(tokenA, rawA, tokenB, rawB)),
    add: async (percent) => {
      const pool = await found()
      const range = wideRange((await v3.slot0(pool)).tick, SPACING[fee])
      const [raw0, raw1] = pool.token0 === tokenA ? [rawA, rawB] : [rawB, rawA]
      return v3.addLiquidity(pool, range, (raw0 * percent) / 100n, (raw1 * percent) / 100n)
    },
    sell: async (token, raw, from) => v3.sell(token, await found(), raw, from),
  }
}

/** With the number of the position that it adds to next; positions are never touched again but by `empty`. */
export type V4Pool = TradedPool & {
  /** Pays out a position's fees. */
  poke(position: number): Promise<unknown>
  /** Takes hundredths of a position out. */
  remove(position: number, percent: bigint): Promise<unknown>
}

export function v4Pool(v4: UniswapV4, sides: Sides, fee: Fee): V4Pool {
  const { tokenA, tokenB, rawA, rawB } = sides
  const key = poolKey(tokenA, tokenB, fee, SPACING[fee])
  const isNative = key.currency0 === zeroAddress
  const positions: { readonly range: ReturnType<typeof wideRange>; readonly liquidity: bigint }[] = []
  const position = (number: number) => {
    const found = positions[number]
    if (found === undefined) throw new Error(`no position ${number}`)
    return found
  }
  return {
    sides,
    id: async () => idOf(key),
    create: () => v4.createPool(key, sqrtPrice(tokenA, rawA, tokenB, rawB)),
    add: async (percent) => {
      const range = wideRange((await v4.slot0(key)).tick, key.tickSpacing)
      // As if it were for all prices: in a range that is narrower it takes less.
      const liquidity = (root(rawA * rawB) * percent) / 100n
      const [raw0] = inOrder(tokenA, tokenB)[0] === tokenA ? [rawA] : [rawB]
      positions.push({ range, liquidity })
      // What is sent too much comes back.
      return v4.modifyLiquidity(key, range, liquidity, positions.length, isNative ? 2n * raw0 : 0n)
    },
    sell: (token, raw, from) => v4.sell(token, key, raw, token === zeroAddress ? raw : 0n, from),
    poke: (number) => v4.modifyLiquidity(key, position(number).range, 0n, number + 1),
    remove: (number, percent) => {
      const { range, liquidity } = position(number)
      return v4.modifyLiquidity(key, range, -((liquidity * percent) / 100n), number + 1)
    },
  }
}

function wideRange(tick: number, spacing: number) {
  return rangeAround(tick, spacing, Math.ceil(RANGE_TICKS / spacing))
}

function routerCall(market: Market, name: string, args: readonly unknown[]): Call {
  return { to: market.router, abi: uniswapV2Router.abi, name, args, gas: 5_000_000n }
}

function root(square: bigint): bigint {
  let guess = 1n << BigInt(Math.ceil(square.toString(2).length / 2))
  for (;;) {
    const next = (guess + square / guess) / 2n
    if (next >= guess) return guess
    guess = next
  }
}
