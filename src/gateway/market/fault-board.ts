import { decodeFault, FAULT_REPORT_MS, type ReportedFault } from '../../domain/chain-fault.ts'
import type { Logger } from '../../lib/logger.ts'
import type { LatestValue, LatestValues } from '../../log/latest-values.ts'

type Report = ReportedFault & { readonly chain: string; readonly heardMs: number }

/** The faults that roles report, by chain. */
export class FaultBoard {
  readonly #reports = new Map<string, Report>()
  readonly #logger: Logger
  readonly #nowMs: () => number

  constructor(logger: Logger, nowMs: () => number = Date.now) {
    this.#logger = logger
    this.#nowMs = nowMs
  }

  watch(bucket: Pick<LatestValues, 'watch'>, signal: AbortSignal): Promise<void> {
    return bucket.watch({ signal, onValue: (value) => this.hear(value), onCurrent: () => undefined })
  }

  hear({ name, body }: Pick<LatestValue, 'name' | 'body'>): void {
    const [chain = '', role = ''] = name.split('.')
    try {
      const fault = decodeFault(body)
      if (fault === undefined) this.#reports.delete(name)
      else this.#reports.set(name, { chain, role, ...fault, heardMs: this.#nowMs() })
    } catch (error) {
      this.#logger.warn({ err: error, name }, 'Unreadable fault report')
    }
  }

  /** Oldest first. */
  of(chain: string): ReportedFault[] {
    const oldest = this.#nowMs() - FAULT_REPORT_MS
    for (const [name, { heardMs }] of this.#reports) if (heardMs < oldest) this.#reports.delete(name)
    return [...this.#reports.values()]
      .filter((report) => report.chain === chain)
      .sort((a, b) => a.since - b.since)
      .map(({ role, code, since, message }) => ({ role, code, since, ...(message && { message }) }))
  }
}
