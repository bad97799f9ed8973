import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Counter, Gauge } from 'prom-client'
import { ChaintapeError, type ErrorCode } from '../domain/errors.ts'
import { type MessagePlace, PoisonedMessage } from '../domain/quarantine.ts'
import type { Common } from '../lib/common.ts'
import { Shutdown } from '../lib/shutdown.ts'
import { LagClock } from './lag-clock.ts'

export type ChainFault = {
  readonly code: ErrorCode
  readonly message: string
  readonly since: number
  /** Set if a particular message is the cause. */
  readonly place: MessagePlace | undefined
}

export type Attempt = {
  readonly chain: string
  /** Its `shutdown` ends with the attempt, so that registered resources are closed before the next one. */
  readonly common: Common
  /** Call it once the chain has caught up; ends the fault of an earlier attempt. */
  readonly onCaughtUp: () => void
  /** Call it every few seconds or at every block, with the end of the input and the role's position. */
  readonly observeLag: (end: number, position: () => number) => void
}

export type SuperviseOptions = {
  /** Those to start with; others may be started and stopped later. */
  readonly chains: readonly string[]
  readonly common: Common
  readonly run: (attempt: Attempt) => Promise<void>
  /** Called when a chain's fault begins, changes or ends. */
  readonly onFault?: (chain: string, fault: ChainFault | undefined) => void
  /** False for chains that do not decide whether the role is ready; by default all do. */
  readonly isRequired?: (chain: string) => boolean
  /** The name of a chain in metrics; by default its own. */
  readonly labelOf?: (chain: string) => string
  /** A chain with a larger lag is not ready. */
  readonly maxLagSeconds?: number
  readonly firstDelayMs?: number
  readonly maxDelayMs?: number
}

type Run = { readonly stop: AbortController; readonly ended: Promise<void> }

/** The process exits once all its chains have one of these faults. */
const PROCESS_FAULTS: ReadonlySet<ErrorCode> = new Set(['config_invalid', 'fenced'])
/** Only an operator ends these, not a node that changes its answer (docs/decisions/0015). */
const HELD_FAULTS: ReadonlySet<ErrorCode> = new Set(['fork_below_final'])
const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 30_000

/** Runs a role's work per chain. A failed chain is restarted after a delay; the others are not affected. */
export class ChainSupervisor {
  /** Rejects once every chain has a fault that ends the process; resolves once every chain has stopped. */
  readonly done: Promise<void>
  readonly #options: SuperviseOptions
  readonly #isRequired: (chain: string) => boolean
  readonly #labelOf: (chain: string) => string
  readonly #runs = new Map<string, Run>()
  readonly #stopped = Promise.withResolvers<void>()
  readonly #behind = new Set<string>()
  readonly #faults = new Map<string, ChainFault>()
  readonly #lags = new Map<string, LagClock>()
  readonly #wake = new Map<string, () => void>()
  readonly #ended = new AbortController()
  readonly #restarts: Counter<'chain'>

  constructor(options: SuperviseOptions) {
    this.#options = options
    this.#isRequired = options.isRequired ?? (() => true)
    this.#labelOf = options.labelOf ?? ((chain) => chain)
    const labelOf = this.#labelOf
    const registers = [options.common.metrics]
    const faults = this.#faults
    new Gauge({
      name: 'chaintape_chain_fault',
      help: '1 while a fault stops the chain; the label code says why',
      labelNames: ['chain', 'code'] as const,
      registers,
      collect() {
        this.reset()
        for (const [chain, { code }] of faults) this.set({ chain: labelOf(chain), code }, 1)
      },
    })
    this.#restarts = new Counter({
      name: 'chaintape_chain_restarts_total',
      help: 'Restarts of the chain after a fault',
      labelNames: ['chain'],
      registers,
    })
    const lags = this.#lags
    new Gauge({
      name: 'chaintape_lag_seconds',
      help: 'How long the role has been behind its input: the node, or the log it reads',
      labelNames: ['chain'] as const,
      registers,
      collect() {
        this.reset()
        for (const [chain, lag] of lags) this.set({ chain: labelOf(chain) }, lag.seconds)
      },
    })
    this.done = this.#stopped.promise
    for (const chain of options.chains) this.start(chain)
    if (this.#runs.size === 0) this.#stopped.resolve()
  }

  /** The chains that run, or wait to run again. */
  get chains(): string[] {
    return [...this.#runs.keys()]
  }

  start(chain: string): void {
    if (this.#runs.has(chain) || this.#ended.signal.aborted) return
    const stop = new AbortController()
    this.#behind.add(chain)
    const ended = this.#supervise(chain, stop.signal)
      // The others stop before it is reported.
      .catch((error: unknown) => this.#ended.abort(error))
      .finally(() => {
        this.#runs.delete(chain)
        if (stop.signal.aborted) this.#forget(chain)
        if (this.#runs.size > 0) return
        if (this.#ended.signal.aborted) this.#stopped.reject(this.#ended.signal.reason)
        else this.#stopped.resolve()
      })
    this.#runs.set(chain, { stop, ended })
  }

  /** Resolves once the chain has stopped. */
  async stop(chain: string): Promise<void> {
    const run = this.#runs.get(chain)
    run?.stop.abort()
    await run?.ended
  }

  #forget(chain: string): void {
    this.#setFault(chain, undefined)
    this.#behind.delete(chain)
    this.#lags.delete(chain)
  }

  get faults(): ReadonlyMap<string, ChainFault> {
    return this.#faults
  }

  /** Undefined if every required chain runs and has caught up, otherwise the reasons. */
  readiness(): string | undefined {
    const reasons = this.#reasons(this.#isRequired)
    return reasons.length === 0 ? undefined : reasons.join('\n')
  }

  /** The same for chains that are not required, one line each. */
  details(): string[] {
    return this.#reasons((chain) => !this.#isRequired(chain))
  }

  #reasons(isMeant: (chain: string) => boolean): string[] {
    const faults = [...this.#faults].filter(([chain]) => isMeant(chain))
    const reasons = faults.map(([chain, { code, message }]) => `${chain}: ${code}: ${message}`)
    const behind = [...this.#behind].filter((chain) => isMeant(chain) && !this.#faults.has(chain))
    if (behind.length > 0) reasons.push(`not caught up yet: ${behind.join(', ')}`)
    const { maxLagSeconds = Number.POSITIVE_INFINITY } = this.#options
    for (const [chain, { seconds }] of this.#lags) {
      const isKnown = this.#faults.has(chain) || this.#behind.has(chain)
      const isLate = seconds > maxLagSeconds && !isKnown && isMeant(chain)
      if (isLate) reasons.push(`${chain}: lag ${Math.round(seconds)} s`)
    }
    return reasons
  }

  /** Retries a faulty chain now instead of after its delay. */
  retryNow(chain: string): void {
    this.#wake.get(chain)?.()
  }

  async #supervise(chain: string, stop: AbortSignal): Promise<void> {
    const { common, firstDelayMs = FIRST_DELAY_MS, maxDelayMs = MAX_DELAY_MS } = this.#options
    const logger = common.logger.child({ chain })
    const signal = AbortSignal.any([common.shutdown.signal, this.#ended.signal, stop])
    const lag = new LagClock()
    this.#lags.set(chain, lag)
    let failures = 0
    while (!signal.aborted) {
      const lifetime = new Shutdown(logger, { parent: signal })
      const startedMs = performance.now()
      let failure: unknown
      try {
        await this.#options.run({
          chain,
          common: { ...common, logger, shutdown: lifetime },
          onCaughtUp: () => {
            failures = 0
            this.#behind.delete(chain)
            this.#setFault(chain, undefined)
          },
          observeLag: (end, position) => lag.observe(end, position),
        })
      } catch (error) {
        failure = error
      }
      await lifetime.finish()
      if (signal.aborted || failure === undefined) return
      if (performance.now() - startedMs > maxDelayMs) failures = 0
      const code = failure instanceof ChaintapeError ? failure.code : 'internal'
      const place = failure instanceof PoisonedMessage ? failure.place : undefined
      this.#setFault(chain, { code, message: messageOf(failure), since: Date.now(), place })
      if (this.#isUseless()) throw failure
      if (HELD_FAULTS.has(code)) {
        logger.fatal({ err: failure, code }, 'Chain halted')
        await this.#pause(chain, undefined, signal)
        continue
      }
      // A fenced chain has another owner, so retrying quickly would only fight it; a wrong setting takes a while to
      // fix.
      const ceiling = PROCESS_FAULTS.has(code)
        ? maxDelayMs
        : Math.min(maxDelayMs, firstDelayMs * 2 ** failures)
      const delayMs = Math.round(ceiling * (0.5 + Math.random() / 2))
      failures++
      logger.error({ err: failure, code, delay_ms: delayMs }, 'Chain stopped by a fault; retrying')
      await this.#pause(chain, delayMs, signal)
      if (!signal.aborted) this.#restarts.inc({ chain: this.#labelOf(chain) })
    }
  }

  #isUseless(): boolean {
    return this.chains.filter(this.#isRequired).every((chain) => {
      const code = this.#faults.get(chain)?.code
      return code !== undefined && PROCESS_FAULTS.has(code)
    })
  }

  #setFault(chain: string, fault: ChainFault | undefined): void {
    const before = this.#faults.get(chain)
    if (before?.code === fault?.code && before?.message === fault?.message) return
    if (fault === undefined) this.#faults.delete(chain)
    else {
      this.#faults.set(chain, fault)
      this.#behind.add(chain)
    }
    this.#options.onFault?.(chain, fault)
  }

  /** Without a delay, waits until the signal aborts or `retryNow` is called. */
  async #pause(chain: string, ms: number | undefined, signal: AbortSignal): Promise<void> {
    const woken = new AbortController()
    this.#wake.set(chain, () => woken.abort())
    const end = AbortSignal.any([signal, woken.signal])
    if (ms === undefined) await once(end, 'abort')
    else await sleep(ms, undefined, { signal: end }).catch(() => undefined)
    this.#wake.delete(chain)
  }
}

function messageOf(failure: unknown): string {
  return failure instanceof Error ? failure.message : String(failure)
}
