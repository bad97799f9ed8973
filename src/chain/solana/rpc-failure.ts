import { RpcFailure, type RpcFailureKind } from '../rpc/rpc-failure.ts'

/** Codes of Solana nodes; several mean something else on EVM nodes. */
const KINDS: ReadonlyMap<number, RpcFailureKind> = new Map([
  // The block is gone, not there yet, skipped, or skipped and no longer stored.
  [-32_001, 'unknown_block'],
  [-32_004, 'unknown_block'],
  [-32_007, 'unknown_block'],
  [-32_009, 'unknown_block'],
  [-32_014, 'unknown_block'],
  // The node is behind its peers, or has not come to the context slot yet.
  [-32_005, 'failed'],
  [-32_016, 'failed'],
  // A transaction of a later version than asked for, or a parameter that the node does not take.
  [-32_015, 'refused'],
  [-32_602, 'refused'],
  // A mint that the node's index of token accounts leaves out.
  [-32_010, 'refused'],
  [-32_601, 'unsupported'],
  [-32_011, 'unsupported'],
  [429, 'rate_limited'],
  [-32_429, 'rate_limited'],
])
const RATE_LIMITED = /rate.?limit|too many requests/i

export function toSolanaFailure(method: string, code: number, text: string): RpcFailure {
  const message = `${method}: error ${code}: ${text}`
  const kind = KINDS.get(code) ?? (RATE_LIMITED.test(text) ? 'rate_limited' : 'failed')
  return new RpcFailure(kind, message)
}

export function isUnknownBlock(error: unknown): boolean {
  return error instanceof RpcFailure && error.kind === 'unknown_block'
}

export function isRefused(error: unknown): error is RpcFailure {
  return error instanceof RpcFailure && error.kind === 'refused'
}

/** Not the node's fault: another version of a program is needed to read this block. */
export function unsupportedVersion(slot: number, detail: string): RpcFailure {
  const message = `slot ${slot} has a transaction of a version that cannot be read; upgrade Chaintape and the node`
  return new RpcFailure('refused', `${message} (${detail})`)
}
