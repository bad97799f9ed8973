/** A key that an undo restored: all its undone values, latest first, and the restored one. */
export type Restored = {
  readonly table: string
  /** For a row: the parts of its key, joined by slashes. */
  readonly id: string
  /** In the encoding of `Codec` or `Rows.view`. */
  readonly undone: readonly Uint8Array[]
  /** The value right before the undo: the latest of `undone`, unless the key had been deleted. */
  readonly last: Uint8Array | undefined
  readonly restored: Uint8Array | undefined
}

type Undone = {
  readonly table: string
  readonly id: string
  readonly last: Uint8Array | undefined
  readonly undone: Uint8Array[]
  restored: Uint8Array | undefined
}

/** Collects the changes of an undo, block by block, from the latest block down. */
export class UndoneValues {
  readonly #byKey = new Map<string, Undone>()

  note(table: string, id: string, undone: Uint8Array | undefined, restored: Uint8Array | undefined): void {
    const key = `${table}/${id}`
    const known = this.#byKey.get(key) ?? { table, id, last: undone, undone: [], restored }
    if (undone !== undefined) known.undone.push(undone)
    known.restored = restored
    this.#byKey.set(key, known)
  }

  /** Sorted by `<table>/<id>`, independent of the order of writes. */
  finish(): Restored[] {
    return [...this.#byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, undone]) => undone)
  }
}
