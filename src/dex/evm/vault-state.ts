import type { PoolState } from '../../domain/envelope.ts'
import type { Answer } from '../protocol.ts'
import { listAt, uintAt } from './abi.ts'

/** getNormalizedWeights() of weighted pools of Balancer */
export const GET_NORMALIZED_WEIGHTS = '0xf89f27ed'

/**
 * Balances in a vault of Balancer. A weighted pool is priced by its balances and weights; the price of other pools is
 * not known before a trade.
 */
export function vaultState(balances: readonly bigint[] | undefined, weights: Answer): PoolState | undefined {
  if (balances?.length !== 2) return undefined
  const [balance0 = 0n, balance1 = 0n] = balances
  const [weight0 = 0n, weight1 = 0n] = listAt(weights, 0, uintAt) ?? []
  const [raw0, raw1] = [balance0 * weight1, balance1 * weight0]
  const isPriced = raw0 > 0n && raw1 > 0n
  return { reserves: balances, price: isPriced ? { kind: 'exchange', raw0, raw1 } : undefined }
}
