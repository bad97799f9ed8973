import { FIRST_BLOCK } from '../../open-histories.ts'
import { RpcFailure } from '../../rpc/rpc-failure.ts'
import type { EvmNode } from '../rpc/rpc.ts'

/** The first block at which the contract exists; the very first block if the node cannot answer. */
export async function firstBlockOf(node: EvmNode, address: string, upTo: number): Promise<number> {
  let [low, high] = [FIRST_BLOCK, upTo]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const had = await hadCode(node, address, middle)
    if (had === undefined) return FIRST_BLOCK
    if (had) high = middle
    else low = middle + 1
  }
  return low
}

/** Undefined if the node does not have the state of that block. */
export async function hadCode(node: EvmNode, address: string, block: number): Promise<boolean | undefined> {
  if (block < FIRST_BLOCK) return false
  try {
    return await node.hadCode(address, block)
  } catch (error) {
    if (!(error instanceof RpcFailure) || error.kind === 'rate_limited' || error.kind === 'timeout')
      throw error
    return undefined
  }
}
