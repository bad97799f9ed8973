import { ChaintapeError } from '../domain/errors.ts'
import { RecentlyUsed } from '../domain/recently-used.ts'
import { ByteReader } from '../wire/byte-reader.ts'
import { ByteWriter } from '../wire/byte-writer.ts'
import type { Codec } from '../wire/codec.ts'
import type { Fields, Layout } from './layout.ts'
import { type Entry, newVersion, type Step, sealedOf, type Version, VersionBytes } from './record-versions.ts'
import { type RowBefore, RowTables } from './row-tables.ts'
import type { CommittedRows, Rows, RowsOptions } from './rows.ts'
import type { HashSecret } from './slot-index.ts'
import { type Restored, UndoneValues } from './undone-values.ts'

/** A record has the key `<table>/<id>`; a row's key is already encoded, see `decodeStateKey`. */
export type StateKey = string | Uint8Array

/** The underlying committed state, read synchronously. */
export type CommittedState = CommittedRows & { get(key: StateKey): Uint8Array | undefined }

export type Table<T> = {
  get(id: string): T | undefined
  /** The record must not be modified afterwards, because it may be encoded much later. */
  put(id: string, record: T): void
  delete(id: string): void
}

/** `undefined` deletes the key. */
export type Writes = Iterable<readonly [StateKey, Uint8Array | undefined]>

type RecordBefore = [key: string, before: Uint8Array | undefined]

/** The undo log of a block: its steps, and the before-images of its rows. */
type Journal = { readonly steps: readonly Step[]; readonly rows: Uint32Array }

const JOURNAL = 'journal'
/** Approximate memory of a decoded record or a journal step. */
const RECORD_BYTES = 256

/** Decoded records cached per table: enough for frequently traded pairs, and a bound on memory. */
const MAX_CACHED = 20_000

/**
 * State with an undo log for its latest blocks. For every key that a block changes, it saves the value before the block
 * (first touch wins); undo restores those values in reverse order. Nothing is computed backwards, so an undo restores
 * the state byte for byte.
 *
 * Changes accumulate in memory until the owner commits `pending()`, together with its log position, in one transaction
 * of the underlying store. Only then are they encoded: a record that many blocks changed is written once, with its last
 * version, and a block that became final meanwhile needs no journal.
 */
export class JournaledState {
  readonly #committed: CommittedState
  readonly #rows: RowTables
  readonly #caches = new Map<string, RecentlyUsed<Entry>>()
  /** In the order of their first write, which depends on the blocks alone. */
  #blockWrites: Entry[] = []
  /** Journals of the blocks since changes were last encoded. */
  readonly #journals = new Map<number, Journal>()
  #journalBytes = 0
  readonly #unwritten = new Map<string, Entry>()
  /** Changes that are already encoded. */
  readonly #pending = new Map<string, Uint8Array | undefined>()
  readonly #versions = new VersionBytes()
  readonly #journal = new ByteWriter()

  constructor(committed: CommittedState) {
    this.#committed = committed
    this.#rows = new RowTables(committed)
  }

  /** For hash tables in memory whose keys attackers choose. */
  get hashSecret(): HashSecret {
    return this.#committed.hashSecret ?? [0, 0]
  }

  /** `maxCached` limits the cache of decoded records; use a small one for large records that are rarely read again. */
  table<T>(name: string, codec: Codec<T>, maxCached = MAX_CACHED): Table<T> {
    const cache = new RecentlyUsed<Entry>(maxCached)
    this.#caches.set(name, cache)
    const entryOf = (id: string): Entry => cache.get(id) ?? this.#load(cache, name, id, codec)
    return {
      get: (id) => entryOf(id).record as T | undefined,
      put: (id, record) => this.#write(entryOf(id), record),
      delete: (id) => this.#write(entryOf(id), undefined),
    }
  }

  /** A table of fixed-size rows, for records that change with every trade. */
  rows<F extends Fields>(name: string, layout: Layout<F>, options: RowsOptions): Rows<F> {
    return this.#rows.open(name, layout, options)
  }

  /** Ends a block: its changes become pending, and the values before them go into its journal. */
  sealBlock(number: number): void {
    const steps: Step[] = []
    for (const entry of this.#blockWrites) {
      const before = entry.before as Version
      entry.before = undefined
      if (before.record === entry.version.record) continue
      steps.push({ entry, before, after: entry.version })
      if (entry.isUnwritten) continue
      entry.isUnwritten = true
      this.#unwritten.set(entry.key, entry)
    }
    this.#blockWrites = []
    const journal = { steps, rows: this.#rows.seal() }
    this.#journals.set(number, journal)
    this.#journalBytes += sizeOf(journal)
    // Evicts only now, because the cache holds the only copy of a block's writes until it is sealed.
    for (const cache of this.#caches.values()) cache.evict()
  }

  /** Undoes the blocks from `last` down to `first` and returns the restored keys. */
  undoBlocks(first: number, last: number): Restored[] {
    this.#rows.mustBeBetweenBlocks()
    this.#writeDown()
    const journals: { number: number; records: RecordBefore[]; rows: RowBefore[] }[] = []
    // All journals are read before anything is restored, so that a block without a journal does not leave half an undo.
    for (let number = last; number >= first; number--) {
      journals.push({ number, ...this.#readJournal(number) })
    }
    const undone = new UndoneValues()
    for (const { number, records, rows } of journals) {
      for (const [key, before] of records) {
        const slash = key.indexOf('/')
        undone.note(key.slice(0, slash), key.slice(slash + 1), this.#bytes(key), before)
        this.#pending.set(key, before)
      }
      for (const row of rows) {
        const { id, undone: last, restored } = this.#rows.restore(row)
        undone.note(row.table, id, last, restored)
      }
      this.#pending.set(journalKey(number), undefined)
    }
    this.#forgetRecords()
    return undone.finish()
  }

  /** Drops the journals of the blocks from `first` up to `last`. */
  forgetBlocks(first: number, last: number): void {
    for (let number = first; number <= last; number++) {
      const journal = this.#journals.get(number)
      if (journal === undefined) this.#pending.set(journalKey(number), undefined)
      else {
        this.#journals.delete(number)
        this.#journalBytes -= sizeOf(journal)
      }
    }
  }

  /** Reads a key that no block ever writes. */
  getOutsideBlocks(table: string, id: string): Uint8Array | undefined {
    return this.#bytes(keyOf(table, id))
  }

  /** Sets (or, with `undefined`, deletes) a key outside of any block; an undo does not restore it. */
  setOutsideBlocks(table: string, id: string, value: Uint8Array | undefined): void {
    const key = keyOf(table, id)
    this.#caches.get(table)?.delete(id)
    this.#unwritten.delete(key)
    this.#pending.set(key, value)
  }

  /** Approximate memory of the changes since the last commit. */
  get uncommittedBytes(): number {
    return this.#journalBytes + this.#rows.uncommittedBytes + this.#unwritten.size * RECORD_BYTES
  }

  /** All changes since the last commit. */
  *pending(): Generator<readonly [StateKey, Uint8Array | undefined]> {
    this.#writeDown()
    yield* this.#pending
    yield* this.#rows.writes()
  }

  /** Called once `pending()` is durable. */
  committed(): void {
    this.#pending.clear()
    this.#rows.committed()
  }

  /** Returns to the last committed state. */
  abandon(): void {
    this.#pending.clear()
    this.#unwritten.clear()
    this.#forgetJournals()
    this.#rows.abandon()
    this.#forgetRecords()
  }

  #load<T>(cache: RecentlyUsed<Entry>, table: string, id: string, codec: Codec<T>): Entry {
    const key = keyOf(table, id)
    const entry = this.#unwritten.get(key) ?? this.#read(key, codec as Codec<unknown>)
    cache.set(id, entry)
    return entry
  }

  #read(key: string, codec: Codec<unknown>): Entry {
    const bytes = this.#bytes(key)
    const record = bytes === undefined ? undefined : codec.read(new ByteReader(bytes))
    return { key, codec, record, version: newVersion(record), before: undefined, isUnwritten: false }
  }

  #write(entry: Entry, record: unknown): void {
    entry.record = record
    if (entry.before === undefined) {
      entry.before = entry.version
      entry.version = newVersion(record)
      this.#blockWrites.push(entry)
    } else entry.version.record = record
  }

  /** Encodes all changes as pending bytes. */
  #writeDown(): void {
    const unwritten = [...this.#unwritten.values()]
    this.#versions.clear()
    for (const entry of unwritten) this.#versions.place(sealedOf(entry), entry.codec)
    for (const [number, journal] of this.#journals) {
      this.#pending.set(journalKey(number), this.#bytesOfJournal(journal))
    }
    const bytesOf = this.#versions.finish()
    for (const entry of unwritten) {
      this.#pending.set(entry.key, bytesOf(sealedOf(entry)))
      entry.isUnwritten = false
    }
    this.#forgetJournals()
    this.#unwritten.clear()
  }

  #bytesOfJournal({ steps, rows }: Journal): Uint8Array {
    const journal = this.#journal
    const changed = steps.filter(({ entry, before, after }) =>
      this.#versions.differ(before, after, entry.codec),
    )
    journal.clear()
    journal.list(changed, ({ entry: { key }, before }) => {
      journal.text(key)
      this.#versions.write(journal, before)
    })
    if (rows.length > 0) this.#rows.writeJournal(journal, rows)
    return journal.finish()
  }

  #forgetJournals(): void {
    this.#journals.clear()
    this.#journalBytes = 0
  }

  #forgetRecords(): void {
    for (const cache of this.#caches.values()) cache.clear()
    this.#blockWrites = []
  }

  #bytes(key: string): Uint8Array | undefined {
    const value = this.#pending.get(key)
    return value !== undefined || this.#pending.has(key) ? value : this.#committed.get(key)
  }

  #readJournal(number: number): { records: RecordBefore[]; rows: RowBefore[] } {
    const bytes = this.#bytes(journalKey(number))
    if (bytes === undefined)
      throw new ChaintapeError('fork_below_final', `block ${number} cannot be undone any more`)
    const r = new ByteReader(bytes)
    const records = r.list((): RecordBefore => [r.text(), r.optional(() => r.bytes())])
    return { records, rows: r.remaining === 0 ? [] : this.#rows.readJournal(r) }
  }
}

function sizeOf({ steps, rows }: Journal): number {
  return rows.byteLength + steps.length * RECORD_BYTES
}

function keyOf(table: string, id: string): string {
  return `${table}/${id}`
}

function journalKey(number: number): string {
  return keyOf(JOURNAL, String(number).padStart(16, '0'))
}
