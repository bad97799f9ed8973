import { type Hex, keccak256 } from 'viem'

/** Data of a log or an answer: numbers, and hex of up to 32 bytes, one word each. */
export function words(...values: readonly (string | bigint)[]): Hex {
  return `0x${values.map(word).join('')}`
}

export function hashOf(...values: readonly (string | bigint)[]): Hex {
  return keccak256(words(...values))
}

/** Two amounts in one word. */
export function packed(amount0: bigint, amount1: bigint): bigint {
  return (amount1 << 128n) | amount0
}

function word(value: string | bigint): string {
  const hex = typeof value === 'bigint' ? BigInt.asUintN(256, value).toString(16) : value.slice(2)
  return hex.padStart(64, '0')
}
