import { decodeReconciliation, type ReportedReconciliation } from '../../domain/reconciliation.ts'
import type { Logger } from '../../lib/logger.ts'
import type { LatestValue, LatestValues } from '../../log/latest-values.ts'

/** The last reconciliation of each chain. */
export class ReconciliationBoard {
  readonly #latest = new Map<string, ReportedReconciliation>()
  readonly #logger: Logger

  constructor(logger: Logger) {
    this.#logger = logger
  }

  watch(bucket: Pick<LatestValues, 'watch'>, signal: AbortSignal): Promise<void> {
    return bucket.watch({ signal, onValue: (value) => this.hear(value), onCurrent: () => undefined })
  }

  hear({ name, body }: Pick<LatestValue, 'name' | 'body'>): void {
    try {
      const found = decodeReconciliation(body)
      if (found !== undefined) this.#latest.set(name, found)
    } catch (error) {
      this.#logger.warn({ err: error, name }, 'Unreadable reconciliation')
    }
  }

  of(chain: string): ReportedReconciliation | undefined {
    return this.#latest.get(chain)
  }
}
