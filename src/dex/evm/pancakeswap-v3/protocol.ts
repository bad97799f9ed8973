import type { RawLog } from '../../../domain/envelope.ts'
import type { Swapped } from '../../events.ts'
import type { Protocol } from '../../protocol.ts'
import { COLLECT_PROTOCOL, poolEvents, readCollectProtocol, readSwap } from '../concentrated/pool-events.ts'
import { bothAmountsAt } from '../event-parts.ts'
import { uniswapV3 } from '../uniswap-v3/protocol.ts'

/**
 * Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1,
 * uint160 sqrtPriceX96, uint128 liquidity, int24 tick, uint128 protocolFeesToken0,
 * uint128 protocolFeesToken1)
 */
const SWAP_WITH_FEES = '0x19b47279256b2a23a1665c810c8d55a1758940ee09377d4f8d26497a3577dc83'

/** PancakeSwap V3 and its forks: Uniswap V3 with another Swap event. */
export const pancakeswapV3: Protocol = {
  ...uniswapV3,
  events: { ...poolEvents, [SWAP_WITH_FEES]: readSwapWithFees, [COLLECT_PROTOCOL]: readCollectProtocol },
}

/** The exchange's share of the fee stays in the pool until it is collected, so the extra fields are ignored. */
function readSwapWithFees(log: RawLog): Swapped | undefined {
  return bothAmountsAt(log.data, 5) === undefined ? undefined : readSwap(log)
}
