import { Key } from '../state/key.ts'
import type { Fields } from '../state/layout.ts'
import type { Rows } from '../state/rows.ts'

/** Where the rows of a table stand, by id. Rows stay where they are until a commit, so each is looked for once. */
export class KeptSlots {
  readonly #rows: Pick<Rows<Fields>, 'reserve'>
  readonly #key = new Key()
  readonly #slots = new Map<string, number>()

  constructor(rows: Pick<Rows<Fields>, 'reserve'>) {
    this.#rows = rows
  }

  /** Whether there is a row or not: `rows.exists` tells. */
  slotOf(id: string): number {
    const kept = this.#slots.get(id)
    if (kept !== undefined) return kept
    const slot = this.#rows.reserve(this.#key.clear().id(id))
    this.#slots.set(id, slot)
    return slot
  }

  /** Rows may have moved. */
  forget(): void {
    this.#slots.clear()
  }
}
