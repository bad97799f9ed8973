import type { RawLog } from '../../../domain/envelope.ts'
import type { FeesCollected, PoolCreated } from '../../events.ts'
import type { Protocol } from '../../protocol.ts'
import { addressAt, topicAddress, topicSmallInt } from '../abi.ts'
import { identifyPool } from '../concentrated/identify-pool.ts'
import { poolEvents, readSwap, SWAP } from '../concentrated/pool-events.ts'
import { readConcentratedState, SLOT0 } from '../concentrated/pool-state.ts'
import { bothAmountsAt } from '../event-parts.ts'

/**
 * PoolCreated(address indexed token0, address indexed token1, int24 indexed tickSpacing, address pool): emitted
 * after the pool's own Initialize.
 */
const POOL_CREATED = '0xab0d57f0df537bb25e80245ef7748fa62353808c54d6e528a9dd20887aed9ac2'
/** CollectFees(address indexed recipient, uint128 amount0, uint128 amount1) */
const COLLECT_FEES = '0x205860e66845f2bbc0966bfab80db9bf93fca93862ea2b9fcf6945748352b4a3'

/** tickSpacing() */
const TICK_SPACING = '0xd0c93a7c'
/** getPool(address tokenA, address tokenB, int24 tickSpacing) */
const GET_POOL = '0x28af8d0b'

/** Slipstream: the concentrated pools of Aerodrome and Velodrome. */
export const slipstream: Protocol = {
  announcements: { [POOL_CREATED]: readPoolCreated },
  events: { ...poolEvents, [SWAP]: readSwap, [COLLECT_FEES]: readCollectFees },
  trial: 'v3',
  isSingleton: false,
  reserves: 'counted',
  identify: identifyPool({ lookUp: GET_POOL, mark: TICK_SPACING, isCounted: true }),
  readState: readConcentratedState(SLOT0),
}

function readPoolCreated(log: RawLog): PoolCreated | undefined {
  const token0 = topicAddress(log.topics[1])
  const token1 = topicAddress(log.topics[2])
  const pool = addressAt(log.data, 0)
  if (token0 === undefined || token1 === undefined || pool === undefined) return undefined
  if (topicSmallInt(log.topics[3]) === undefined) return undefined
  return { type: 'poolCreated', pool, tokens: [token0, token1], pricing: { kind: 'sqrtPrice' } }
}

/** The gauge passes the fees of staked positions to voters, so they belong to no provider. */
function readCollectFees(log: RawLog): FeesCollected | undefined {
  const amounts = bothAmountsAt(log.data, 0)
  if (topicAddress(log.topics[1]) === undefined || amounts === undefined) return undefined
  return { type: 'feesCollected', pool: log.address, provider: undefined, amounts }
}
