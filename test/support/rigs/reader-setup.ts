import { type BackgroundFacts, Reader, type ReaderParts } from '../../../src/chain/reader.ts'
import { ReaderIndex } from '../../../src/chain/reader-index.ts'
import type { ChainSource } from '../../../src/chain/source.ts'
import type { BlockRef, Envelope, Fact } from '../../../src/domain/envelope.ts'
import { CanonicalView } from '../reference/canonical-view.ts'
import { MemoryState } from './memory-state.ts'
import { ScriptedChain } from './scripted-chain.ts'
import { createTestCommon } from './test-common.ts'

export const START = 100

/** A reader of a scripted chain, with its log and its index in memory. */
export class ReaderSetup {
  readonly chain: ScriptedChain
  readonly log: Envelope[] = []
  /** When the reader heard of each block of the log. */
  readonly announced: (number | undefined)[] = []
  readonly dropped: Fact[] = []
  background: readonly BackgroundFacts[] = []
  askAhead: ReaderParts['askAhead']
  settings: ReaderParts['settings']
  readonly #store = new MemoryState()
  #index = new ReaderIndex(this.#store)

  readonly #source: ChainSource | Promise<ChainSource>
  /** Waits until the source knows what the chain reports; at once if it is asked each time. */
  readonly synced: () => Promise<void>

  /** `source` reads the chain; without one, the reader asks the chain itself. */
  constructor(
    chain = new ScriptedChain(START),
    source: ChainSource | Promise<ChainSource> = chain,
    synced: () => Promise<void> = async () => undefined,
  ) {
    this.chain = chain
    this.#source = source
    this.synced = synced
  }

  /** Reads until `isDone` says so after a look at the chain. */
  async read(isDone: (tip: BlockRef | undefined) => boolean): Promise<void> {
    // A reader that starts anew knows only what was committed.
    this.#index = new ReaderIndex(this.#store)
    const source = await this.#source
    await this.synced()
    const stop = new AbortController()
    await new Reader({
      chain: 'testchain',
      source,
      index: this.#index,
      gather: async (_block, transactions) => ({ transactions: [...transactions], facts: [] }),
      ...(this.askAhead && { askAhead: this.askAhead }),
      ...(this.settings && { settings: this.settings }),
      background: this.background,
      append: async (envelope, announcedAt) => {
        this.log.push(envelope)
        if (envelope.kind === 'block') this.announced.push(announcedAt)
        this.#index.apply(envelope)
        this.#store.write(this.#index.pending())
        this.#index.committed()
      },
      flush: async () => undefined,
      startBlock: this.chain.first,
      readAheadBlocks: 4,
      pollMs: 0,
      onDroppedFact: (fact) => this.dropped.push(fact),
      logger: createTestCommon().logger,
      signal: stop.signal,
      onBlock: () => undefined,
      onProgress: ({ tip }) => {
        if (isDone(tip)) stop.abort()
      },
    }).run()
  }

  /** Reads up to the head, and then looks some more times. */
  async catchUp(moreLooks = 0): Promise<void> {
    let looks = 0
    await this.read((tip) => tip?.hash === this.chain.tip.hash && looks++ >= moreLooks)
  }

  kinds(from = 0): string[] {
    return this.log.slice(from).map((envelope) => {
      if (envelope.kind === 'block') return `block ${envelope.number}`
      if (envelope.kind === 'undo') return `undo to ${envelope.lastValid.number}`
      return envelope.kind === 'final' ? `final ${envelope.upTo.number}` : 'settings'
    })
  }

  /** The chain as seen by a consumer of the log alone; every step is checked on the way. */
  canonical(): string[] {
    return CanonicalView.of(this.log).blocks.map(({ hash }) => hash)
  }
}
