/**
 * Every failure with a code. The class of a code decides whether to retry; message texts never do:
 * - `retry`: the same operation may succeed later
 * - `halt`: an operator has to look; continuing could publish wrong data
 * - `refuse`: the caller has to change the request
 *
 * Each code has a section in docs/errors.md; a test compares the two lists.
 */
export const ERROR_CODES = {
  config_invalid: 'halt',
  store_unavailable: 'retry',
  server_unauthorized: 'halt',
  chain_unavailable: 'retry',
  node_unavailable: 'retry',
  node_answer_invalid: 'retry',
  node_answer_too_large: 'retry',
  fork_below_final: 'halt',
  fenced: 'halt',
  log_damaged: 'halt',
  log_epoch_changed: 'halt',
  log_truncated: 'halt',
  message_unreadable: 'halt',
  message_poisoned: 'halt',
  not_quarantined: 'halt',
  broken_link: 'halt',
  diverged: 'halt',
  state_outdated: 'halt',
  unknown_key: 'halt',
  backup_invalid: 'halt',
  target_not_empty: 'halt',
  refold_refused: 'halt',
  import_refused: 'halt',
  token_list_unreadable: 'retry',
  malformed_request: 'refuse',
  malformed_id: 'refuse',
  unknown_chain: 'refuse',
  unknown_token: 'refuse',
  unknown_pair: 'refuse',
  unknown_tag: 'refuse',
  limit_exceeded: 'refuse',
  unauthorized: 'refuse',
  forbidden: 'refuse',
  origin_refused: 'refuse',
  rate_limited: 'retry',
  too_many_history_reads: 'retry',
  quota_exhausted: 'retry',
  metering_unavailable: 'retry',
  not_found: 'refuse',
  internal: 'retry',
} as const satisfies Record<string, 'retry' | 'halt' | 'refuse'>

export type ErrorCode = keyof typeof ERROR_CODES

export class ChaintapeError extends Error {
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'ChaintapeError'
    this.code = code
  }

  get retryable(): boolean {
    return ERROR_CODES[this.code] === 'retry'
  }
}

/** The store canceled the query because it ran too long. Unlike a store that is down, it has spent resources. */
export class QueryTimeout extends ChaintapeError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('store_unavailable', message, options)
    this.name = 'QueryTimeout'
  }
}
