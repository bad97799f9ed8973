import type { ByteReader } from '../wire/byte-reader.ts'
import type { ByteWriter } from '../wire/byte-writer.ts'
import { Key } from './key.ts'
import type { Fields, Layout } from './layout.ts'
import { maxPackedBytes, packWords, unpackWords } from './packed-words.ts'
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

type Table = { readonly rows: Rows<Fields>; readonly layout: Layout }

/** All tables of rows of one state, and the before-images that they share. */
export class RowTables {
  readonly #committed: CommittedRows
  readonly #tables: Table[] = []
  readonly #journal = new RowJournal()
  readonly #key = new Key()
  #packed = new DataView(new ArrayBuffer(1024))

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
    const needed = maxPackedBytes(words.length)
    if (needed > this.#packed.byteLength) this.#packed = new DataView(new ArrayBuffer(needed * 2))
    w.list(this.#tables, ({ rows }) => w.text(rows.name))
    w.varuint(words.length)
    w.bytes(new Uint8Array(this.#packed.buffer, 0, packWords(words, 0, words.length, this.#packed)))
  }

  readJournal(r: ByteReader): RowBefore[] {
    const names = r.list(() => r.text())
    const words = new Uint32Array(r.varuint())
    unpackWords(r.bytes(), words, 0, words.length)
    return [...this.#entriesOf(words, names)]
  }

  /** Undefined if the block had touched the row without changing it. */
  restore({ table, key, bytes }: RowBefore): RestoredRow | undefined {
    const { rows } = this.#named(table)
    this.#key.words.set(key)
    this.#key.length = key.length
    const undone = rows.bytesOf(this.#key)
    if (isSame(undone, bytes)) return undefined
    rows.restore(this.#key, bytes)
    return { id: rows.idOfKey(this.#key), undone, restored: bytes }
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

  #named(table: string): Table {
    const found = this.#tables.find(({ rows }) => rows.name === table)
    if (found === undefined) throw new Error(`a journal names the table ${table}, which does not exist`)
    return found
  }

  /** By the names of the tables when the journal was written. */
  *#entriesOf(words: Uint32Array, names: readonly string[]): Generator<RowBefore> {
    for (let at = 0; at < words.length; ) {
      const head = words[at] as number
      const keyAt = at + 2
      const rowAt = keyAt + (words[at + 1] as number)
      const { rows, layout } = this.#named(names[head >>> 1] ?? '')
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
