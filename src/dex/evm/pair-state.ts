import type { CreatedPool } from '../../domain/created-pool.ts'
import type { Answer, StateInquiry } from '../protocol.ts'
import { callData, uintAt } from './abi.ts'

/** getReserves() */
const GET_RESERVES = '0x0902f1ac'
/** getAmountOut(uint256 amountIn, address tokenIn) */
const GET_AMOUNT_OUT = '0xf140a35a'
/** A quoted trade is this part of the reserves, so that it hardly moves the price. */
export const QUOTED_PART = 10_000n

/** Pairs with the interface of Uniswap V2. A stable pair of Solidly is priced by what it quotes for a small trade. */
export function* readPairState({ address, tokens, pricing }: CreatedPool): StateInquiry {
  const [answer]: readonly Answer[] = yield [{ to: address, data: GET_RESERVES }]
  const reserve0 = uintAt(answer, 0)
  const reserve1 = uintAt(answer, 1)
  if (reserve0 === undefined || reserve1 === undefined) return undefined
  const reserves = [reserve0, reserve1]
  const raw0 = reserve0 / QUOTED_PART
  if (pricing.kind !== 'trades' || raw0 === 0n) return { reserves, price: undefined }
  const [quoted]: readonly Answer[] = yield [
    { to: address, data: callData(GET_AMOUNT_OUT, raw0, tokens[0] ?? '0x') },
  ]
  const raw1 = uintAt(quoted, 0)
  return { reserves, price: raw1 ? { kind: 'exchange', raw0, raw1 } : undefined }
}
