import { setTimeout as sleep } from 'node:timers/promises'
import { ChaintapeError } from '../../domain/errors.ts'
import { RedisDataLost } from './consistent-reads.ts'

export type CircuitOptions = {
  /** Resolves once the server answers again. */
  readonly probe: () => Promise<unknown>
  readonly onChange: (isOpen: boolean, reason: unknown) => void
  readonly signal: AbortSignal
  readonly probeEveryMs?: number
}

const PROBE_EVERY_MS = 250

/** Circuit breaker: after one unanswered read, all others fail immediately until a background probe succeeds. */
export class Circuit {
  readonly #options: CircuitOptions
  #isOpen = false

  constructor(options: CircuitOptions) {
    this.#options = options
  }

  async run<T>(read: () => Promise<T>): Promise<T> {
    if (this.#isOpen) throw new ChaintapeError('store_unavailable', 'Redis unavailable')
    try {
      return await read()
    } catch (error) {
      // A Redis that lost data still answers, so it does not open the circuit.
      const isAway = error instanceof ChaintapeError && error.code === 'store_unavailable'
      if (isAway && !(error instanceof RedisDataLost)) this.#open(error)
      throw error
    }
  }

  #open(reason: unknown): void {
    if (this.#isOpen) return
    this.#isOpen = true
    this.#options.onChange(true, reason)
    void this.#probe()
  }

  async #probe(): Promise<void> {
    const { probe, onChange, signal, probeEveryMs = PROBE_EVERY_MS } = this.#options
    while (!signal.aborted) {
      await sleep(probeEveryMs, undefined, { signal, ref: false }).catch(() => undefined)
      try {
        await probe()
        this.#isOpen = false
        onChange(false, undefined)
        return
      } catch {
        // The next probe follows.
      }
    }
  }
}
