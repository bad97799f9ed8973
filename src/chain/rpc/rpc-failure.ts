/**
 * Why a node gave no usable answer:
 * - `failed`: no connection, a broken or refused answer
 * - `timeout`: nothing within the time allowed
 * - `rate_limited`: asked too much of it
 * - `unknown_block`: it does not have the block asked about, or its state, which another node may have
 * - `pruned`: it no longer has logs that are so old, which another node may have
 * - `unsupported`: it does not have the method; it need not be asked again
 * - `too_large`: the answer is longer than we read, or than the node sends
 * - `too_many_logs`: the node refuses to look for so many logs, or in so many blocks; it answers a smaller range
 * - `reverted`: the called contract failed; this is its answer
 * - `refused`: the node works, but does not take the request as it is
 */
export type RpcFailureKind =
  | 'failed'
  | 'timeout'
  | 'rate_limited'
  | 'unknown_block'
  | 'pruned'
  | 'unsupported'
  | 'too_large'
  | 'too_many_logs'
  | 'reverted'
  | 'refused'

/** The message is free of addresses and keys: it goes to logs as it is. */
export class RpcFailure extends Error {
  readonly kind: RpcFailureKind
  /** How long the node wants to be left alone. */
  readonly retryAfterMs: number | undefined

  constructor(kind: RpcFailureKind, message: string, retryAfterMs?: number) {
    super(message)
    this.name = 'RpcFailure'
    this.kind = kind
    this.retryAfterMs = retryAfterMs
  }
}
