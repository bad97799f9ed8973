import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Trade } from '../../src/domain/change.ts'
import type { Envelope } from '../../src/domain/envelope.ts'
import { Engine } from '../../src/engine/engine.ts'
import { isCommitDue } from '../../src/roles/engine/commit-policy.ts'
import { openStateStore, type StateStore } from '../../src/store/lmdb/state-store.ts'
import { decodeChangeSet } from '../../src/wire/change-codec.ts'
import { encodeEnvelope } from '../../src/wire/envelope-codec.ts'
import { FIRST_LINK, splitMessage } from '../../src/wire/frame.ts'
import { processClock, type Slice } from '../measure.ts'
import { ethereumSettings, MadeMarket, type MarketPlace, type MarketPlan } from './made-market.ts'
import type { RecordedSwaps } from './recorded-swaps.ts'

export const FORMAT = 'engine-bench'
/** Blocks as full as no chain has them: fewer of them are as much as many others. */
const INTRODUCTIONS_PER_COMMIT = 64
/** Made up together, before the clock runs. */
const BLOCKS_AT_ONCE = 8

type Spent = { wall: number; cpu: number }

export type BlockMessage = { readonly bytes: Uint8Array; readonly swaps: number }
export type ChangesMessage = BlockMessage & { readonly seq: number }

/** An engine over a store on disk, fed with messages as they would stand in BLOCKS. */
export class MeasuredFold {
  readonly dir: string
  /** Bytes of CHANGES for each swap as the log stores them, compressed, slice by slice. */
  readonly bytesPerSwap: number[] = []
  readonly #settings = ethereumSettings()
  readonly #market: MadeMarket
  readonly #store: StateStore
  readonly #engine: Engine
  #seq: number
  #uncommitted = 0
  /** What was folded since the last commit, and how long that took. */
  #period = { swaps: 0, wallSeconds: 0 }
  #commitCpuPerSwap: number | undefined
  #wallSeconds = 0
  #swaps = 0
  #last: ChangesMessage | undefined

  /** Begins anew in a folder of its own, or goes on from what is there. */
  constructor(recorded: RecordedSwaps, plan: MarketPlan, from?: { dir: string; place: MarketPlace }) {
    this.dir = from?.dir ?? mkdtempSync(join(tmpdir(), 'chaintape-bench-engine-'))
    this.#market = new MadeMarket(recorded, plan, from?.place)
    this.#store = openStateStore({ dir: this.dir, format: FORMAT })
    this.#engine = new Engine(this.#settings, this.#store)
    this.#seq = this.#store.position?.sequence ?? 0
  }

  get place(): MarketPlace {
    return this.#market.place
  }

  get swapsPerSecond(): number {
    return this.#swaps / this.#wallSeconds
  }

  /** CPU time of the last commit, spread over the swaps that it held. */
  get commitMicrosPerSwap(): number {
    return (this.#commitCpuPerSwap ?? 0) * 1e6
  }

  introduce(): void {
    for (const envelope of this.#market.introduction()) {
      this.#apply(messageOf(envelope))
      if (this.#uncommitted >= INTRODUCTIONS_PER_COMMIT) this.commit()
    }
    this.commit()
  }

  /** The next block and what follows it, as CHANGES messages. */
  foldBlock(envelopes: Iterable<Envelope> = this.#market.next()): ChangesMessage[] {
    return Array.from(envelopes, (envelope) => this.#apply(messageOf(envelope)))
  }

  /** A block of these pairs' trades, at a time of its own. */
  foldBlockAt(time: number, pairs: readonly number[]): ChangesMessage[] {
    return this.foldBlock(this.#market.blockAt(time, pairs))
  }

  commit(): void {
    this.#store.commit(this.#engine.pending(), { epoch: 'bench', sequence: this.#seq, link: 0 })
    this.#engine.committed()
    this.#uncommitted = 0
  }

  /**
   * Commits when the engine's role would, which is seldom in the course of a slice: each slice is charged with its swaps' share of the
   * last commit, so the first one goes on until there was one. The CPU time and the clock are those of the engine alone: making up
   * the messages is not part of the work.
   */
  readonly slice: Slice = (durationMs) => {
    const spent = { wall: 0, cpu: 0 }
    let units = 0
    let bytes = 0
    let wrong: string | undefined
    while (spent.wall * 1_000 < durationMs || this.#commitCpuPerSwap === undefined) {
      const folded = this.#foldNext(spent)
      units += folded.swaps
      bytes += folded.bytes
      if (isCommitDue(this.#engine.uncommittedBytes, this.#period.wallSeconds * 1_000)) {
        this.#commitPeriod()
        wrong ??= this.#difference()
      }
    }
    this.bytesPerSwap.push(bytes / units)
    wrong ??= this.#wrong()
    const cpuSeconds = spent.cpu + units * this.#commitCpuPerSwap
    return { units, cpuSeconds, complete: true, ...(wrong !== undefined && { wrong }) }
  }

  /** Folds on for a while, without a commit. */
  foldFor(durationMs: number): void {
    const spent = { wall: 0, cpu: 0 }
    while (spent.wall * 1_000 < durationMs) this.#foldNext(spent)
  }

  /** The trades of the next block. */
  sampleTrades(): Trade[] {
    return this.foldBlock().flatMap(({ bytes }) => tradesOf(bytes))
  }

  async close(isKept = false): Promise<void> {
    await this.#store.close()
    if (!isKept) rmSync(this.dir, { recursive: true, force: true })
  }

  #foldNext(spent: Spent): { swaps: number; bytes: number } {
    const messages = this.#nextMessages()
    const wallBefore = spent.wall
    let swaps = 0
    let changes: ChangesMessage[] = []
    timed(spent, () => {
      changes = messages.map((message) => this.#apply(message))
    })
    // The publisher compresses them; the pipeline's figure includes it.
    let bytes = 0
    for (const message of changes) {
      swaps += message.swaps
      bytes += storedBytes(message.bytes)
    }
    this.#period.swaps += swaps
    this.#period.wallSeconds += spent.wall - wallBefore
    return { swaps, bytes }
  }

  #commitPeriod(): void {
    const spent = { wall: 0, cpu: 0 }
    timed(spent, () => this.commit())
    const { swaps, wallSeconds } = this.#period
    this.#commitCpuPerSwap = spent.cpu / swaps
    this.#swaps += swaps
    this.#wallSeconds += wallSeconds + spent.wall
    this.#period = { swaps: 0, wallSeconds: 0 }
  }

  #nextMessages(): BlockMessage[] {
    return Array.from({ length: BLOCKS_AT_ONCE }, () => Array.from(this.#market.next(), messageOf)).flat()
  }

  /** The one place that the engine's own interface is used in. */
  #apply({ bytes, swaps }: BlockMessage, engine = this.#engine, seq = ++this.#seq): ChangesMessage {
    const changes = { swaps, seq, bytes: engine.apply(bytes, seq) }
    this.#uncommitted++
    if (swaps > 0) this.#last = changes
    return changes
  }

  /** Every swap is a trade with a price. */
  #wrong(): string | undefined {
    const { swaps, bytes } = this.#last ?? { swaps: 0, bytes: new Uint8Array() }
    const trades = tradesOf(bytes)
    if (trades.length !== swaps) return `${trades.length} trades of ${swaps} swaps`
    const unpriced = trades.find(({ valueUsd }) => valueUsd === undefined)
    return unpriced && `a trade of ${unpriced.pair} has no price`
  }

  /** An engine that knows nothing but the store says the same, byte by byte. */
  #difference(): string | undefined {
    const fresh = new Engine(this.#settings, this.#store)
    for (const message of Array.from(this.#market.next(), messageOf)) {
      const one = this.#apply(message)
      const other = this.#apply(message, fresh, one.seq)
      if (Buffer.compare(one.bytes, other.bytes) !== 0) {
        return `message ${one.seq} folds to something else in a new engine`
      }
    }
    return undefined
  }
}

function storedBytes(message: Uint8Array): number {
  return splitMessage(message, FIRST_LINK, Number.MAX_SAFE_INTEGER).reduce(
    (sum, { length }) => sum + length,
    0,
  )
}

function timed(spent: Spent, work: () => void): void {
  const wallStart = processClock.wallSeconds()
  const cpuStart = processClock.cpuSeconds()
  work()
  spent.cpu += processClock.cpuSeconds() - cpuStart
  spent.wall += processClock.wallSeconds() - wallStart
}

function tradesOf(changes: Uint8Array): Trade[] {
  return decodeChangeSet(changes).changes.flatMap((change) => (change.type === 'trade' ? [change.trade] : []))
}

export function messageOf(envelope: Envelope): BlockMessage {
  const swaps = envelope.kind === 'block' ? envelope.transactions.length : 0
  return { bytes: encodeEnvelope(envelope), swaps }
}
