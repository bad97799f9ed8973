import { randomUUID } from 'node:crypto'
import { encodeFault } from '../domain/chain-fault.ts'
import type { Common } from '../lib/common.ts'
import type { Logs } from '../log/connect.ts'
import type { LatestValues } from '../log/latest-values.ts'
import type { RoleName } from './role.ts'
import type { ChainFault } from './supervise.ts'

/** A third of the time after which a report expires. */
const REPEAT_MS = 10_000

/** Publishes the faults of this process for gateways, which show them in `GET /v2/status`. */
export class FaultReports {
  readonly #role: RoleName
  readonly #bucket: LatestValues
  readonly #common: Common
  /** Two processes of a role may have different faults. */
  readonly #instance = randomUUID().slice(0, 8)
  readonly #faults = new Map<string, ChainFault>()
  readonly #labelOf: (chain: string) => string

  private constructor(
    role: RoleName,
    bucket: LatestValues,
    common: Common,
    labelOf: (chain: string) => string,
  ) {
    this.#labelOf = labelOf
    this.#role = role
    this.#bucket = bucket
    this.#common = common
    const repeat = setInterval(() => {
      for (const chain of this.#faults.keys()) this.#put(chain)
    }, REPEAT_MS)
    repeat.unref()
    common.shutdown.onClose('fault reports', () => clearInterval(repeat))
  }

  /** `labelOf` returns the name under which a chain is reported; reports under a former name expire. */
  static async open(
    role: RoleName,
    logs: Pick<Logs, 'openLatest'>,
    common: Common,
    labelOf = (chain: string): string => chain,
  ): Promise<FaultReports> {
    return new FaultReports(role, await logs.openLatest('FAULTS'), common, labelOf)
  }

  set(chain: string, fault: ChainFault | undefined): void {
    if (fault === undefined) this.#faults.delete(chain)
    else this.#faults.set(chain, fault)
    this.#put(chain)
  }

  #put(chain: string): void {
    const name = `${this.#labelOf(chain)}.${this.#role}.${this.#instance}`
    const fault = this.#faults.get(chain)
    const message = fault?.place && { log: fault.place.log, sequence: fault.place.sequence }
    const report = fault && { code: fault.code, since: fault.since, ...(message && { message }) }
    this.#bucket.put(name, encodeFault(report)).catch((error: unknown) => {
      // The next repetition follows soon; the fault itself is in the log, in /readyz and in the metrics.
      if (!this.#common.shutdown.signal.aborted)
        this.#common.logger.warn({ err: error, chain }, 'Chain fault publish failed')
    })
  }
}
