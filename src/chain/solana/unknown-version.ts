import { MAX_TRANSACTION_VERSION } from './rpc.ts'
import type { RpcBlock } from './rpc-answer.ts'

const VERSION_BIT = 0x80
const INVOKE = /^Program (\w+) invoke \[\d+\]$/
const TRUNCATED = 'Log truncated'

/** By the node's word, or by the first byte: beyond 127 there are versions, because no transaction has so many signatures. */
export function isOfUnknownVersion({ version, transaction }: RpcBlock): boolean {
  if (typeof version === 'number' && version > MAX_TRANSACTION_VERSION) return true
  const [encoded]: unknown[] = Array.isArray(transaction) ? transaction : []
  const first = typeof encoded === 'string' ? Buffer.from(encoded.slice(0, 4), 'base64')[0] : undefined
  return first !== undefined && first > VERSION_BIT + MAX_TRANSACTION_VERSION
}

/**
 * Did a transaction run none of these programs? Its log shows every program that ran, in a form that does not depend on
 * the version. False without a log, or if the log was truncated.
 */
export function ranNoneOf(programs: ReadonlySet<string>, { logMessages }: RpcBlock): boolean {
  if (!Array.isArray(logMessages)) return false
  let ran = 0
  for (const message of logMessages) {
    if (typeof message !== 'string' || message === TRUNCATED) return false
    const program = INVOKE.exec(message)?.[1]
    if (program === undefined) continue
    if (programs.has(program)) return false
    ran++
  }
  return ran > 0
}
