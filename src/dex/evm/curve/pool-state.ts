import type { CreatedPool } from '../../../domain/created-pool.ts'
import type { Answer, StateInquiry } from '../../protocol.ts'
import { callData, uintAt } from '../abi.ts'
import { QUOTED_PART } from '../pair-state.ts'

/** balances(uint256) */
const BALANCES = '0x4903b0d1'
/** get_dy(int128 i, int128 j, uint256 dx), and with unsigned indexes in crypto pools */
const GET_DY = '0x5e0d443f'
const GET_DY_CRYPTO = '0x556d6e9f'

/** The pool's own balances, without the administrator's share of the fees, and what it quotes for a small trade. */
export function* readCurveState({ address, tokens }: CreatedPool): StateInquiry {
  if (tokens.length !== 2) return undefined
  const balances: readonly Answer[] = yield [0, 1].map((coin) => ({
    to: address,
    data: callData(BALANCES, coin),
  }))
  const [reserve0, reserve1] = [uintAt(balances[0], 0), uintAt(balances[1], 0)]
  if (reserve0 === undefined || reserve1 === undefined) return undefined
  const reserves = [reserve0, reserve1]
  const raw0 = reserve0 / QUOTED_PART
  if (raw0 === 0n) return { reserves, price: undefined }
  const quotes: readonly Answer[] = yield [GET_DY, GET_DY_CRYPTO].map((selector) => ({
    to: address,
    data: callData(selector, 0, 1, raw0),
  }))
  const raw1 = uintAt(quotes[0], 0) ?? uintAt(quotes[1], 0)
  return { reserves, price: raw1 ? { kind: 'exchange', raw0, raw1 } : undefined }
}
