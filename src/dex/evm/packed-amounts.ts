import { smallUintAt, uintAt } from './abi.ts'

const WORD = 32
const LOW_128 = (1n << 128n) - 1n

/** Two amounts in one word, as pools of bins encode them: the first token's in the lower half. */
export type PackedAmounts = { readonly amount0: bigint; readonly amount1: bigint }

export function packedAmountsAt(data: Uint8Array | undefined, index: number): PackedAmounts | undefined {
  const word = uintAt(data, index)
  return word === undefined ? undefined : { amount0: word & LOW_128, amount1: word >> 128n }
}

/** The sum over the array whose offset is at `index`; it has one item per bin, up to hundreds. */
export function packedSumAt(data: Uint8Array | undefined, index: number): PackedAmounts | undefined {
  const offset = smallUintAt(data, index)
  if (offset === undefined || offset % WORD !== 0) return undefined
  const length = smallUintAt(data, offset / WORD)
  if (length === undefined) return undefined
  let amount0 = 0n
  let amount1 = 0n
  for (let at = 1; at <= length; at++) {
    const item = packedAmountsAt(data, offset / WORD + at)
    // Also stops at the end of the data if the length claims more items.
    if (item === undefined) return undefined
    amount0 += item.amount0
    amount1 += item.amount1
  }
  return { amount0, amount1 }
}
