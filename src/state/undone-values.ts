/** A key whose value an undo changed back: all values it had since, newest first, and the one it has again. */
export type Restored = {
  readonly table: string
  /** Of a row: the parts of its key, joined by slashes. */
  readonly id: string
  /** As `RecordCodec` or `Rows.view` reads them. */
  readonly undone: readonly Uint8Array[]
  /** What it had right before: the newest of those, unless the key had been deleted since. */
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

/** Gathers what an undo changes, block by block, from the newest block down. */
export class UndoneValues {
  readonly #byKey = new Map<string, Undone>()

  note(table: string, id: string, undone: Uint8Array | undefined, restored: Uint8Array | undefined): void {
    const key = `${table}/${id}`
    const known = this.#byKey.get(key) ?? { table, id, last: undone, undone: [], restored }
    if (undone !== undefined) known.undone.push(undone)
    known.restored = restored
    this.#byKey.set(key, known)
  }

  /** In the order of `<table>/<id>`, which does not depend on how the blocks wrote. */
  finish(): Restored[] {
    return [...this.#byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, undone]) => undone)
  }
}
