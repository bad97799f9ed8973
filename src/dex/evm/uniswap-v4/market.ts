import { ZERO_ADDRESS } from '../../../domain/known-addresses.ts'
import type { DexDeployment, MarketInquiry, PoolKey } from '../../protocol.ts'
import { topicAddress } from '../abi.ts'
import { virtualReserves } from '../concentrated-liquidity.ts'
import { readActiveLiquidity } from '../singleton-state.ts'
import { askKey, POOLS } from './pool-key.ts'

/** unlock(bytes) */
const UNLOCK = '0x48c89491'
/** swap((address,address,uint24,int24,address),(bool,int256,uint160),bytes) */
const SWAP = '0xf3cd914c'
const HOOKS = 4

export function* readV4Market(
  pool: string,
  deployment: DexDeployment,
  announced: PoolKey | undefined,
): MarketInquiry {
  const manager = deployment.factory
  const key = announced ?? (yield* askKey(pool, deployment))
  const active = yield* readActiveLiquidity(pool, manager, POOLS)
  if (key === undefined || active === undefined) return undefined
  return {
    manager,
    vault: manager,
    opening: UNLOCK,
    swap: `${SWAP}${key.map((word) => word.slice(2)).join('')}`,
    hasHooks: topicAddress(key[HOOKS]) !== ZERO_ADDRESS,
    virtualReserves: virtualReserves(active.liquidity, active.sqrtPriceX96),
  }
}
