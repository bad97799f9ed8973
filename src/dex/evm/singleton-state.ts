import type { Answer, Call, ReadState, StateInquiry } from '../protocol.ts'
import { isTick, MAX_SQRT_PRICE, MIN_SQRT_PRICE } from './concentrated-liquidity.ts'
import { loadSlots, slotOfEntry, slotOfPool } from './storage-slots.ts'
import { amountsOfTicks, bitmapWords, type InitializedTick, ticksOfWord } from './tick-liquidity.ts'

/** The places of a pool's liquidity, of its ticks and of their bitmap, after the slot of the pool itself. */
const LIQUIDITY = 3n
const TICKS = 4n
const BITMAP = 5n
/** A pool with more is not read; its reserves stay unknown. */
const MAX_TICKS = 2_000

const SQRT_PRICE_BITS = 160
const TICK_BITS = 24
const INT128_BITS = 128

/**
 * Pools of Uniswap V4, and of PancakeSwap Infinity, which stores them alike. The manager holds the tokens of all pools
 * together, so a pool's own reserves follow from its liquidity: first the bitmap of its ticks, then what each tick adds or
 * removes. `pools` is the storage slot of the manager's pools by id.
 */
export function readTickState(pools: bigint): ReadState {
  return function* readState({ address, tickSpacing }, { factory }): StateInquiry {
    const slot = slotOfPool(address, pools)
    const words = tickSpacing === undefined || tickSpacing < 1 ? [] : bitmapWords(tickSpacing)
    const bitmapSlots = words.map((word) => slotOfEntry(word, slot + BITMAP))
    const [slot0, ...bitmap] = yield* loadSlots(factory, [slot, ...bitmapSlots])
    const price = slot0 === undefined ? undefined : priceOf(slot0)
    if (price === undefined) return undefined
    const unknown = { price, reserves: undefined }
    if (tickSpacing === undefined || words.length === 0) return unknown
    if (bitmap.some((bits) => bits === undefined)) return unknown
    const ticks = words.flatMap((word, at) => ticksOfWord(word, bitmap[at] ?? 0n, tickSpacing))
    if (ticks.length > MAX_TICKS || !ticks.every(isTick)) return unknown
    const nets = yield* loadSlots(
      factory,
      ticks.map((tick) => slotOfEntry(tick, slot + TICKS)),
    )
    const initialized: InitializedTick[] = []
    for (const [at, tick] of ticks.entries()) {
      const info = nets[at]
      if (info === undefined) return unknown
      // The upper half of the word; the lower one is the gross liquidity.
      initialized.push({ tick, liquidityNet: BigInt.asIntN(INT128_BITS, info >> 128n) })
    }
    return { price, reserves: amountsOfTicks(initialized, price) }
  }
}

/** The price of a Uniswap V4 pool, and the liquidity of the positions around it. */
export function* readActiveLiquidity(
  pool: string,
  manager: string,
  pools: bigint,
): Generator<readonly Call[], { liquidity: bigint; sqrtPriceX96: bigint } | undefined, readonly Answer[]> {
  const slot = slotOfPool(pool, pools)
  const [slot0, liquidity] = yield* loadSlots(manager, [slot, slot + LIQUIDITY])
  const price = slot0 === undefined ? undefined : priceOf(slot0)
  if (price === undefined || liquidity === undefined) return undefined
  return { liquidity: BigInt.asUintN(INT128_BITS, liquidity), sqrtPriceX96: price.sqrtPriceX96 }
}

function priceOf(slot0: bigint) {
  const sqrtPriceX96 = BigInt.asUintN(SQRT_PRICE_BITS, slot0)
  const tick = Number(BigInt.asIntN(TICK_BITS, slot0 >> BigInt(SQRT_PRICE_BITS)))
  if (sqrtPriceX96 < MIN_SQRT_PRICE || sqrtPriceX96 >= MAX_SQRT_PRICE || !isTick(tick)) return undefined
  return { kind: 'sqrt', sqrtPriceX96, tick } as const
}
