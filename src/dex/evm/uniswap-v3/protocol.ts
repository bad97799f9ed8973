import type { RawLog } from '../../../domain/envelope.ts'
import type { PoolCreated } from '../../events.ts'
import type { Protocol } from '../../protocol.ts'
import { addressAt, smallIntAt, topicAddress, topicSmallUint } from '../abi.ts'
import { identifyPool } from '../concentrated/identify-pool.ts'
import {
  COLLECT_PROTOCOL,
  poolEvents,
  readCollectProtocol,
  readSwap,
  SWAP,
} from '../concentrated/pool-events.ts'
import { readConcentratedState, SLOT0 } from '../concentrated/pool-state.ts'

/**
 * PoolCreated(address indexed token0, address indexed token1, uint24 indexed fee, int24 tickSpacing,
 * address pool)
 */
const POOL_CREATED = '0x783cca1c0412dd0d695e784568c96da2e9c22ff989357a2e8b1d9b2b4e6b7118'

/** fee() */
const FEE = '0xddca3f43'
/** getPool(address tokenA, address tokenB, uint24 fee) */
const GET_POOL = '0x1698ee82'

/** Uniswap V3 and its forks. */
export const uniswapV3: Protocol = {
  announcements: { [POOL_CREATED]: readPoolCreated },
  events: { ...poolEvents, [SWAP]: readSwap, [COLLECT_PROTOCOL]: readCollectProtocol },
  trial: 'v3',
  isSingleton: false,
  reserves: 'counted',
  identify: identifyPool({ lookUp: GET_POOL, mark: FEE, isCounted: true }),
  readState: readConcentratedState(SLOT0),
}

function readPoolCreated(log: RawLog): PoolCreated | undefined {
  const token0 = topicAddress(log.topics[1])
  const token1 = topicAddress(log.topics[2])
  const pool = addressAt(log.data, 1)
  if (token0 === undefined || token1 === undefined || pool === undefined) return undefined
  if (topicSmallUint(log.topics[3]) === undefined || smallIntAt(log.data, 0) === undefined) return undefined
  return { type: 'poolCreated', pool, tokens: [token0, token1], pricing: { kind: 'sqrtPrice' } }
}
