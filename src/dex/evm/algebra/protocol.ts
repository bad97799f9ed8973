import type { RawLog } from '../../../domain/envelope.ts'
import type { LiquidityRemoved, PoolCreated, Swapped } from '../../events.ts'
import type { Protocol } from '../../protocol.ts'
import { addressAt, smallUintAt, topicAddress } from '../abi.ts'
import { identifyPool } from '../concentrated/identify-pool.ts'
import { poolEvents, readBurn, readSwap, SWAP } from '../concentrated/pool-events.ts'
import { GLOBAL_STATE, readConcentratedState } from '../concentrated/pool-state.ts'

/** Pool(address indexed token0, address indexed token1, address pool) */
const POOL = '0x91ccaa7a278130b65168c3a0c8d3bcae84cf5e43704342bd3ec0b59e59c036db'
/** CustomPool(address indexed deployer, address indexed token0, address indexed token1, address pool) */
const CUSTOM_POOL = '0x8a5f030f5fc13b04a1e4ef7c47177e3d76b0e80e1d9be9843db37caa5b7b9b8f'
/**
 * Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 price,
 * uint128 liquidity, int24 tick, uint24 overrideFee, uint24 pluginFee)
 */
const SWAP_WITH_FEES = '0x121cb44ee54098b1a04743c487e7460d8dd429b27f88b1f4d4767396e1a59f79'
/**
 * Burn(address indexed owner, int24 indexed bottomTick, int24 indexed topTick, uint128 liquidityAmount,
 * uint256 amount0, uint256 amount1, uint24 pluginFee)
 */
const BURN_WITH_FEE = '0x932214d4a69c27c086643126ed97c32681da179064c678836c173f99bd13ca01'

/** A fee cannot exceed the whole input. */
const MAX_FEE_PPM = 1_000_000

/** poolByPair(address tokenA, address tokenB) */
const POOL_BY_PAIR = '0xd9a641e1'

/**
 * Algebra, old and new (QuickSwap, Camelot, …). Its pools pay the shares of the exchange and of plugins without an
 * event, so their reserves cannot be counted. A custom pool does not report its deployer, and its factory finds it only
 * by that, so only its announcement identifies it.
 */
export const algebra: Protocol = {
  announcements: { [POOL]: readPool, [CUSTOM_POOL]: readCustomPool },
  events: {
    ...poolEvents,
    [SWAP]: readSwap,
    [SWAP_WITH_FEES]: readSwapWithFees,
    [BURN_WITH_FEE]: readBurnWithFee,
  },
  trial: 'algebra',
  isSingleton: false,
  reserves: 'unknown',
  identify: identifyPool({ lookUp: POOL_BY_PAIR, isCounted: false }),
  readState: readConcentratedState(GLOBAL_STATE),
}

function readPool(log: RawLog): PoolCreated | undefined {
  return poolCreated(log.topics[1], log.topics[2], log.data)
}

function readCustomPool(log: RawLog): PoolCreated | undefined {
  const deployer = topicAddress(log.topics[1])
  return deployer === undefined ? undefined : poolCreated(log.topics[2], log.topics[3], log.data)
}

function poolCreated(
  topic0: string | undefined,
  topic1: string | undefined,
  data: Uint8Array,
): PoolCreated | undefined {
  const token0 = topicAddress(topic0)
  const token1 = topicAddress(topic1)
  const pool = addressAt(data, 0)
  if (token0 === undefined || token1 === undefined || pool === undefined) return undefined
  return { type: 'poolCreated', pool, tokens: [token0, token1], pricing: { kind: 'sqrtPrice' } }
}

function readSwapWithFees(log: RawLog): Swapped | undefined {
  const swapped = readSwap(log)
  const overrideFee = smallUintAt(log.data, 5)
  const pluginFee = smallUintAt(log.data, 6)
  if (swapped === undefined || overrideFee === undefined || pluginFee === undefined) return undefined
  if (overrideFee + pluginFee > MAX_FEE_PPM) return undefined
  // Zero means the pool's own fee applied, which the event does not report.
  return overrideFee === 0 ? swapped : { ...swapped, feePpm: overrideFee + pluginFee }
}

/** The amounts are net of the plugin's fee. */
function readBurnWithFee(log: RawLog): LiquidityRemoved | undefined {
  return smallUintAt(log.data, 3) === undefined ? undefined : readBurn(log)
}
