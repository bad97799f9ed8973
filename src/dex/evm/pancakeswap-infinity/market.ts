import { ZERO_ADDRESS } from '../../../domain/known-addresses.ts'
import type { Answer, Call, DexDeployment, MarketInquiry, PoolKey } from '../../protocol.ts'
import { addressAt, callData, topicAddress, uintAt } from '../abi.ts'
import { MAX_SQRT_PRICE, MIN_SQRT_PRICE, virtualReserves } from '../concentrated-liquidity.ts'
import { decodePoolKey, isIdOf } from '../singleton-events.ts'

/** poolIdToPoolKey(bytes32) of the pool manager */
const POOL_ID_TO_POOL_KEY = '0x0e2d484a'
/** vault() of the pool manager */
const VAULT = '0xfbfa77cf'
/** getSlot0(bytes32) and getLiquidity(bytes32) of the manager of concentrated pools */
const GET_SLOT0 = '0xc815641c'
const GET_LIQUIDITY = '0xfa6793d5'
/** lock(bytes) of the vault */
const LOCK = '0x81548319'
/** swap((address,address,address,address,uint24,bytes32),(bool,int256,uint160),bytes) */
const SWAP = '0xcd0cc1ce'
/** currency0, currency1, hooks, poolManager, fee, parameters */
const KEY_WORDS = 6
const HOOKS = 2
const MANAGER = 3
const MAX_LIQUIDITY = (1n << 128n) - 1n

/** The manager stores the keys of its pools. */
export function* askKey(
  pool: string,
  manager: string,
): Generator<readonly Call[], PoolKey | undefined, readonly Answer[]> {
  const [answer]: readonly Answer[] = yield [{ to: manager, data: callData(POOL_ID_TO_POOL_KEY, pool) }]
  const key = decodePoolKey(answer, KEY_WORDS)
  return key !== undefined && isIdOf(pool, key) && topicAddress(key[MANAGER]) === manager ? key : undefined
}

/** Pools of concentrated liquidity. */
export function* readClMarket(pool: string, { factory }: DexDeployment): MarketInquiry {
  const key = yield* askKey(pool, factory)
  if (key === undefined) return undefined
  const [holder, slot0, active]: readonly Answer[] = yield [
    { to: factory, data: VAULT },
    { to: factory, data: callData(GET_SLOT0, pool) },
    { to: factory, data: callData(GET_LIQUIDITY, pool) },
  ]
  const vault = addressAt(holder, 0)
  const sqrtPriceX96 = uintAt(slot0, 0)
  const liquidity = uintAt(active, 0)
  if (vault === undefined || sqrtPriceX96 === undefined || liquidity === undefined) return undefined
  if (sqrtPriceX96 < MIN_SQRT_PRICE || sqrtPriceX96 >= MAX_SQRT_PRICE || liquidity > MAX_LIQUIDITY)
    return undefined
  return {
    manager: factory,
    vault,
    opening: LOCK,
    swap: `${SWAP}${key.map((word) => word.slice(2)).join('')}`,
    hasHooks: topicAddress(key[HOOKS]) !== ZERO_ADDRESS,
    virtualReserves: virtualReserves(liquidity, sqrtPriceX96),
  }
}
