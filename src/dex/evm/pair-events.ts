import type { RawLog } from '../../domain/envelope.ts'
import type { LiquidityAdded, LiquidityRemoved, ReservesSet, Swapped } from '../events.ts'
import { topicAddress, uintAt } from './abi.ts'
import { bothAmountsAt } from './event-parts.ts'

/** Common to Uniswap V2 and Solidly: their topics differ, their data layouts do not. */

/** Reserves after the event that follows it. */
export function readSync(log: RawLog): ReservesSet | undefined {
  const reserve0 = uintAt(log.data, 0)
  const reserve1 = uintAt(log.data, 1)
  if (reserve0 === undefined || reserve1 === undefined) return undefined
  return { type: 'reservesSet', pool: log.address, reserve0, reserve1 }
}

/** Indexed sender and recipient; amount0In, amount1In, amount0Out, amount1Out. */
export function readSwap(log: RawLog): Swapped | undefined {
  const sender = topicAddress(log.topics[1])
  const recipient = topicAddress(log.topics[2])
  const in0 = uintAt(log.data, 0)
  const in1 = uintAt(log.data, 1)
  const out0 = uintAt(log.data, 2)
  const out1 = uintAt(log.data, 3)
  if (sender === undefined || recipient === undefined) return undefined
  if (in0 === undefined || in1 === undefined || out0 === undefined || out1 === undefined) return undefined
  return {
    type: 'swapped',
    pool: log.address,
    sender,
    recipient,
    token0: 0,
    token1: 1,
    // Flash swaps and fee-on-transfer tokens pay in on both sides, so only the net amount counts.
    delta0: in0 - out0,
    delta1: in1 - out1,
    price: undefined,
  }
}

/** Indexed sender; both amounts. */
export function readMint(log: RawLog): LiquidityAdded | undefined {
  const provider = topicAddress(log.topics[1])
  const amounts = bothAmountsAt(log.data, 0)
  if (provider === undefined || amounts === undefined) return undefined
  return { type: 'liquidityAdded', pool: log.address, provider, amounts }
}

/** Indexed sender and recipient; both amounts. */
export function readBurn(log: RawLog): LiquidityRemoved | undefined {
  const provider = topicAddress(log.topics[1])
  const amounts = bothAmountsAt(log.data, 0)
  if (provider === undefined || topicAddress(log.topics[2]) === undefined || amounts === undefined) {
    return undefined
  }
  return { type: 'liquidityRemoved', pool: log.address, provider, amounts, isPaidOut: true }
}
