import type { ByteReader } from '../wire/byte-reader.ts'
import type { ByteWriter } from '../wire/byte-writer.ts'
import { Key } from './key.ts'
import type { Fields, Layout } from './layout.ts'
import { RowJournal } from './row-journal.ts'
import { type CommittedRows, Rows, type RowsOptions } from './rows.ts'
import { endOfChanged, SealedRows } from './sealed-rows.ts'
import { WriteBatch } from './write-batch.ts'

/** The undo log of a row: see `SealedRows`. */
export type RowBefore = {
  readonly table: string
  readonly key: Uint32Array
  /** Undefined if the row did not exist. */
  readonly changed: Uint32Array | undefined
}

/** The effect of an undo on one row. */
export type RestoredRow = {
  readonly id: string
  readonly undone: Uint8Array | undefined
  readonly restored: Uint8Array | undefined
}

type Table = { readonly rows: Rows<Fields>; readonly layout: Layout }

/** All tables of rows of one state, and the journal of before-images that they share. */
export class RowTables {
  readonly #committed: CommittedRows
  readonly #tables: Table[] = []
  readonly #journal = new RowJournal()
  readonly #key = new Key()
  readonly #sealed = new SealedRows()

  constructor(committed: CommittedRows) {
    this.#committed = committed
  }

  open<F extends Fields>(name: string, layout: Layout<F>, options: RowsOptions): Rows<F> {
    const table = this.#tables.length
    const rows = new Rows(
      { name, table, layout, journal: this.#journal, committed: this.#committed },
      options,
    )
    this.#tables.push({ rows: rows as unknown as Rows<Fields>, layout })
    return rows
  }

  /** Ends the current block and returns its undo log. */
  seal(): Uint32Array {
    const { words, length } = this.#journal
    for (let at = 0; at < length; ) {
      const head = words[at] as number
      const { rows, layout } = this.#tables[head >>> 1] as Table
      const existed = (head & 1) === 1
      rows.seal(words[at + 1] as number, existed, words, at + 2, this.#sealed)
      at += 2 + (existed ? layout.storedWords : 0)
    }
    this.#journal.clear()
    return this.#sealed.take()
  }

  writeJournal(w: ByteWriter, sealed: Uint32Array): void {
    w.list(this.#tables, ({ rows }) => w.text(rows.name))
    w.bytes(new Uint8Array(sealed.buffer, sealed.byteOffset, sealed.byteLength))
  }

  readJournal(r: ByteReader): RowBefore[] {
    const names = r.list(() => r.text())
    // A copy, because the words of a journal are not aligned.
    const bytes = Uint8Array.from(r.bytes())
    return [...this.#entriesOf(new Uint32Array(bytes.buffer), names)]
  }

  restore({ table, key, changed }: RowBefore): RestoredRow {
    const { rows } = this.#named(table)
    this.#key.words.set(key)
    this.#key.length = key.length
    const slot = rows.reserve(this.#key)
    const undone = rows.bytesOf(slot)
    rows.restore(slot, changed)
    return { id: rows.idOf(slot), undone, restored: rows.bytesOf(slot) }
  }

  get uncommittedBytes(): number {
    let bytes = 0
    for (const { rows } of this.#tables) bytes += rows.uncommittedBytes
    return bytes
  }

  /** All rows that changed since the last commit. */
  writes(): WriteBatch {
    this.mustBeBetweenBlocks()
    const batch = new WriteBatch()
    for (const { rows } of this.#tables) rows.addWrites(batch)
    return batch
  }

  /** Rows change in place, so a partly applied block can be neither committed nor undone. */
  mustBeBetweenBlocks(): void {
    if (this.#journal.length > 0) throw new Error('rows were changed by a block that is not sealed yet')
  }

  committed(): void {
    for (const { rows } of this.#tables) rows.committed()
  }

  abandon(): void {
    this.#journal.clear()
    for (const { rows } of this.#tables) rows.abandon()
  }

  #named(table: string): Table {
    const found = this.#tables.find(({ rows }) => rows.name === table)
    if (found === undefined) throw new Error(`a journal names the table ${table}, which does not exist`)
    return found
  }

  /** Resolves tables by their names at the time the journal was written. */
  *#entriesOf(sealed: Uint32Array, names: readonly string[]): Generator<RowBefore> {
    for (let at = 0; at < sealed.length; ) {
      const head = sealed[at] as number
      const keyAt = at + 2
      const rowAt = keyAt + (sealed[at + 1] as number)
      const { rows, layout } = this.#named(names[head >>> 1] ?? '')
      const existed = (head & 1) === 1
      at = existed ? endOfChanged(sealed, rowAt, layout.storedWords) : rowAt
      const changed = existed ? sealed.subarray(rowAt, at) : undefined
      yield { table: rows.name, key: sealed.subarray(keyAt, rowAt), changed }
    }
  }
}
