import type { Answer, ReadState, StateInquiry } from '../../protocol.ts'
import { callData, uintAt } from '../abi.ts'
import { sqrtPriceAt } from '../event-parts.ts'

/** balanceOf(address) */
const BALANCE_OF = '0x70a08231'
/** slot0(): the price and the tick come first. */
export const SLOT0 = '0x3850c7bd'
/** globalState() of Algebra: the same order. */
export const GLOBAL_STATE = '0xe76c01e4'

/** The price, and the balances of both tokens as reserves, as where a pool is met in a trade. */
export function readConcentratedState(selector: string): ReadState {
  return function* readState({ address, tokens }): StateInquiry {
    const data = callData(BALANCE_OF, address)
    const [slot, ...balances]: readonly Answer[] = yield [
      { to: address, data: selector },
      ...tokens.map((to) => ({ to, data })),
    ]
    const price = slot === undefined ? undefined : sqrtPriceAt(slot, 0, 1)
    // A pool without a price is not initialized, so it cannot trade.
    if (price === undefined) return undefined
    const [reserve0, reserve1] = [uintAt(balances[0], 0), uintAt(balances[1], 0)]
    const isKnown = reserve0 !== undefined && reserve1 !== undefined
    return { price, reserves: isKnown ? [reserve0, reserve1] : undefined }
  }
}
