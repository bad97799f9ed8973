import type { Answer, Call } from '../protocol.ts'
import { callData, listAt, uintAt } from './abi.ts'
import { keccakOfPacked } from './create2.ts'

/** extsload(bytes32[]) of Uniswap V4 and PancakeSwap Infinity */
const EXTSLOAD = '0xdbd035ff'
/** Slots per call: their answer fits into the default of `calls.answer_bytes`. */
const SLOTS_PER_CALL = 28

/** The contents of a contract's storage slots; undefined where it does not answer. */
export function* loadSlots(
  contract: string,
  slots: readonly bigint[],
): Generator<readonly Call[], (bigint | undefined)[], readonly Answer[]> {
  const chunks: bigint[][] = []
  for (let at = 0; at < slots.length; at += SLOTS_PER_CALL) chunks.push(slots.slice(at, at + SLOTS_PER_CALL))
  if (chunks.length === 0) return []
  const answers: readonly Answer[] = yield chunks.map((chunk) => ({
    to: contract,
    data: callData(EXTSLOAD, 32, chunk.length, ...chunk),
  }))
  return chunks.flatMap((chunk, at) => {
    const loaded = listAt(answers[at], 0, uintAt)
    return chunk.map((_, index) => (loaded?.length === chunk.length ? loaded[index] : undefined))
  })
}

/** The slot of a pool in a mapping by its id. */
export function slotOfPool(id: string, mapping: bigint): bigint {
  return BigInt(keccakOfPacked(id, callData('0x', mapping)))
}

/** The slot of a number in a mapping. */
export function slotOfEntry(key: number, mapping: bigint): bigint {
  return BigInt(keccakOfPacked(callData('0x', key, BigInt.asUintN(256, mapping))))
}

/** The positions of the bits that are set, lowest first. */
export function bitsOf(word: bigint): number[] {
  const bits: number[] = []
  for (let rest = word, bit = 0; rest !== 0n; rest >>= 1n, bit++) if (rest & 1n) bits.push(bit)
  return bits
}
