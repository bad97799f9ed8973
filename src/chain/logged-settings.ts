import type { ChainSettings } from '../domain/chain-settings.ts'
import type { JournaledState } from '../state/journaled-state.ts'
import { ByteReader } from '../wire/byte-reader.ts'
import { ByteWriter } from '../wire/byte-writer.ts'
import { decodeSettings, encodeSettings } from '../wire/settings-codec.ts'

const ONLY = 'only'
const SETTINGS = 'settings'
/** Factories that were in earlier settings and are not in the last. */
const GONE = 'gone'
const ROUND = 'round'
const FIRST_ROUND = 1

/** What has to be asked again after a change of settings. */
type Subject = 'pools' | 'lockers'

/**
 * The last settings of the log, which no undo retracts. Facts carry the round in which they were read: a fact of an
 * earlier round is asked for again when it is next needed.
 */
export class LoggedSettings {
  readonly #state: JournaledState
  readonly #rounds = new Map<Subject, number>()

  constructor(state: JournaledState) {
    this.#state = state
  }

  get last(): ChainSettings | undefined {
    const bytes = this.#state.getOutsideBlocks(SETTINGS, ONLY)
    return bytes === undefined ? undefined : decodeSettings(bytes)
  }

  equals(settings: ChainSettings): boolean {
    const bytes = this.#state.getOutsideBlocks(SETTINGS, ONLY)
    return bytes !== undefined && Buffer.compare(bytes, encodeSettings(settings)) === 0
  }

  apply(settings: ChainSettings): void {
    const before = this.last
    this.#state.setOutsideBlocks(SETTINGS, ONLY, encodeSettings(settings))
    if (before === undefined) return
    if (before.lockers.join() !== settings.lockers.join()) this.#next('lockers')
    const [old, now] = [before, settings].map(
      ({ dexes }) => new Set(dexes.map(({ factory }) => factory)),
    ) as [Set<string>, Set<string>]
    for (const factory of old)
      if (!now.has(factory)) this.#state.setOutsideBlocks(GONE, factory, new Uint8Array([1]))
    const returned = [...now].filter((factory) => this.#isGone(factory))
    for (const factory of returned) this.#state.setOutsideBlocks(GONE, factory, undefined)
    // Reserves that are counted lack the flows in between.
    if (returned.length > 0) this.#next('pools')
  }

  round(subject: Subject): number {
    const cached = this.#rounds.get(subject)
    if (cached !== undefined) return cached
    const bytes = this.#state.getOutsideBlocks(ROUND, subject)
    const round = bytes === undefined ? FIRST_ROUND : new ByteReader(bytes).varuint()
    this.#rounds.set(subject, round)
    return round
  }

  /** The state has returned to its last commit. */
  abandon(): void {
    this.#rounds.clear()
  }

  #isGone(factory: string): boolean {
    return this.#state.getOutsideBlocks(GONE, factory) !== undefined
  }

  #next(subject: Subject): void {
    const w = new ByteWriter(8)
    w.varuint(this.round(subject) + 1)
    this.#state.setOutsideBlocks(ROUND, subject, w.finish())
    this.#rounds.delete(subject)
  }
}
