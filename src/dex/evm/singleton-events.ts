import type { RawLog } from '../../domain/envelope.ts'
import type { Donated, LiquidityMoved, PoolPrice, Swapped } from '../events.ts'
import { intAt, itemsAt, smallIntAt, smallUintAt, topicAddress, topicId, uintAt, wordAt } from './abi.ts'
import { isTick } from './concentrated-liquidity.ts'
import { keccakOfPacked } from './create2.ts'
import { bothAmounts, sqrtPriceAt } from './event-parts.ts'

/** Common to Uniswap V4 and PancakeSwap Infinity, which is derived from it. */

const INT_128_LIMIT = 1n << 127n
const MAX_FEE_PPM = 1_000_000

/**
 * Reads (bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint160 sqrtPriceX96,
 * uint128 liquidity, int24 tick, uint24 fee); more may follow.
 */
export function readSingletonSwap(log: RawLog): Swapped | undefined {
  return swappedOf(log, sqrtPriceAt(log.data, 2, 4), smallUintAt(log.data, 5))
}

/** Completes a swap of any pool of these exchanges from its price and fee. */
export function swappedOf(
  log: RawLog,
  price: PoolPrice | undefined,
  feePpm: number | undefined,
): Swapped | undefined {
  const pool = topicId(log.topics[1])
  const sender = topicAddress(log.topics[2])
  const amount0 = int128At(log.data, 0)
  const amount1 = int128At(log.data, 1)
  if (pool === undefined || sender === undefined || price === undefined) return undefined
  if (amount0 === undefined || amount1 === undefined) return undefined
  if (feePpm === undefined || feePpm > MAX_FEE_PPM) return undefined
  return {
    type: 'swapped',
    pool,
    sender,
    // Balances are settled at the end of the transaction: `payerOf` leads to the recipient.
    recipient: undefined,
    token0: 0,
    token1: 1,
    // The contract emits the swapper's gains, contrary to its documentation.
    delta0: -amount0,
    delta1: -amount1,
    price,
    feePpm,
  }
}

/** Reads (bytes32 indexed id, address indexed sender, int24 tickLower, int24 tickUpper, int256 liquidityDelta, bytes32). */
export function readModifyLiquidity(log: RawLog): LiquidityMoved | undefined {
  const pool = topicId(log.topics[1])
  const provider = topicAddress(log.topics[2])
  const tickLower = smallIntAt(log.data, 0)
  const tickUpper = smallIntAt(log.data, 1)
  const liquidityDelta = int128At(log.data, 2)
  if (pool === undefined || provider === undefined || liquidityDelta === undefined) return undefined
  if (!isTick(tickLower) || !isTick(tickUpper) || tickLower >= tickUpper) return undefined
  // A position is modified by zero to collect its fees; no liquidity moves.
  if (liquidityDelta === 0n || wordAt(log.data, 3) === undefined) return undefined
  return { type: 'liquidityMoved', pool, provider, tickLower, tickUpper, liquidityDelta }
}

/** Reads (bytes32 indexed id, address indexed sender, uint256 amount0, uint256 amount1); more may follow. */
export function readDonate(log: RawLog): Donated | undefined {
  return donatedOf(log, uintAt(log.data, 0), uintAt(log.data, 1))
}

export function donatedOf(
  log: RawLog,
  amount0: bigint | undefined,
  amount1: bigint | undefined,
): Donated | undefined {
  const pool = topicId(log.topics[1])
  if (pool === undefined || topicAddress(log.topics[2]) === undefined) return undefined
  if (amount0 === undefined || amount1 === undefined || amount0 < 0n || amount1 < 0n) return undefined
  return { type: 'donated', pool, amounts: bothAmounts(amount0, amount1) }
}

/** A pool's id is the hash of its key, so a key cannot be forged for an id. */
export function isIdOf(id: string, key: readonly (string | undefined)[]): boolean {
  return key.every((word) => word !== undefined) && keccakOfPacked(...key) === id
}

/** A pool key in a response, as a fixed number of words. */
export function decodePoolKey(answer: Uint8Array | undefined, words: number): string[] | undefined {
  return itemsAt(answer, 0, words, wordAt)
}

export function int128At(data: Uint8Array, index: number): bigint | undefined {
  const value = intAt(data, index)
  return value === undefined || value >= INT_128_LIMIT || value < -INT_128_LIMIT ? undefined : value
}
