import { amountsOfLiquidity, MAX_TICK } from './concentrated-liquidity.ts'
import { bitsOf } from './storage-slots.ts'

export type InitializedTick = { readonly tick: number; readonly liquidityNet: bigint }

/** Ticks per word of a pool's tick bitmap. */
const WORD_BITS = 256

/** Words of the bitmap that can have initialized ticks. */
export function bitmapWords(tickSpacing: number): number[] {
  const last = Math.floor(MAX_TICK / tickSpacing)
  const [from, to] = [Math.floor(-last / WORD_BITS), Math.floor(last / WORD_BITS)]
  return Array.from({ length: to - from + 1 }, (_, at) => from + at)
}

/** The ticks whose bits are set in a word of the bitmap. */
export function ticksOfWord(word: number, bits: bigint, tickSpacing: number): number[] {
  return bitsOf(bits).map((bit) => (word * WORD_BITS + bit) * tickSpacing)
}

/**
 * The amounts of both tokens in all positions of a pool, from the liquidity that its ticks add and remove; undefined if
 * it does not add up, because then a tick is missing. Fees that positions have earned are not among them.
 */
export function amountsOfTicks(
  ticks: readonly InitializedTick[],
  price: { readonly sqrtPriceX96: bigint; readonly tick: number },
): readonly [bigint, bigint] | undefined {
  let liquidity = 0n
  let total: readonly [bigint, bigint] = [0n, 0n]
  const sorted = [...ticks].sort((a, b) => a.tick - b.tick)
  for (const [at, { tick, liquidityNet }] of sorted.entries()) {
    liquidity += liquidityNet
    const next = sorted[at + 1]?.tick
    if (liquidity < 0n || (next === undefined && liquidity !== 0n)) return undefined
    if (next === undefined || liquidity === 0n) continue
    // Rounded as for a removal: the pool can pay out at most this.
    const { amount0, amount1 } = amountsOfLiquidity(-liquidity, price.sqrtPriceX96, price.tick, tick, next)
    total = [total[0] - amount0, total[1] - amount1]
  }
  return total
}
