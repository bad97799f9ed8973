import type { ChangeSet } from '../../../../../src/domain/change.ts'
import type {
  BlockEnvelope,
  Envelope,
  FinalEnvelope,
  UndoEnvelope,
} from '../../../../../src/domain/envelope.ts'
import { ChaintapeError } from '../../../../../src/domain/errors.ts'
import { never } from '../../../../../src/domain/ids.ts'
import { type CommittedState, JournaledState, type Writes } from '../state/journaled-state.ts'
import { ByteReader } from '../wire/byte-reader.ts'
import { ByteWriter } from '../wire/byte-writer.ts'
import { BlockFold } from './block-fold.ts'
import { corrections } from './corrections.ts'
import { type Explanation, explain } from './price/explain.ts'
import type { EngineSettings } from './settings.ts'
import { type EngineTables, ONLY, openTables, type Tip } from './tables.ts'

const FLOOR = 'floor'
/** Blocks after which a quarantined message stands that was, or may have been, the next block. */
const GAP = 'gap'
const NO_BLOCK: Tip = { number: 0, hash: `0x${'0'.repeat(64)}`, time: 0 }

/**
 * The fold: envelopes in, change sets out. Pure and synchronous; it reads committed state and keeps what it
 * changes in memory until its owner commits `pending()` together with the log position.
 */
export class Engine {
  readonly #settings: EngineSettings
  readonly #state: JournaledState
  readonly #tables: EngineTables

  constructor(settings: EngineSettings, committed: CommittedState) {
    this.#settings = settings
    this.#state = new JournaledState(committed)
    this.#tables = openTables(this.#state)
  }

  /** `seq` is the envelope's sequence in BLOCKS: it becomes the version of all that changed. */
  apply(envelope: Envelope, seq: number): ChangeSet {
    switch (envelope.kind) {
      case 'block':
        return this.#applyBlock(envelope, seq)
      case 'undo':
        return this.#undo(envelope, seq)
      case 'final':
        return this.#finalise(envelope, seq)
      default:
        return never(envelope)
    }
  }

  /**
   * A message that is quarantined; undefined if it cannot even be decoded. A block keeps its place in the chain, without
   * its contents. After anything else, the next block need not name the tip as its parent.
   */
  skip(envelope: Envelope | undefined, seq: number): ChangeSet {
    if (envelope?.kind === 'block' && this.#follows(envelope)) {
      return this.#applyBlock({ ...envelope, transactions: [], facts: [] }, seq)
    }
    const tip = this.tip
    if (tip !== undefined) this.#state.setOutsideBlocks(GAP, String(tip.number), new Uint8Array([1]))
    return this.#changeSet('final', seq, tip ?? NO_BLOCK, [])
  }

  get tip(): Tip | undefined {
    return this.#tables.tip.get(ONLY)
  }

  /** Where a token's price comes from, as of the last block applied. */
  explain(token: string): Explanation | undefined {
    return explain(token, this.#settings, this.#tables)
  }

  pending(): Writes {
    return this.#state.pending()
  }

  committed(): void {
    this.#state.committed()
  }

  abandon(): void {
    this.#state.abandon()
  }

  #applyBlock(block: BlockEnvelope, seq: number): ChangeSet {
    const tip = this.tip
    if (tip !== undefined && !this.#follows(block)) {
      throw new ChaintapeError(
        'broken_link',
        `block ${block.number} (parent ${block.parentHash}) does not follow ${tip.number} (${tip.hash})`,
      )
    }
    if (this.#floor === undefined) this.#raiseFloor(Math.max(0, block.number - 1))
    if (this.#tables.startTime.get(ONLY) === undefined) this.#tables.startTime.put(ONLY, block.time)
    const changes = new BlockFold(this.#settings, this.#tables, block).run()
    const { number, hash, time } = block
    this.#tables.tip.put(ONLY, { number, hash, time })
    this.#state.sealBlock(number)
    return this.#changeSet('block', seq, { number, hash, time }, changes)
  }

  #follows({ parentHash, number }: BlockEnvelope): boolean {
    const tip = this.tip
    if (tip === undefined) return true
    return number > tip.number && (parentHash === tip.hash || this.#isGap(tip.number))
  }

  #isGap(number: number): boolean {
    return this.#state.getOutsideBlocks(GAP, String(number)) !== undefined
  }

  #undo({ lastValid }: UndoEnvelope, seq: number): ChangeSet {
    const tip = this.tip
    if (tip === undefined || lastValid.number >= tip.number) {
      throw new ChaintapeError('broken_link', `nothing to undo after block ${lastValid.number}`)
    }
    if (lastValid.number < (this.#floor ?? 0)) {
      throw new ChaintapeError(
        'fork_below_final',
        `block ${lastValid.number} is below the final block ${this.#floor}`,
      )
    }
    const restored = this.#state.undoBlocks(lastValid.number + 1, tip.number)
    const now = this.tip ?? { ...lastValid, time: 0 }
    const isInGap = lastValid.number > now.number && this.#isGap(now.number)
    if (now.hash !== lastValid.hash && !isInGap) {
      throw new ChaintapeError(
        'broken_link',
        `undo to ${lastValid.hash}, but block ${now.number} is ${now.hash}`,
      )
    }
    return this.#changeSet('undo', seq, now, corrections(restored))
  }

  #finalise({ upTo }: FinalEnvelope, seq: number): ChangeSet {
    const tip = this.tip
    const floor = this.#floor
    if (tip === undefined || floor === undefined || upTo.number > tip.number) {
      throw new ChaintapeError('broken_link', `block ${upTo.number} is final before it was applied`)
    }
    if (upTo.number > floor) {
      this.#state.forgetBlocks(floor + 1, upTo.number)
      for (let number = floor + 1; number <= upTo.number; number++) {
        this.#state.setOutsideBlocks('emitted', String(number), undefined)
      }
      this.#raiseFloor(upTo.number)
    }
    return this.#changeSet('final', seq, tip, [])
  }

  #changeSet(cause: ChangeSet['cause'], seq: number, head: Tip, changes: ChangeSet['changes']): ChangeSet {
    const startTime = this.#tables.startTime.get(ONLY)
    const whole = startTime === undefined ? head : { ...head, startTime }
    return { chain: this.#settings.chain, seq, cause, head: whole, finalNumber: this.#floor ?? 0, changes }
  }

  /** The last block that cannot be undone. It only rises, and no undo ever lowers it. */
  get #floor(): number | undefined {
    const bytes = this.#state.getOutsideBlocks(FLOOR, ONLY)
    return bytes === undefined ? undefined : new ByteReader(bytes).varuint()
  }

  #raiseFloor(number: number): void {
    const w = new ByteWriter(8)
    w.varuint(number)
    this.#state.setOutsideBlocks(FLOOR, ONLY, w.finish())
  }
}
