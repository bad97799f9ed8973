import type { Envelope, InspectionFact, InspectionFailureFact } from '../domain/envelope.ts'
import { ChaintapeError } from '../domain/errors.ts'
import type { Inspection } from '../domain/inspection.ts'
import type { Logger } from '../lib/logger.ts'
import { expectEncodable } from '../wire/fact-codec.ts'
import type { InspectionQueue } from './inspection-queue.ts'
import type { Header } from './source.ts'

export type InspectionsParts = {
  /** Inspects a token in the state after a block; it fails with a retryable error if no node can be asked. */
  readonly inspect: (token: string, block: Header) => Promise<Inspection>
  readonly queue: InspectionQueue
  readonly knowsToken: (address: string) => boolean
  /** Called once for each inspection without a valid result. */
  readonly onFailure: () => void
  readonly logger: Logger
  readonly signal: AbortSignal
}

const AT_ONCE = 2
const MAX_PER_BLOCK = 4
const MAX_WANTED = 10_000

/**
 * Inspects contracts in the background and returns the results as facts of later blocks: contracts from the queue, and
 * others on request.
 */
export class Inspections {
  readonly #parts: InspectionsParts
  readonly #wanted = new Set<string>()
  readonly #busy = new Set<string>()
  #ready: (InspectionFact | InspectionFailureFact)[] = []
  /** Results from an orphaned block are discarded. */
  #generation = 0
  #tip: Header | undefined
  /** Separate queues: many requests do not delay new tokens, nor the reverse. */
  #wasAskedFor = false

  constructor(parts: InspectionsParts) {
    this.#parts = parts
  }

  /**
   * Requests an inspection of a known token. If too many are waiting, new requests are dropped; clients can repeat
   * them.
   */
  want(token: string): void {
    if (this.#wanted.size < MAX_WANTED && this.#parts.knowsToken(token)) this.#wanted.add(token)
  }

  /** Drops requests that another reader's block has answered. */
  follow(envelope: Envelope): void {
    if (envelope.kind !== 'block' || this.#wanted.size === 0) return
    for (const { type, address } of envelope.facts)
      if (type === 'inspection' || type === 'inspectionFailure') this.#wanted.delete(address)
  }

  take(): (InspectionFact | InspectionFailureFact)[] {
    return this.#ready.splice(0, MAX_PER_BLOCK)
  }

  forget(): void {
    this.#generation++
    for (const { address } of this.#ready) this.want(address)
    this.#ready = []
  }

  readOn(tip: Header): void {
    this.#tip = tip
    this.#begin()
  }

  #begin(): void {
    const tip = this.#tip
    if (tip === undefined || this.#parts.signal.aborted) return
    while (this.#busy.size < AT_ONCE && this.#busy.size + this.#ready.length < MAX_PER_BLOCK) {
      const token = this.#next(tip.number)
      if (token === undefined) return
      this.#wanted.delete(token)
      this.#busy.add(token)
      void this.#inspect(token, tip, this.#generation)
    }
  }

  #next(tip: number): string | undefined {
    const isFree = (token: string): boolean =>
      !this.#busy.has(token) && !this.#ready.some(({ address }) => address === token)
    const due = this.#parts.queue.due(tip).find(isFree)
    const askedFor = this.#wanted.values().find(isFree)
    this.#wasAskedFor = askedFor !== undefined && (due === undefined || !this.#wasAskedFor)
    return this.#wasAskedFor ? askedFor : due
  }

  async #inspect(token: string, block: Header, generation: number): Promise<void> {
    const { inspect, logger, signal } = this.#parts
    try {
      const inspection = await inspect(token, block)
      const fact: InspectionFact = { type: 'inspection', address: token, inspection }
      expectEncodable(fact)
      this.#busy.delete(token)
      if (generation === this.#generation) this.#ready.push(fact)
      this.#begin()
    } catch (error) {
      // Not before the next block, so that a failing node is not asked again at once.
      this.#busy.delete(token)
      if (signal.aborted) return
      if (error instanceof ChaintapeError && error.retryable) {
        logger.warn({ err: error, code: error.code, token }, 'Contract inspection failed; retrying')
        return
      }
      // The contract controls the answer, so an invalid one must neither stop the reader nor be requested again in
      // every block.
      logger.error({ err: error, token }, 'Contract inspection has no valid result')
      this.#parts.onFailure()
      if (generation === this.#generation)
        this.#ready.push({ type: 'inspectionFailure', address: token, block: block.number })
    }
  }
}
