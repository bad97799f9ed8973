import type { RawLog } from '../../../domain/envelope.ts'
import type { PoolCreated } from '../../events.ts'
import type { DexDeployment, Inquiry, Protocol } from '../../protocol.ts'
import { smallUintAt, topicAddress, topicId, wordAt } from '../abi.ts'
import { sqrtPriceAt } from '../event-parts.ts'
import { isIdOf, readDonate, readModifyLiquidity, readSingletonSwap } from '../singleton-events.ts'
import { readTickState } from '../singleton-state.ts'
import { readV4Market } from './market.ts'
import { askKey, INITIALIZE, POOLS } from './pool-key.ts'

/**
 * Swap(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint160 sqrtPriceX96,
 * uint128 liquidity, int24 tick, uint24 fee)
 */
const SWAP = '0x40e9cecb9f5f1f1c5b9c97dec2917b7ee92e57ba5563708daca94dd84ad7112f'
/**
 * ModifyLiquidity(bytes32 indexed id, address indexed sender, int24 tickLower, int24 tickUpper,
 * int256 liquidityDelta, bytes32 salt)
 */
const MODIFY_LIQUIDITY = '0xf208f4912782fd25c7f114ca3723a2d5dd6f3bcc3ac8db5af63baa85f711d5ec'
/** Donate(bytes32 indexed id, address indexed sender, uint256 amount0, uint256 amount1) */
const DONATE = '0x29ef05caaff9404b7cb6d1c0e9bbae9eaa7ab2541feba1a9c4248594c08156cb'

/**
 * Uniswap V4: one contract holds all pools, and the zero address is the native coin. Fees enter with swaps and
 * donations, and leave whenever a position is modified, but no event reports the amount. A count without fees, using
 * the rate in each swap, is right up to rounding; a count with fees only grows.
 */
export const uniswapV4: Protocol = {
  announcements: { [INITIALIZE]: readInitialize },
  events: {
    [SWAP]: readSingletonSwap,
    [MODIFY_LIQUIDITY]: readModifyLiquidity,
    [DONATE]: readDonate,
  },
  isSingleton: true,
  payerOf: ({ address }) => address,
  reserves: 'counted_without_fees',
  identify,
  readState: readTickState(POOLS),
  trial: 'vault',
  readMarket: readV4Market,
}

function readInitialize(log: RawLog): PoolCreated | undefined {
  const [, id, first, second] = log.topics
  const pool = topicId(id)
  const currency0 = topicAddress(first)
  const currency1 = topicAddress(second)
  const price = sqrtPriceAt(log.data, 3, 4)
  const tickSpacing = smallUintAt(log.data, 1)
  if (pool === undefined || currency0 === undefined || currency1 === undefined) return undefined
  const key = [first, second, wordAt(log.data, 0), wordAt(log.data, 1), wordAt(log.data, 2)]
  if (price === undefined || !isIdOf(pool, key)) return undefined
  return {
    type: 'poolCreated',
    pool,
    tokens: [currency0, currency1],
    pricing: { kind: 'sqrtPrice' },
    price,
    ...(tickSpacing !== undefined && { tickSpacing }),
  }
}

function* identify(pool: string, deployments: readonly DexDeployment[]): Inquiry {
  const [deployment] = deployments
  if (deployment === undefined) return undefined
  const key = yield* askKey(pool, deployment)
  if (key === undefined) return undefined
  const currency0 = topicAddress(key[0])
  const currency1 = topicAddress(key[1])
  if (currency0 === undefined || currency1 === undefined) return undefined
  return {
    factory: deployment.factory,
    tokens: [currency0, currency1],
    pricing: { kind: 'sqrtPrice' },
    // The contract's balance covers all pools.
    reservesBefore: undefined,
  }
}
