import { type Hex, keccak256 } from 'viem'
import type { DexDeployment } from '../protocol.ts'

/** Where a deployment's factory puts the pool of this salt; only for one whose code is known. */
export function create2Address(deployment: DexDeployment, salt: string): string {
  const { factory, deployer = factory, initCodeHash = '0x' } = deployment
  return `0x${keccakOfPacked('0xff', deployer, salt, initCodeHash).slice(26)}`
}

/** Of hex values written one after the other. */
export function keccakOfPacked(...values: readonly string[]): string {
  return keccak256(`0x${values.map((value) => value.slice(2)).join('')}` as Hex)
}
