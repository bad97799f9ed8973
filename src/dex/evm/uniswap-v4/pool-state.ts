import type { CreatedPool } from '../../../domain/created-pool.ts'
import type { Answer, Call, DexDeployment, StateInquiry } from '../../protocol.ts'
import { callData, listAt, uintAt } from '../abi.ts'
import { isTick, MAX_SQRT_PRICE, MIN_SQRT_PRICE } from '../concentrated-liquidity.ts'
import { keccakOfPacked } from '../create2.ts'
import { amountsOfTicks, bitmapWords, type InitializedTick, ticksOfWord } from '../tick-liquidity.ts'

/** extsload(bytes32[]) of the pool manager */
const EXTSLOAD = '0xdbd035ff'
/** The storage slot of the manager's pools by id. */
const POOLS = 6n
/** The places of a pool's liquidity, of its ticks and of their bitmap, after the slot of the pool itself. */
const LIQUIDITY = 3n
const TICKS = 4n
const BITMAP = 5n
/** Slots per call: their answer fits into the default of `calls.answer_bytes`. */
const SLOTS_PER_CALL = 28
/** A pool with more is not read; its reserves stay unknown. */
const MAX_TICKS = 2_000

const SQRT_PRICE_BITS = 160
const TICK_BITS = 24
const INT128_BITS = 128

/**
 * The manager holds the tokens of all pools together, so a pool's own reserves follow from its liquidity: first the
 * bitmap of its ticks, then what each tick adds or removes.
 */
export function* readV4State(pool: CreatedPool, { factory }: DexDeployment): StateInquiry {
  const slot = slotOf(pool.address)
  const spacing = pool.tickSpacing
  const words = spacing === undefined || spacing < 1 ? [] : bitmapWords(spacing)
  const bitmapSlots = words.map((word) => entryOf(word, slot + BITMAP))
  const [slot0, ...bitmap] = yield* loadSlots(factory, [slot, ...bitmapSlots])
  const price = slot0 === undefined ? undefined : priceOf(slot0)
  if (price === undefined) return undefined
  const unknown = { price, reserves: undefined }
  if (spacing === undefined || bitmap.some((bits) => bits === undefined)) return unknown
  const ticks = words.flatMap((word, at) => ticksOfWord(word, bitmap[at] ?? 0n, spacing))
  if (ticks.length > MAX_TICKS || !ticks.every(isTick)) return unknown
  const nets = yield* loadSlots(
    factory,
    ticks.map((tick) => entryOf(tick, slot + TICKS)),
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

/** The price, and the liquidity of the positions around it. */
export function* readActiveLiquidity(
  pool: string,
  manager: string,
): Generator<readonly Call[], { liquidity: bigint; sqrtPriceX96: bigint } | undefined, readonly Answer[]> {
  const slot = slotOf(pool)
  const [slot0, liquidity] = yield* loadSlots(manager, [slot, slot + LIQUIDITY])
  const price = slot0 === undefined ? undefined : priceOf(slot0)
  if (price === undefined || liquidity === undefined) return undefined
  return { liquidity: BigInt.asUintN(INT128_BITS, liquidity), sqrtPriceX96: price.sqrtPriceX96 }
}

function slotOf(pool: string): bigint {
  return BigInt(keccakOfPacked(pool, wordOf(POOLS)))
}

function priceOf(slot0: bigint) {
  const sqrtPriceX96 = BigInt.asUintN(SQRT_PRICE_BITS, slot0)
  const tick = Number(BigInt.asIntN(TICK_BITS, slot0 >> BigInt(SQRT_PRICE_BITS)))
  if (sqrtPriceX96 < MIN_SQRT_PRICE || sqrtPriceX96 >= MAX_SQRT_PRICE || !isTick(tick)) return undefined
  return { kind: 'sqrt', sqrtPriceX96, tick } as const
}

function* loadSlots(
  manager: string,
  slots: readonly bigint[],
): Generator<readonly Call[], (bigint | undefined)[], readonly Answer[]> {
  const chunks: bigint[][] = []
  for (let at = 0; at < slots.length; at += SLOTS_PER_CALL) chunks.push(slots.slice(at, at + SLOTS_PER_CALL))
  if (chunks.length === 0) return []
  const answers: readonly Answer[] = yield chunks.map((chunk) => ({
    to: manager,
    data: callData(EXTSLOAD, 32, chunk.length, ...chunk),
  }))
  return chunks.flatMap((chunk, at) => {
    const loaded = listAt(answers[at], 0, uintAt)
    return chunk.map((_, index) => (loaded?.length === chunk.length ? loaded[index] : undefined))
  })
}

/** The slot of a key in a mapping. */
function entryOf(key: number, mapping: bigint): bigint {
  return BigInt(keccakOfPacked(callData('0x', key, BigInt.asUintN(256, mapping))))
}

function wordOf(value: bigint): string {
  return callData('0x', value)
}
