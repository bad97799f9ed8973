import type { Logger } from '../../lib/logger.ts'
import type { Endpoint } from './endpoint.ts'
import { decide, type Outcome } from './endpoint-decision.ts'
import { type EndpointMetrics, EndpointReports } from './endpoint-reports.ts'
import type { JsonRpcClient } from './json-rpc-client.ts'
import type { SpentBudget } from './request-budget.ts'
import { RpcFailure } from './rpc-failure.ts'

export type Member = {
  readonly endpoint: Endpoint
  readonly client: Pick<JsonRpcClient, 'label' | 'request'>
}

/** The methods by which an endpoint reports its chain and its head. */
export type Probe = {
  readonly chainMethod: string
  readonly headMethod: string
  readonly headParams: readonly unknown[]
  readonly chainOf: (answer: unknown) => number | string
}

export type AskerParts = {
  readonly members: readonly Member[]
  readonly chainId: number | string
  readonly probe: Probe
  readonly logger: Logger
  readonly metrics: EndpointMetrics
  readonly signal: AbortSignal
  readonly now: () => number
  /** Called for each request. */
  readonly onSpent?: (endpoint: string, spent: SpentBudget) => void
}

type AskOptions = {
  readonly signal: AbortSignal
  /** How long to wait for a turn. */
  readonly untilMs: number
  /** Leaves a part of the operator's budget to others. */
  readonly isBackground: boolean
  readonly onSlow: () => void
}

/** An `RpcFailure`, or an outcome that has no error of its own. */
type RequestOutcome = Pick<Outcome, 'kind'> & Partial<Pick<RpcFailure, 'message' | 'retryAfterMs'>>

type EndedCall = {
  readonly endpoint: Endpoint
  readonly method: string
  readonly elapsedMs: number
  /** The average of this method over all endpoints, before this call. */
  readonly usualMs: number | undefined
}

const SLOW_FACTOR = 3
/** Below this a second question costs more than it saves. */
const MIN_SLOW_MS = 50
const UNKNOWN_SLOW_MS = 1_000
const USUAL_WEIGHT = 0.1
const LOOK_TURN_MS = 1_000
/** Timers do not take any number. */
const MAX_CHANGE_MS = 60_000

/** Asks one endpoint, takes its turn and its limits into account, and remembers how that went. */
export class EndpointAsker {
  readonly parts: AskerParts
  readonly #open = new Set<AbortController>()
  readonly #looks = new Map<Member, Promise<void>>()
  readonly #usualMs = new Map<string, number>()
  readonly #reports: EndpointReports
  #changed = Promise.withResolvers<void>()

  constructor(parts: AskerParts) {
    this.parts = parts
    this.#reports = new EndpointReports(parts.logger, parts.metrics)
    for (const { endpoint } of parts.members) this.#reports.up(endpoint)
    // One listener for all requests: each its own would pile up on a signal that lives as long as the process.
    parts.signal.addEventListener('abort', () => {
      for (const controller of this.#open) controller.abort(parts.signal.reason)
      this.#wake()
    })
  }

  async ask(
    member: Member,
    method: string,
    params: readonly unknown[],
    options: AskOptions,
  ): Promise<unknown> {
    const { endpoint } = member
    const { now, signal } = this.parts
    if (endpoint.lacks(method)) throw new RpcFailure('unsupported', `${method}: the node does not have it`)
    for (;;) {
      signal.throwIfAborted()
      options.signal.throwIfAborted()
      const waitMs = endpoint.waitMs(now(), options.isBackground)
      if (waitMs === 0 && !endpoint.isFull) break
      const leftMs = options.untilMs - now()
      if (waitMs > leftMs || leftMs <= 0) {
        throw new RpcFailure('rate_limited', `${method}: no turn in time`)
      }
      if (waitMs >= MIN_SLOW_MS) options.onSlow()
      await this.change(waitMs === 0 ? leftMs : waitMs)
    }
    return this.#send(member, method, params, options)
  }

  /** Resolves when an endpoint became free or changed, at the latest after this time. */
  async change(atMostMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, Math.min(MAX_CHANGE_MS, Math.max(1, atMostMs)))
    await Promise.race([promise, this.#changed.promise])
    clearTimeout(timer)
  }

  isLooking(member: Member): boolean {
    return this.#looks.has(member)
  }

  /** Asks for the head, and for the chain as well where the endpoint still has to prove itself. Never rejects. */
  look(member: Member): Promise<void> {
    const known = this.#looks.get(member)
    if (known !== undefined) return known
    const look = this.#look(member)
      .catch(() => undefined)
      .finally(() => this.#looks.delete(member))
    this.#looks.set(member, look)
    return look
  }

  bestHeadBut(endpoint: Endpoint): number {
    const others = this.parts.members.filter((member) => member.endpoint !== endpoint)
    return Math.max(-1, ...others.map((member) => member.endpoint.head ?? -1))
  }

  sawHead(endpoint: Endpoint, head: number, bestElsewhere: number): void {
    const now = this.parts.now()
    endpoint.sawHead(now, head, bestElsewhere)
    if (endpoint.isLagging(now)) this.#reports.lagging(endpoint, head, bestElsewhere)
    else this.#reports.fresh(endpoint)
  }

  missedBlock(endpoint: Endpoint): void {
    endpoint.missedBlock(this.parts.now())
    this.#reports.missedBlock(endpoint)
  }

  unproved(endpoint: Endpoint): void {
    this.#reports.unproved(endpoint)
  }

  blame(endpoint: Endpoint, reason: string): void {
    const now = this.parts.now()
    endpoint.blamed(now, reason)
    this.#reports.wrong(endpoint, reason, endpoint.trust(now))
    this.#reports.up(endpoint)
  }

  /** How long any answer takes, over all methods and endpoints. */
  usualMs(): number {
    const all = [...this.#usualMs.values()]
    return all.length === 0 ? 1 : all.reduce((sum, ms) => sum + ms, 0) / all.length
  }

  async #look(member: Member): Promise<void> {
    const { endpoint } = member
    const { chainId, probe, signal, now } = this.parts
    const options = { signal, untilMs: now() + LOOK_TURN_MS, isBackground: false, onSlow: () => undefined }
    const bestElsewhere = this.bestHeadBut(endpoint)
    const isProven = endpoint.isProven
    if (!isProven) endpoint.probed(now())
    const [served, head] = await Promise.all([
      isProven ? endpoint.chainId : this.ask(member, probe.chainMethod, [], options).then(probe.chainOf),
      this.ask(member, probe.headMethod, probe.headParams, options).then(Number),
    ])
    endpoint.chainId = served
    if (served !== chainId) return this.blame(endpoint, `serves chain ${served}, not ${chainId}`)
    if (!Number.isSafeInteger(head)) return this.blame(endpoint, `${probe.headMethod}: not a number`)
    endpoint.proved()
    this.sawHead(endpoint, head, bestElsewhere)
    this.#reports.up(endpoint)
  }

  async #send(
    member: Member,
    method: string,
    params: readonly unknown[],
    options: AskOptions,
  ): Promise<unknown> {
    const { endpoint, client } = member
    const { now } = this.parts
    const startedAt = now()
    const usualMs = this.#usualMs.get(method)
    const latencyMs = endpoint.latencyMs(method) ?? usualMs
    const slowAfterMs =
      latencyMs === undefined ? UNKNOWN_SLOW_MS : Math.max(MIN_SLOW_MS, SLOW_FACTOR * latencyMs)
    let isSlow = false
    const slow = setTimeout(() => {
      isSlow = true
      options.onSlow()
    }, slowAfterMs)
    const controller = new AbortController()
    const onAbort = (): void => controller.abort(options.signal.reason)
    options.signal.addEventListener('abort', onAbort)
    this.#open.add(controller)
    endpoint.started(startedAt)
    this.parts.onSpent?.(endpoint.label, endpoint.budget.spent)
    this.#reports.spent(endpoint)
    try {
      const answer = await client.request(method, params, controller.signal)
      this.#apply({ kind: 'answered' }, { endpoint, method, elapsedMs: now() - startedAt, usualMs })
      return answer
    } catch (error) {
      const call = { endpoint, method, elapsedMs: now() - startedAt, usualMs }
      // Only the slow endpoint is at fault, not a second one that became unnecessary.
      if (controller.signal.aborted)
        this.#apply({ kind: isSlow && !this.parts.signal.aborted ? 'outrun' : 'canceled' }, call)
      else if (error instanceof RpcFailure) this.#apply(error, call)
      throw error
    } finally {
      clearTimeout(slow)
      options.signal.removeEventListener('abort', onAbort)
      this.#open.delete(controller)
      endpoint.ended()
      this.#reports.up(endpoint)
      this.#wake()
    }
  }

  /** Applies what the outcome of a request means for its endpoint, and counts it in the metrics. */
  #apply(outcome: RequestOutcome, { endpoint, method, elapsedMs, usualMs = elapsedMs }: EndedCall): void {
    const now = this.parts.now()
    const { kind, message = '', retryAfterMs } = outcome
    switch (decide({ kind }).endpoint) {
      case 'credit':
        this.#usualMs.set(method, usualMs + USUAL_WEIGHT * (elapsedMs - usualMs))
        endpoint.answered(method, elapsedMs, usualMs)
        break
      case 'count_slow':
        endpoint.outrun(now, method, elapsedMs, usualMs)
        break
      case 'back_off':
        endpoint.failed(now, message)
        break
      case 'limit_rate':
        endpoint.rate.refused(now, retryAfterMs)
        this.#reports.limited(endpoint, message, now)
        break
      case 'drop_method':
        endpoint.missesMethod(method)
        this.#reports.lacksMethod(endpoint, method, message)
        break
      case 'blame':
        this.blame(endpoint, message)
        break
      case 'keep':
        break
    }
    this.#reports.ended(endpoint, kind, elapsedMs)
  }

  #wake(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }
}
