import type { RawLog } from '../../../domain/envelope.ts'
import type { Answer, Call, DexDeployment, PoolKey } from '../../protocol.ts'
import { callData, topicId, wordAt } from '../abi.ts'
import { decodePoolKey, isIdOf } from '../singleton-events.ts'

/**
 * Initialize(bytes32 indexed id, address indexed currency0, address indexed currency1, uint24 fee,
 * int24 tickSpacing, address hooks, uint160 sqrtPriceX96, int24 tick)
 */
export const INITIALIZE = '0xdd466e674ea557f56295e2d0218a125ea4b4f0f6f3307b95f85e6110838d6438'

/** The storage slot of the manager's pools by id. */
export const POOLS = 6n
/** poolKeys(bytes25) of the position manager */
const POOL_KEYS = '0x86b6be7d'
/** currency0, currency1, fee, tickSpacing, hooks */
const KEY_WORDS = 5

/** The key of the pool that this log announces. The id is the hash of its key, so a log of any contract is proof enough. */
export function announcedKey({ topics, data }: RawLog): { pool: string; key: PoolKey } | undefined {
  const [topic, id, currency0, currency1] = topics
  const pool = topic === INITIALIZE ? topicId(id) : undefined
  const key = [currency0, currency1, wordAt(data, 0), wordAt(data, 1), wordAt(data, 2)]
  return pool !== undefined && isIdOf(pool, key) ? { pool, key: key as string[] } : undefined
}

/** The pool manager stores only the hash of a key; the position manager stores the keys of pools that it has served. */
export function* askKey(
  pool: string,
  { positionManager }: DexDeployment,
): Generator<readonly Call[], PoolKey | undefined, readonly Answer[]> {
  if (positionManager === undefined) return undefined
  // Keys are stored by the first 25 bytes of the id.
  const id25 = pool.slice(0, 52).padEnd(66, '0')
  const [answer]: readonly Answer[] = yield [{ to: positionManager, data: callData(POOL_KEYS, id25) }]
  const key = decodePoolKey(answer, KEY_WORDS)
  return key !== undefined && isIdOf(pool, key) ? key : undefined
}
