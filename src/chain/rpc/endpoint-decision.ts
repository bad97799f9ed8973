import type { RpcFailureKind } from './rpc-failure.ts'

/**
 * How a call to an endpoint ended. Besides the failures of a request:
 * - `answered`: with a result
 * - `invalid`: with a result that the caller proved wrong
 * - `outrun`: canceled because it was slow and another endpoint answered first
 * - `canceled`: no longer needed, for reasons that have nothing to do with the endpoint
 * - `unexpected`: with an error of the caller, which no other endpoint can repair
 */
export type Outcome = {
  readonly kind: RpcFailureKind | 'answered' | 'invalid' | 'outrun' | 'canceled' | 'unexpected'
  /** The endpoint lacked a block that it was asked for. */
  readonly hasMissedBlock?: boolean
  /** No time is left to wait for a rate limited endpoint. */
  readonly isLate?: boolean
}

/**
 * What the outcome does to the endpoint:
 * - `keep`: nothing
 * - `credit`: a prompt answer, which makes up for a part of a failure
 * - `back_off`: paused, for longer with each failure in a row
 * - `limit_rate`: fewer requests per second from now on
 * - `drop_method`: not asked for this method again
 * - `count_slow`: paused if this happens repeatedly
 * - `blame`: paused and trusted less
 */
type EndpointAction = 'keep' | 'credit' | 'back_off' | 'limit_rate' | 'drop_method' | 'count_slow' | 'blame'

/**
 * What it does to the question:
 * - `accept`: the result is the answer
 * - `hold`: the answer only if no other endpoint has the block
 * - `retry_elsewhere`: asked of another endpoint
 * - `wait`: asked of any endpoint, this one included once its rate allows it
 * - `shrink`: a smaller question may succeed; one that cannot be smaller is asked of another endpoint
 * - `fail`: the error goes to the caller
 */
type QuestionAction = 'accept' | 'hold' | 'retry_elsewhere' | 'wait' | 'shrink' | 'fail'

export type Decision = { readonly endpoint: EndpointAction; readonly question: QuestionAction }

const DECISIONS: Readonly<Record<Outcome['kind'], Decision>> = {
  answered: { endpoint: 'credit', question: 'accept' },
  // The node works in these five cases; it answers that there is no result.
  reverted: { endpoint: 'credit', question: 'retry_elsewhere' },
  refused: { endpoint: 'credit', question: 'retry_elsewhere' },
  unknown_block: { endpoint: 'credit', question: 'retry_elsewhere' },
  pruned: { endpoint: 'credit', question: 'retry_elsewhere' },
  too_many_logs: { endpoint: 'credit', question: 'shrink' },
  // The request says nothing about the node's speed, because the answer was cut off.
  too_large: { endpoint: 'keep', question: 'shrink' },
  unsupported: { endpoint: 'drop_method', question: 'retry_elsewhere' },
  rate_limited: { endpoint: 'limit_rate', question: 'wait' },
  failed: { endpoint: 'back_off', question: 'retry_elsewhere' },
  timeout: { endpoint: 'back_off', question: 'retry_elsewhere' },
  invalid: { endpoint: 'blame', question: 'retry_elsewhere' },
  outrun: { endpoint: 'count_slow', question: 'fail' },
  canceled: { endpoint: 'keep', question: 'fail' },
  unexpected: { endpoint: 'keep', question: 'fail' },
}

/** The pool's policy: how it reacts to each outcome, without state and without I/O. */
export function decide({ kind, hasMissedBlock = false, isLate = false }: Outcome): Decision {
  const { endpoint, question } = DECISIONS[kind]
  if (question === 'fail') return { endpoint, question }
  // A node that lacks a block cannot answer the rest consistently: that proves lag, not a lie.
  if (hasMissedBlock) return { endpoint: endpoint === 'blame' ? 'keep' : endpoint, question: 'hold' }
  return { endpoint, question: question === 'wait' && isLate ? 'retry_elsewhere' : question }
}
