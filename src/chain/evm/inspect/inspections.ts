import type { Envelope, InspectionFact, InspectionFailureFact } from '../../../domain/envelope.ts'
import { ChaintapeError } from '../../../domain/errors.ts'
import type { Logger } from '../../../lib/logger.ts'
import { expectEncodable } from '../../../wire/fact-codec.ts'
import type { InspectionQueue } from '../../inspection-queue.ts'
import type { Header } from '../../source.ts'
import type { EvmNodes } from '../rpc/rpc.ts'
import { inspectToken } from './inspect-token.ts'
import type { TrialPair } from './trade-trial.ts'

export type InspectionsParts = {
  readonly nodes: Pick<EvmNodes, 'verified'>
  readonly queue: InspectionQueue
  readonly knowsToken: (address: string) => boolean
  /** How a trade can be tried in pools of this factory; undefined where it cannot. */
  readonly trialIn: (factory: string) => TrialPair['kind'] | undefined
  /** Called once for each inspection without a valid result. */
  readonly onFailure: () => void
  readonly logger: Logger
  readonly signal: AbortSignal
}

const AT_ONCE = 2
const MAX_PER_BLOCK = 4
const MAX_WANTED = 10_000

/**
 * Examines contracts in the background, and hands over what was found as facts of the blocks that come meanwhile: those
 * that the queue holds by themselves, others when somebody asks.
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

  /** Soon, if it is a token we know. Asked for more than can be done, the newest wishes are forgotten: they can be repeated. */
  want(token: string): void {
    if (this.#wanted.size < MAX_WANTED && this.#parts.knowsToken(token)) this.#wanted.add(token)
  }

  /** Another reader appended this block: its inspections are no longer wanted here. */
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
    const { nodes, queue, trialIn, logger, signal } = this.#parts
    const pairs = queue.poolsOf(token).flatMap(({ address, factory, quote }): TrialPair[] => {
      const kind = trialIn(factory)
      return kind === undefined ? [] : [{ address, kind, quote }]
    })
    // Tokens that keep a tax cannot be sold in the others at all.
    pairs.sort((a, b) => (a.kind < b.kind ? -1 : a.kind > b.kind ? 1 : 0))
    try {
      const inspection = await inspectToken(nodes, { token, block, pairs })
      const fact: InspectionFact = { type: 'inspection', address: token, inspection }
      expectEncodable(fact)
      this.#busy.delete(token)
      if (generation === this.#generation) this.#ready.push(fact)
      this.#begin()
    } catch (error) {
      // Not before the next block: a node that fails is not asked at once again.
      this.#busy.delete(token)
      if (signal.aborted) return
      if (error instanceof ChaintapeError && error.retryable) {
        logger.warn({ err: error, code: error.code, token }, 'Contract inspection failed; retrying')
        return
      }
      // The contract decides what it answers, so no answer may end the reader, nor be asked for again at every block.
      logger.error({ err: error, token }, 'Contract inspection has no valid result')
      this.#parts.onFailure()
      if (generation === this.#generation)
        this.#ready.push({ type: 'inspectionFailure', address: token, block: block.number })
    }
  }
}
