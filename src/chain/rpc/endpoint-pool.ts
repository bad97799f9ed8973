import { ChaintapeError } from '../../domain/errors.ts'
import type { Logger } from '../../lib/logger.ts'
import { Endpoint, type EndpointLimits } from './endpoint.ts'
import { EndpointAsker, type Member, type Probe } from './endpoint-asker.ts'
import { EndpointChoice } from './endpoint-choice.ts'
import { decide, type Outcome } from './endpoint-decision.ts'
import type { EndpointMetrics } from './endpoint-reports.ts'
import type { JsonRpcClient } from './json-rpc-client.ts'
import { type BudgetLimits, RequestBudget, type SpentBudget } from './request-budget.ts'
import { RpcFailure } from './rpc-failure.ts'

export type PoolSettings = EndpointLimits & {
  /** How long a question may wait for a turn at a busy or limited endpoint. */
  readonly patienceMs: number
  /** How often an endpoint that is not in use is looked at, while questions come in. */
  readonly lookEveryMs: number
}

export type EndpointPoolParts = {
  readonly clients: readonly Pick<JsonRpcClient, 'label' | 'request'>[]
  /** As `probe` returns it. */
  readonly chainId: number | string
  readonly probe: Probe
  readonly logger: Logger
  readonly metrics: EndpointMetrics
  readonly signal: AbortSignal
  readonly settings?: Partial<PoolSettings>
  /** What the operator allows each endpoint; without it there is no limit. */
  readonly budget?: RpcBudget
  readonly now?: () => number
}

/** The budget of all endpoints, and what an earlier process has spent of it. */
export type RpcBudget = {
  readonly limits: BudgetLimits
  readonly spentBefore: (endpoint: string) => SpentBudget | undefined
  readonly onSpent: (endpoint: string, spent: SpentBudget) => void
}

export type RunOptions = {
  /** Asks only the endpoint of this name. */
  readonly only?: string | undefined
  /** Waits as long as it takes for a turn, and leaves a part of the budget to others. */
  readonly isBackground?: boolean
}

/** All questions of one session go to the same endpoint, so that its answers can be held against each other. */
export type EndpointSession = {
  readonly label: string
  request(method: string, params: readonly unknown[]): Promise<unknown>
  /** It has no such block. Another one may. */
  missedBlock(): void
  sawHead(head: number): void
  /** Its response is accepted without the proof of receipts. */
  unproved(): void
}

type Turn = { readonly untilMs: number; readonly isBackground: boolean }

type Attempt<T> = {
  readonly member: Member
  readonly controller: AbortController
  readonly done: Promise<Ended<T>>
  /** Resolves when an answer takes far longer than usual. */
  slow: Promise<'slow'>
  hasMissed: boolean
}
type Ended<T> = { readonly attempt: Attempt<T>; readonly value?: T; readonly error?: unknown }

const DEFAULTS: PoolSettings = {
  maxInFlight: 32,
  lagBlocks: 3,
  lagAfterMs: 10_000,
  lastResortMs: 2_000,
  patienceMs: 10_000,
  lookEveryMs: 5_000,
}
/** Asking twice is for the rare slow answer; when all are slow it would only make things worse. */
const HEDGES_PER_SESSION = 0.1
const MAX_HEDGES_SAVED = 10

/** Sends each question to the endpoint that should answer best, and to others until one gives a good answer. */
export class EndpointPool {
  readonly #asker: EndpointAsker
  readonly #members: readonly Member[]
  readonly #settings: PoolSettings
  readonly #signal: AbortSignal
  readonly #now: () => number
  readonly #choice: EndpointChoice
  #hedges = MAX_HEDGES_SAVED

  constructor(parts: EndpointPoolParts) {
    this.#settings = { ...DEFAULTS, ...parts.settings }
    this.#signal = parts.signal
    this.#now = parts.now ?? (() => performance.now())
    this.#members = parts.clients.map((client) => ({
      client,
      endpoint: new Endpoint(client.label, this.#settings, budgetOf(client.label, parts.budget)),
    }))
    const { chainId, probe, logger, metrics, signal, budget } = parts
    this.#asker = new EndpointAsker({
      members: this.#members,
      chainId,
      probe,
      logger,
      metrics,
      signal,
      now: this.#now,
      ...(budget !== undefined && { onSpent: budget.onSpent }),
    })
    this.#choice = new EndpointChoice(this.#asker, this.#settings.lookEveryMs)
  }

  /** The chain that the endpoints serve: the expected one if any of them does. */
  async chainId(): Promise<number | string> {
    const { members, chainId } = this.#asker.parts
    await this.#choice.firstUp(members)
    this.#signal.throwIfAborted()
    const served = members.flatMap(({ endpoint }) => endpoint.chainId ?? [])
    const found = served.includes(chainId) ? chainId : served[0]
    if (found === undefined) throw this.#unavailable(new Map())
    return found
  }

  /**
   * Runs `ask` against one endpoint after the other until its answer is good. An answer for which `ask` throws
   * `node_answer_invalid` counts against the endpoint; one without the block is taken only if nobody has it.
   */
  async run<T>(
    ask: (session: EndpointSession) => Promise<T>,
    { only, isBackground = false }: RunOptions = {},
  ): Promise<T> {
    this.#choice.lookAround()
    this.#hedges = Math.min(MAX_HEDGES_SAVED, this.#hedges + HEDGES_PER_SESSION)
    const untilMs = isBackground ? Number.POSITIVE_INFINITY : this.#now() + this.#settings.patienceMs
    const turn = { untilMs, isBackground }
    const tried = new Set(
      this.#members.filter(({ endpoint }) => only !== undefined && endpoint.label !== only),
    )
    const reasons = new Map<string, string>()
    const running = new Set<Attempt<T>>()
    const missed: Ended<T>[] = []
    let invalid: unknown
    let isTooLarge = false
    try {
      for (;;) {
        if (running.size === 0) {
          const member = await this.#choice.acquire(tried, untilMs, isBackground)
          if (member === undefined) break
          running.add(this.#begin(member, turn, ask))
        }
        const event = await Promise.race([...running].flatMap(({ done, slow }) => [done, slow]))
        if (event === 'slow') {
          this.#hedge(running, tried, turn, ask)
          continue
        }
        const { attempt, error } = event
        const { endpoint } = attempt.member
        running.delete(attempt)
        this.#signal.throwIfAborted()
        if (error instanceof RpcFailure) reasons.set(endpoint.label, error.message)
        const isLate = this.#now() >= untilMs
        const decision = decide({ kind: kindOf(error), hasMissedBlock: attempt.hasMissed, isLate })
        if (decision.endpoint === 'blame') {
          this.#asker.blame(endpoint, (error as ChaintapeError).message)
          invalid = error
        }
        if (decision.question !== 'wait') tried.add(attempt.member)
        switch (decision.question) {
          case 'accept':
            for (const { attempt: other } of missed) this.#asker.missedBlock(other.member.endpoint)
            if (only === undefined) this.#choice.current = attempt.member
            return event.value as T
          case 'fail':
            throw error
          case 'hold':
            missed.push(event)
            break
          case 'shrink':
            isTooLarge = true
            break
          case 'wait':
          case 'retry_elsewhere':
            break
        }
      }
    } finally {
      for (const { controller } of running) controller.abort(new RpcFailure('timeout', 'outrun by another'))
    }
    const [unknown] = missed
    if (unknown !== undefined && unknown.error === undefined) return unknown.value as T
    if (invalid !== undefined) throw invalid
    if (isInvalid(unknown?.error)) throw unknown.error
    throw this.#unavailable(reasons, isTooLarge ? 'node_answer_too_large' : 'node_unavailable')
  }

  /** The responses of all other endpoints, as far as they respond. */
  async elsewhere<T>(
    label: string,
    ask: (session: EndpointSession) => Promise<T>,
  ): Promise<{ asked: number; answers: T[] }> {
    const others = this.#members.filter(({ endpoint }) => endpoint.label !== label)
    const all = await Promise.allSettled(
      others.map(async (member) => {
        // An alarm does not wait until a pause is over: one that was only slow can still contradict.
        if (!member.endpoint.isProven) await this.#asker.look(member)
        return this.run(ask, { only: member.endpoint.label })
      }),
    )
    this.#signal.throwIfAborted()
    const answers = all.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
    return { asked: others.length, answers }
  }

  /** For an answer that turned out to be wrong only when it was held against those of others. */
  blame(label: string, reason: string): void {
    const member = this.#members.find(({ endpoint }) => endpoint.label === label)
    if (member !== undefined) this.#asker.blame(member.endpoint, reason)
  }

  #begin<T>(member: Member, turn: Turn, ask: (session: EndpointSession) => Promise<T>): Attempt<T> {
    const { endpoint } = member
    const controller = new AbortController()
    const slow = Promise.withResolvers<'slow'>()
    const bestElsewhere = this.#asker.bestHeadBut(endpoint)
    const onMissed = (): void => {
      attempt.hasMissed = true
    }
    const session: EndpointSession = {
      label: endpoint.label,
      request: async (method, params) => {
        try {
          return await this.#asker.ask(member, method, params, {
            signal: controller.signal,
            ...turn,
            onSlow: () => slow.resolve('slow'),
          })
        } catch (error) {
          if (error instanceof RpcFailure && error.kind === 'unknown_block') onMissed()
          throw error
        }
      },
      missedBlock: onMissed,
      sawHead: (head) => this.#asker.sawHead(endpoint, head, bestElsewhere),
      unproved: () => this.#asker.unproved(endpoint),
    }
    const done = Promise.resolve()
      .then(() => ask(session))
      .then(
        (value): Ended<T> => ({ attempt, value }),
        (error: unknown): Ended<T> => ({ attempt, error }),
      )
    const attempt: Attempt<T> = { member, controller, done, slow: slow.promise, hasMissed: false }
    return attempt
  }

  #hedge<T>(
    running: Set<Attempt<T>>,
    tried: ReadonlySet<Member>,
    turn: Turn,
    ask: (session: EndpointSession) => Promise<T>,
  ): void {
    // Hedges once: from here on only the outcome of the running attempts counts.
    for (const attempt of running) attempt.slow = new Promise(() => undefined)
    if (this.#hedges < 1) return
    const busy = new Set([...tried, ...[...running].map(({ member }) => member)])
    const other = this.#choice.choose(busy)
    if (other === undefined || other.endpoint.waitMs(this.#now(), turn.isBackground) > 0) return
    this.#hedges -= 1
    running.add(this.#begin(other, turn, ask))
  }

  #unavailable(
    reasons: ReadonlyMap<string, string>,
    code: 'node_unavailable' | 'node_answer_too_large' = 'node_unavailable',
  ): ChaintapeError {
    const list = this.#members.map(({ endpoint }) => {
      return `${endpoint.label}: ${reasons.get(endpoint.label) ?? endpoint.lastFailure}`
    })
    return new ChaintapeError(code, `no RPC endpoint responded (${list.join('; ')})`)
  }
}

function budgetOf(label: string, budget: RpcBudget | undefined): RequestBudget {
  return new RequestBudget(budget?.limits ?? {}, Date.now, budget?.spentBefore(label))
}

function kindOf(error: unknown): Outcome['kind'] {
  if (error === undefined) return 'answered'
  if (error instanceof RpcFailure) return error.kind
  return isInvalid(error) ? 'invalid' : 'unexpected'
}

function isInvalid(error: unknown): error is ChaintapeError {
  return error instanceof ChaintapeError && error.code === 'node_answer_invalid'
}
