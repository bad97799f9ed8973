import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ChangeSet, Trade } from '../../src/domain/change.ts'
import type { Envelope } from '../../src/domain/envelope.ts'
import { Engine } from '../../src/engine/engine.ts'
import { openStateStore, type StateStore } from '../../src/store/lmdb/state-store.ts'
import { decodeChangeSet } from '../../src/wire/change-codec.ts'
import { encodeEnvelope } from '../../src/wire/envelope-codec.ts'
import { processClock, type Slice } from '../measure.ts'
import { ethereumSettings, MadeMarket, type MarketPlace } from './made-market.ts'
import type { RecordedSwaps } from './recorded-swaps.ts'

const FORMAT = 'engine-bench'
const INTRODUCTIONS_PER_COMMIT = 16
export type FoldSize = { readonly pairs: number; readonly blocksPerCommit: number }

type Message = { readonly bytes: Uint8Array; readonly swaps: number }

/** An engine over a store on disk, fed with messages as they would stand in BLOCKS. */
export class MeasuredFold {
  readonly dir: string
  readonly #settings = ethereumSettings()
  readonly #market: MadeMarket
  readonly #blocksPerCommit: number
  readonly #store: StateStore
  readonly #engine: Engine
  #seq: number
  #wallSeconds = 0
  #swaps = 0
  #last: { swaps: number; changes: Uint8Array } | undefined

  /** Begins anew in a folder of its own, or goes on from what is there. */
  constructor(
    recorded: RecordedSwaps,
    { pairs, blocksPerCommit }: FoldSize,
    from?: { dir: string; place: MarketPlace },
  ) {
    this.dir = from?.dir ?? mkdtempSync(join(tmpdir(), 'chaintape-bench-engine-'))
    this.#market = new MadeMarket(recorded, pairs, from?.place)
    this.#blocksPerCommit = blocksPerCommit
    this.#store = openStateStore({ dir: this.dir, format: FORMAT })
    this.#engine = new Engine(this.#settings, this.#store)
    this.#seq = this.#store.position?.seq ?? 0
  }

  get place(): MarketPlace {
    return this.#market.place
  }

  get swapsPerSecond(): number {
    return this.#swaps / this.#wallSeconds
  }

  introduce(): void {
    let messages: Message[] = []
    for (const envelope of this.#market.introduction()) {
      messages.push(messageOf(envelope))
      // These are blocks as full as no chain has them: fewer of them are as much as many others.
      if (messages.length < INTRODUCTIONS_PER_COMMIT) continue
      this.#fold(messages)
      messages = []
    }
    this.#fold(messages)
  }

  /** One block, as after a restart. */
  foldOne(): void {
    this.#fold([...this.#market.next()].map(messageOf))
  }

  commit(): void {
    this.#store.commit(this.#engine.pending(), { epoch: 'bench', seq: this.#seq, link: 0 })
    this.#engine.committed()
  }

  /** Its CPU time and its clock are those of the folding alone: making up the messages is not part of the work. */
  readonly slice: Slice = (durationMs) => {
    let wall = 0
    let cpuSeconds = 0
    let units = 0
    while (wall * 1_000 < durationMs) {
      const messages = this.#nextMessages()
      const wallStart = processClock.wallSeconds()
      const cpuStart = processClock.cpuSeconds()
      units += this.#fold(messages)
      cpuSeconds += processClock.cpuSeconds() - cpuStart
      wall += processClock.wallSeconds() - wallStart
    }
    this.#wallSeconds += wall
    this.#swaps += units
    const wrong = this.#wrong()
    return wrong === undefined ? { units, cpuSeconds } : { units, cpuSeconds, wrong }
  }

  /** The trades of the next block. */
  sampleTrades(): Trade[] {
    const sets: ChangeSet[] = []
    for (const { bytes } of [...this.#market.next()].map(messageOf)) {
      sets.push(decodeChangeSet(this.#engine.apply(bytes, ++this.#seq)))
    }
    return sets.flatMap(({ changes }) =>
      changes.flatMap((change) => (change.type === 'trade' ? [change.trade] : [])),
    )
  }

  async close(isKept = false): Promise<void> {
    await this.#store.close()
    if (!isKept) rmSync(this.dir, { recursive: true, force: true })
  }

  #nextMessages(): Message[] {
    const messages: Message[] = []
    while (messages.length < this.#blocksPerCommit) messages.push(...[...this.#market.next()].map(messageOf))
    return messages
  }

  #fold(messages: readonly Message[]): number {
    let total = 0
    for (const { bytes, swaps } of messages) {
      const changes = this.#engine.apply(bytes, ++this.#seq)
      if (swaps > 0) this.#last = { swaps, changes }
      total += swaps
    }
    this.commit()
    return total
  }

  /** Every swap is a trade with a price, and an engine that knows nothing but the store says the same, byte by byte. */
  #wrong(): string | undefined {
    const { swaps, changes } = this.#last ?? { swaps: 0, changes: new Uint8Array() }
    const trades = decodeChangeSet(changes).changes.flatMap((change) =>
      change.type === 'trade' ? [change.trade] : [],
    )
    if (trades.length !== swaps) return `${trades.length} trades of ${swaps} swaps`
    const unpriced = trades.find(({ valueUsd }) => valueUsd === undefined)
    if (unpriced !== undefined) return `a trade of ${unpriced.pair} has no price`
    const fresh = new Engine(this.#settings, this.#store)
    for (const { bytes } of [...this.#market.next()].map(messageOf)) {
      this.#seq++
      const [one, other] = [this.#engine, fresh].map((engine) => engine.apply(bytes, this.#seq))
      if (one === undefined || other === undefined || Buffer.compare(one, other) !== 0) {
        return `message ${this.#seq} folds to something else in a new engine`
      }
    }
    return undefined
  }
}

function messageOf(envelope: Envelope): Message {
  const swaps = envelope.kind === 'block' ? envelope.transactions.length : 0
  return { bytes: encodeEnvelope(envelope), swaps }
}
