import type { Logger } from '../../lib/logger.ts'
import type { Endpoint } from './endpoint.ts'
import type { Outcome } from './endpoint-decision.ts'

export type RpcOutcome =
  | 'ok'
  | 'failed'
  | 'timeout'
  | 'rate_limited'
  | 'unsupported'
  | 'too_large'
  | 'invalid'
  | 'lagging'
  | 'unproved'

export type EndpointMetrics = {
  /**
   * `invalid` and `lagging` are detected later, and reported in addition to the `ok` of the request; so is
   * `unproved`: a block whose logs could not be checked against the receipts root.
   */
  answered(endpoint: string, outcome: RpcOutcome, seconds?: number): void
  up(endpoint: string, isUp: boolean): void
  /** Requests that the operator's budget leaves for today. */
  budgetLeft?(endpoint: string, requests: number): void
}

/** How the outcome of a request is counted; those without an entry are not. */
const COUNTED_AS: Readonly<Partial<Record<Outcome['kind'], RpcOutcome>>> = {
  answered: 'ok',
  reverted: 'ok',
  unknown_block: 'ok',
  too_many_logs: 'ok',
  refused: 'ok',
  too_large: 'too_large',
  unsupported: 'unsupported',
  rate_limited: 'rate_limited',
  failed: 'failed',
  timeout: 'timeout',
  outrun: 'timeout',
}
/** A single hiccup is a matter for the metrics. */
const LOGGED_FAILURES = 2
/** A rate limit repeats, so it is logged at most this often. */
const RATE_LIMIT_LOG_INTERVAL_MS = 60_000

/** Reports endpoints by name: every event in the metrics, each change once in the log. */
export class EndpointReports {
  readonly #logger: Logger
  readonly #metrics: EndpointMetrics
  readonly #down = new Set<Endpoint>()
  readonly #lagging = new Set<Endpoint>()
  readonly #limitedAt = new Map<Endpoint, number>()
  readonly #reportedOnce = new Set<string>()

  constructor(logger: Logger, metrics: EndpointMetrics) {
    this.#logger = logger
    this.#metrics = metrics
  }

  spent({ label, budget }: Endpoint): void {
    const { leftToday } = budget
    if (leftToday !== undefined) this.#metrics.budgetLeft?.(label, leftToday)
  }

  ended({ label }: Endpoint, kind: Outcome['kind'], elapsedMs: number): void {
    const counted = COUNTED_AS[kind]
    if (counted !== undefined) this.#metrics.answered(label, counted, elapsedMs / 1_000)
  }

  up(endpoint: Endpoint): void {
    const { label, isProven } = endpoint
    this.#metrics.up(label, isProven)
    const wasDown = this.#down.has(endpoint)
    if (isProven && wasDown) {
      this.#down.delete(endpoint)
      this.#logger.info({ endpoint: label }, 'RPC endpoint recovered')
    } else if (!isProven && !wasDown && endpoint.failures >= LOGGED_FAILURES) {
      this.#down.add(endpoint)
      this.#logger.warn({ endpoint: label, reason: endpoint.lastFailure }, 'RPC endpoint unreachable')
    }
  }

  fresh(endpoint: Endpoint): void {
    this.#lagging.delete(endpoint)
  }

  lagging(endpoint: Endpoint, head: number, bestHead: number): void {
    this.#metrics.answered(endpoint.label, 'lagging')
    if (this.#lagging.has(endpoint)) return
    this.#lagging.add(endpoint)
    const fields = { endpoint: endpoint.label, head, best_head: bestHead }
    this.#logger.warn(fields, 'RPC endpoint lagging')
  }

  missedBlock({ label }: Endpoint): void {
    this.#metrics.answered(label, 'lagging')
  }

  wrong({ label }: Endpoint, reason: string, trust: number): void {
    this.#metrics.answered(label, 'invalid')
    this.#logger.warn({ endpoint: label, reason, trust }, 'RPC endpoint returned invalid data')
  }

  limited(endpoint: Endpoint, reason: string, now: number): void {
    if (now - (this.#limitedAt.get(endpoint) ?? Number.NEGATIVE_INFINITY) < RATE_LIMIT_LOG_INTERVAL_MS) return
    this.#limitedAt.set(endpoint, now)
    const fields = { endpoint: endpoint.label, reason, per_second: endpoint.rate.perSecond }
    this.#logger.warn(fields, 'RPC endpoint rate limited')
  }

  lacksMethod({ label }: Endpoint, method: string, reason: string): void {
    if (this.#isReported(`${label} ${method}`)) return
    this.#logger.warn({ endpoint: label, method, reason }, 'RPC endpoint lacks a method')
  }

  /** A block was taken although its logs could not be checked against the receipts root. */
  unproved({ label }: Endpoint): void {
    this.#metrics.answered(label, 'unproved')
    if (this.#isReported(label)) return
    this.#logger.warn(
      { endpoint: label },
      'RPC endpoint has no eth_getBlockReceipts; logs verified by bloom filter only',
    )
  }

  #isReported(what: string): boolean {
    const isReported = this.#reportedOnce.has(what)
    this.#reportedOnce.add(what)
    return isReported
  }
}
