import type { ChangeSet } from '../domain/change.ts'
import type { FinalEnvelope, SettingsEnvelope, UndoEnvelope } from '../domain/envelope.ts'
import { ChaintapeError } from '../domain/errors.ts'
import type { Generation } from '../domain/generation.ts'
import { never } from '../domain/ids.ts'
import type { Value } from '../domain/money.ts'
import { fitsId } from '../state/id-words.ts'
import { type CommittedState, JournaledState, type Writes } from '../state/journaled-state.ts'
import { ByteReader } from '../wire/byte-reader.ts'
import { ByteWriter } from '../wire/byte-writer.ts'
import { appendChanges } from '../wire/change-codec.ts'
import { ChangeSetWriter } from '../wire/change-set-writer.ts'
import { type OpenedBlock, openEnvelope } from '../wire/envelope-codec.ts'
import { decodeSettings, encodeSettings } from '../wire/settings-codec.ts'
import { BlockFold } from './block-fold.ts'
import { corrections } from './corrections.ts'
import { DEFERRAL, DeferredDocuments } from './deferred-documents.ts'
import { type Explanation, explain } from './price/explain.ts'
import { type EngineSettings, engineSettings } from './settings.ts'
import { SettingsFold } from './settings-fold.ts'
import { type EngineTables, ONLY, openTables, type Tip } from './tables.ts'
import { withoutEvents } from './without-events.ts'

const FLOOR = 'floor'
/** The last settings of the log, which no undo retracts. */
const SETTINGS = 'settings'
/** Blocks after a quarantined message that was, or may have been, the next block. */
const GAP = 'gap'
const NO_BLOCK: Tip = { number: 0, hash: `0x${'0'.repeat(64)}`, time: 0 }

/** Where a fold differs from the first one of the chain. */
export type FoldRules = Pick<Generation, 'settingsAt' | 'from'>

/** The settings in force, and their bytes if they are in the log. */
type InForce = { readonly settings: EngineSettings; readonly bytes: Uint8Array | undefined }

/**
 * The fold: one BLOCKS message in, one CHANGES message out. Pure and synchronous: it reads committed state and buffers
 * its changes in memory until its owner commits `pending()` together with the log position.
 */
export class Engine {
  readonly #initial: EngineSettings
  /** Undefined until they are read from the state. */
  #inForce: InForce | undefined
  readonly #state: JournaledState
  readonly #tables: EngineTables
  readonly #deferred: DeferredDocuments
  readonly #settingsFold: SettingsFold
  readonly #changes = new ChangeSetWriter()
  readonly #rules: FoldRules

  /** `initial` applies until the first settings in the log that `rules` do not skip. */
  constructor(
    initial: EngineSettings,
    committed: CommittedState,
    rules: FoldRules = {},
    deferral = DEFERRAL,
  ) {
    this.#initial = initial
    this.#rules = rules
    this.#state = new JournaledState(committed)
    this.#tables = openTables(this.#state)
    this.#deferred = new DeferredDocuments(this.#tables, deferral)
    this.#settingsFold = new SettingsFold(this.#tables, initial)
  }

  /** `seq` is the message's sequence in BLOCKS, and becomes the version of every change. */
  apply(message: Uint8Array, seq: number): Uint8Array {
    const envelope = openEnvelope(message)
    switch (envelope.kind) {
      case 'block':
        this.#applyBlock(envelope, seq)
        break
      case 'undo':
        this.#undo(envelope, seq)
        break
      case 'final':
        this.#finalise(envelope, seq)
        break
      case 'settings':
        this.#adopt(envelope, seq)
        break
      default:
        never(envelope)
    }
    return this.#finish()
  }

  /** Blocks before the first one of interest count for all later ones, but their events are not published. */
  #finish(): Uint8Array {
    const bytes = this.#changes.finish()
    const { from = 0 } = this.#rules
    return (this.tip?.time ?? from) < from ? withoutEvents(bytes) : bytes
  }

  /**
   * Applies a quarantined message, which may be unreadable. A block keeps its position in the chain, without its
   * contents. After any other message, the parent of the next block is not checked.
   */
  skip(message: Uint8Array, seq: number): Uint8Array {
    const envelope = openIfPossible(message)
    if (envelope?.kind === 'block' && this.#follows(envelope)) {
      this.#applyBlock({ ...envelope, transactions: [], facts: [] }, seq)
      return this.#finish()
    }
    const tip = this.tip
    if (tip !== undefined) this.#state.setOutsideBlocks(GAP, String(tip.number), new Uint8Array([1]))
    this.#begin('final', seq, tip ?? NO_BLOCK)
    return this.#changes.finish()
  }

  get tip(): Tip | undefined {
    return this.#tables.tip.get(ONLY)
  }

  /** Explains a token's price as of the last applied block. */
  explain(token: string): Explanation | undefined {
    return explain(token, this.#settings.settings, this.#tables)
  }

  /** Dollars in the pools of a token, or in a pool, as of the last applied block. */
  liquidityOf(address: string): Value | undefined {
    if (!fitsId(address)) return undefined
    const { tokens, pairs } = this.#tables
    return (tokens.get(address) ?? pairs.get(address))?.tvlUsd
  }

  /** Approximate memory of the uncommitted changes. */
  get uncommittedBytes(): number {
    return this.#state.uncommittedBytes
  }

  pending(): Writes {
    return this.#state.pending()
  }

  committed(): void {
    this.#state.committed()
    const { pairs, prices, candles, tokens } = this.#tables
    if ([pairs, prices, candles, tokens].some(({ hasEvicted }) => hasEvicted)) this.#closeOpened()
  }

  abandon(): void {
    this.#state.abandon()
    this.#inForce = undefined
    this.#tables.pairs.forgetNames()
    this.#tables.visits.abandon()
    this.#deferred.forget()
    this.#closeOpened()
  }

  /** Closes views that hold slots: evicted rows leave theirs, and after an undo slots may hold other rows. */
  #closeOpened(): void {
    this.#tables.pools.close()
    this.#tables.pairs.close()
    this.#tables.tokens.close()
  }

  #applyBlock(block: OpenedBlock, seq: number): void {
    const tip = this.tip
    if (tip !== undefined && !this.#follows(block)) {
      throw new ChaintapeError(
        'broken_link',
        `block ${block.number} (parent ${block.parentHash}) does not follow ${tip.number} (${tip.hash})`,
      )
    }
    if (this.#floor === undefined) this.#raiseFloor(Math.max(0, block.number - 1))
    const { startTime, windowsSince } = this.#tables
    const { number, hash, time } = block
    if (startTime.get(ONLY) === undefined) startTime.put(ONLY, time)
    if (block.isOld) windowsSince.put(ONLY, Math.max(windowsSince.get(ONLY) ?? 0, time + 1))
    this.#begin('block', seq, { number, hash, time })
    if (this.#tables.pairs.isCrowded || this.#tables.tokens.isCrowded) this.#closeOpened()
    const { settings, bytes } = this.#settings
    const assets = this.#settingsFold.run(settings, bytes, number)
    new BlockFold(settings, this.#tables, block, this.#changes, this.#deferred, assets).run()
    this.#tables.tip.put(ONLY, { number, hash, time })
    this.#state.sealBlock(number)
  }

  /** Takes effect with the next block. */
  #adopt({ chain, settings }: SettingsEnvelope, seq: number): void {
    if (seq <= (this.#rules.settingsAt ?? 0)) {
      this.#begin('final', seq, this.tip ?? NO_BLOCK)
      return
    }
    const bytes = encodeSettings(settings)
    this.#inForce = { settings: engineSettings(chain, settings), bytes }
    this.#state.setOutsideBlocks(SETTINGS, ONLY, bytes)
    // Pools remember their exchange.
    this.#closeOpened()
    this.#begin('final', seq, this.tip ?? NO_BLOCK)
  }

  get #settings(): InForce {
    if (this.#inForce === undefined) {
      const bytes = this.#state.getOutsideBlocks(SETTINGS, ONLY)?.slice()
      const { chain } = this.#initial
      const settings = bytes === undefined ? this.#initial : engineSettings(chain, decodeSettings(bytes))
      this.#inForce = { settings, bytes }
    }
    return this.#inForce
  }

  #follows({ parentHash, number }: OpenedBlock): boolean {
    const tip = this.tip
    if (tip === undefined) return true
    return number > tip.number && (parentHash === tip.hash || this.#isGap(tip.number))
  }

  #isGap(number: number): boolean {
    return this.#state.getOutsideBlocks(GAP, String(number)) !== undefined
  }

  #undo({ lastValid }: UndoEnvelope, seq: number): void {
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
    this.#tables.pairs.forgetNames()
    this.#deferred.forget()
    this.#closeOpened()
    this.#tables.visits.undo(restored)
    const now = this.tip ?? { ...lastValid, time: 0 }
    const isInGap = lastValid.number > now.number && this.#isGap(now.number)
    if (now.hash !== lastValid.hash && !isInGap) {
      throw new ChaintapeError(
        'broken_link',
        `undo to ${lastValid.hash}, but block ${now.number} is ${now.hash}`,
      )
    }
    this.#begin('undo', seq, now)
    appendChanges(this.#changes, corrections(restored, this.#tables))
  }

  #finalise({ upTo }: FinalEnvelope, seq: number): void {
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
    this.#begin('final', seq, tip)
  }

  /** Begins the message; changes are appended to it. */
  #begin(cause: ChangeSet['cause'], seq: number, head: Tip): void {
    const startTime = this.#tables.windowsSince.get(ONLY) ?? this.#tables.startTime.get(ONLY)
    const whole = startTime === undefined ? head : { ...head, startTime }
    this.#changes.begin({
      chain: this.#initial.chain,
      seq,
      cause,
      head: whole,
      finalNumber: this.#floor ?? 0,
    })
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

function openIfPossible(message: Uint8Array): ReturnType<typeof openEnvelope> | undefined {
  try {
    return openEnvelope(message)
  } catch {
    return undefined
  }
}
