import type { ByteReader } from '../wire/byte-reader.ts'
import type { ByteWriter } from '../wire/byte-writer.ts'
import { Key } from './key.ts'
import type { Fields, Layout } from './layout.ts'
import { RowJournal } from './row-journal.ts'
import { type CommittedRows, Rows, type RowsOptions } from './rows.ts'

/** What a row was before a block; undefined if it did not exist. */
export type RowBefore = {
  readonly table: string
  readonly key: Uint32Array
  readonly bytes: Uint8Array | undefined
}

/** What an undo did to one row. */
export type RestoredRow = {
  readonly id: string
  readonly undone: Uint8Array | undefined
  readonly restored: Uint8Array | undefined
}

/** All tables of rows of one state, and the before-images that they share. */
export class RowTables {
  readonly #committed: CommittedRows
  readonly #tables: { readonly rows: Rows<Fields>; readonly layout: Layout }[] = []
  readonly #journal = new RowJournal()
  readonly #key = new Key()

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

  /** Ends the open block and gives its before-images. */
  seal(): Uint32Array {
    return this.#journal.seal()
  }

  /** Ends the open block, which can never be undone. */
  sealFinal(): void {
    this.#journal.clear()
  }

  writeJournal(w: ByteWriter, words: Uint32Array): void {
    const entries = [...this.#entriesOf(words)]
    w.list(entries, ({ table, key, bytes }) => {
      w.text(table)
      w.list([...key], (word) => w.u32(word))
      w.optional(bytes, (known) => w.bytes(known))
    })
  }

  readJournal(r: ByteReader): RowBefore[] {
    return r.list(() => ({
      table: r.text(),
      key: Uint32Array.from(r.list(() => r.u32())),
      bytes: r.optional(() => r.bytes()),
    }))
  }

  /** Undefined if the block had touched the row without changing it. */
  restore({ table, key, bytes }: RowBefore): RestoredRow | undefined {
    const found = this.#tables.find(({ rows }) => rows.name === table)
    if (found === undefined) throw new Error(`a journal names the table ${table}, which is not known`)
    this.#key.words.set(key)
    this.#key.length = key.length
    const undone = found.rows.bytesOf(this.#key)
    if (isSame(undone, bytes)) return undefined
    found.rows.restore(this.#key, bytes)
    return { id: found.rows.idOfKey(this.#key), undone, restored: bytes }
  }

  *writes(): Generator<readonly [Uint8Array, Uint8Array | undefined]> {
    this.mustBeBetweenBlocks()
    for (const { rows } of this.#tables) yield* rows.writes()
  }

  /** Rows change in place, so a block that is half applied can be neither committed nor undone. */
  mustBeBetweenBlocks(): void {
    if (!this.#journal.isEmpty) throw new Error('rows were changed by a block that is not sealed yet')
  }

  committed(): void {
    for (const { rows } of this.#tables) rows.committed()
  }

  abandon(): void {
    this.#journal.clear()
    for (const { rows } of this.#tables) rows.abandon()
  }

  *#entriesOf(words: Uint32Array): Generator<RowBefore> {
    for (let at = 0; at < words.length; ) {
      const head = words[at] as number
      const keyAt = at + 2
      const rowAt = keyAt + (words[at + 1] as number)
      const found = this.#tables[head >>> 1]
      if (found === undefined) throw new Error(`no table ${head >>> 1}`)
      const { rows, layout } = found
      const isThere = (head & 1) === 1
      const bytes = isThere ? rows.packed(words, rowAt) : undefined
      yield { table: rows.name, key: words.subarray(keyAt, rowAt), bytes }
      at = rowAt + (isThere ? layout.storedWords : 0)
    }
  }
}

function isSame(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a === undefined || b === undefined ? a === b : Buffer.compare(a, b) === 0
}
