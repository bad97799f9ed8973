import type { RawLog } from '../../../domain/envelope.ts'
import type { DexEvent } from '../../events.ts'
import { addressAt, topicAddress, uintAt } from '../abi.ts'

/** PairCreated(address indexed token0, address indexed token1, address pair, uint256) */
export const PAIR_CREATED = '0x0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9'
/** Sync(uint112 reserve0, uint112 reserve1): reserves after, emitted before the Swap it belongs to. */
export const SYNC = '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1'
/** Swap(address indexed sender, uint256 amount0In, amount1In, amount0Out, amount1Out, address indexed to) */
export const SWAP = '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822'

/** Undefined for anything that is not exactly one of these events: logs are untrusted input. */
export function decodeUniswapV2(log: RawLog): DexEvent | undefined {
  switch (log.topics[0]) {
    case PAIR_CREATED: {
      const token0 = topicAddress(log.topics[1])
      const token1 = topicAddress(log.topics[2])
      const pool = addressAt(log.data, 0)
      if (token0 === undefined || token1 === undefined || pool === undefined) return undefined
      return { type: 'poolCreated', pool, token0, token1 }
    }
    case SYNC: {
      const reserve0 = uintAt(log.data, 0)
      const reserve1 = uintAt(log.data, 1)
      if (reserve0 === undefined || reserve1 === undefined) return undefined
      return { type: 'reservesSet', reserve0, reserve1 }
    }
    case SWAP: {
      const sender = topicAddress(log.topics[1])
      const recipient = topicAddress(log.topics[2])
      const in0 = uintAt(log.data, 0)
      const in1 = uintAt(log.data, 1)
      const out0 = uintAt(log.data, 2)
      const out1 = uintAt(log.data, 3)
      if (sender === undefined || recipient === undefined) return undefined
      if (in0 === undefined || in1 === undefined || out0 === undefined || out1 === undefined) return undefined
      // Flash swaps and fee-on-transfer tokens pay in on both sides: only the net counts.
      return { type: 'swapped', sender, recipient, delta0: in0 - out0, delta1: in1 - out1 }
    }
    default:
      return undefined
  }
}
