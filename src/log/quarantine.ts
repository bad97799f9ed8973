import { Gauge } from 'prom-client'
import { decodeQuarantine, type QuarantineEntry, quarantineName } from '../domain/quarantine.ts'
import type { Common } from '../lib/common.ts'
import type { LatestValue, LatestValues } from './latest-values.ts'

/** The messages that every role skips: loaded before any log is opened, then followed. */
export class Quarantine {
  readonly #entries = new Map<string, QuarantineEntry>()
  readonly #common: Pick<Common, 'logger' | 'metrics'>
  readonly #listeners: ((chain: string) => void)[] = []

  private constructor(common: Pick<Common, 'logger' | 'metrics'>) {
    this.#common = common
    const entries = this.#entries
    new Gauge({
      name: 'chaintape_quarantined_messages',
      help: 'Messages quarantined by an operator',
      labelNames: ['chain', 'log'] as const,
      registers: [common.metrics],
      collect() {
        this.reset()
        for (const { chain, log } of entries.values()) this.inc({ chain, log })
      },
    })
  }

  /** Follows the list until the process ends or `closed` aborts. */
  static async open(bucket: LatestValues, common: Common, closed: AbortSignal): Promise<Quarantine> {
    const quarantine = new Quarantine(common)
    const signal = AbortSignal.any([common.shutdown.signal, closed])
    await new Promise<void>((resolve) => {
      const onValue = (value: LatestValue): void => quarantine.#take(value)
      void bucket.watch({ signal, onValue, onCurrent: resolve }).then(resolve)
    })
    return quarantine
  }

  has(place: Pick<QuarantineEntry, 'chain' | 'log' | 'sequence' | 'epoch'>): boolean {
    return this.#entries.get(quarantineName(place))?.epoch === place.epoch
  }

  get entries(): QuarantineEntry[] {
    return [...this.#entries.values()]
  }

  /** Calls back with the chain of each entry that is added or withdrawn. */
  onChange(listener: (chain: string) => void): void {
    this.#listeners.push(listener)
  }

  #take({ name, body }: LatestValue): void {
    try {
      const entry = decodeQuarantine(name, body)
      if (entry === undefined) this.#entries.delete(name)
      else this.#entries.set(name, entry)
    } catch (error) {
      this.#common.logger.error({ err: error, name }, 'Unreadable quarantine entry')
      return
    }
    for (const listener of this.#listeners) listener(name.split('.')[0] ?? '')
  }
}

/** One line per entry, for `/readyz`. */
export function quarantineDetails(quarantine: Pick<Quarantine, 'entries'>): string[] {
  return quarantine.entries.map(
    ({ chain, log, sequence, reason }) => `${chain}: ${log} message ${sequence} is quarantined: ${reason}`,
  )
}
