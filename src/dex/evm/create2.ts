import { type Hex, keccak256 } from 'viem'
import type { DexDeployment } from '../protocol.ts'

/** The CREATE2 address of the pool with this salt. Requires `initCodeHash`. */
export function create2Address(deployment: DexDeployment, salt: string): string {
  const { factory, deployer = factory, initCodeHash = '0x' } = deployment
  return `0x${keccakOfPacked('0xff', deployer, salt, initCodeHash).slice(26)}`
}

/** Keccak-256 of concatenated hex values. */
export function keccakOfPacked(...values: readonly string[]): string {
  return keccak256(`0x${values.map((value) => value.slice(2)).join('')}` as Hex)
}
