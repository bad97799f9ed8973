import { ChaintapeError } from './errors.ts'
import { RecentlyUsed } from './recently-used.ts'
import { ByteReader } from './wire/byte-reader.ts'
import { ByteWriter } from './wire/byte-writer.ts'
import { forgetWritten, keepWritten } from './wire/written-records.ts'

/** What lies underneath: committed state, read synchronously. */
export type CommittedState = { get(key: string): Uint8Array | undefined }

/** How one kind of record is written as bytes. */
export type RecordCodec<T> = {
  readonly write: (w: ByteWriter, record: T) => void
  readonly read: (r: ByteReader) => T
  /** By what a message finds the bytes again, where it writes the same record in the same way. */
  readonly publishedAs?: (record: T) => object | undefined
}

export type Table<T> = {
  get(id: string): T | undefined
  put(id: string, record: T): void
  delete(id: string): void
}

/** A key whose value an undo changed back: all values it had since, newest first, and the one it has again. */
export type Restored = {
  readonly table: string
  readonly id: string
  readonly undone: readonly Uint8Array[]
  readonly restored: Uint8Array | undefined
}

/** `undefined` deletes the key. */
export type Writes = ReadonlyMap<string, Uint8Array | undefined>

type Entry = {
  readonly key: string
  readonly codec: RecordCodec<unknown>
  record: unknown
  /** The value at the start of the block being applied; not held any longer once that is committed. */
  before: Uint8Array | undefined
  isBeforeHeld: boolean
  /** Whether the block being applied has written the record. */
  isWritten: boolean
}

const JOURNAL = 'journal'

/** Records of a table that are kept decoded: enough for what trades often, and a bound on memory. */
const MAX_KEPT = 20_000

/**
 * State that can take back its latest blocks. For every key a block touches it keeps the value from before
 * (first touch wins); undo puts those values back in reverse order. Nothing is computed backwards, so what
 * undo leaves is byte for byte what was there.
 *
 * Changes gather in memory until the owner commits `pending()`, together with its log position, in one
 * transaction of the store underneath.
 */
export class JournaledState {
  readonly #committed: CommittedState
  readonly #kept = new Map<string, RecentlyUsed<Entry>>()
  readonly #pending = new Map<string, Uint8Array | undefined>()
  /** In the order of their first write, which depends on the block alone. */
  #written: Entry[] = []
  /** All entries that hold a value from before. */
  #holding: Entry[] = []
  readonly #records = new ByteWriter()
  readonly #journal = new ByteWriter()

  constructor(committed: CommittedState) {
    this.#committed = committed
  }

  table<T>(name: string, codec: RecordCodec<T>): Table<T> {
    const kept = new RecentlyUsed<Entry>(MAX_KEPT)
    this.#kept.set(name, kept)
    const entryOf = (id: string): Entry => kept.get(id) ?? this.#load(kept, name, id, codec)
    return {
      get: (id) => entryOf(id).record as T | undefined,
      put: (id, record) => this.#write(entryOf(id), record),
      delete: (id) => this.#write(entryOf(id), undefined),
    }
  }

  /** Ends a block: what it changed becomes pending, and the values from before go into its journal. */
  sealBlock(number: number): void {
    const written = this.#written
    this.#written = []
    const ends = this.#encode(written)
    // One piece of memory for the whole block: so many small ones would take longer than all the encoding.
    const { buffer, byteOffset } = this.#records.finish()
    forgetWritten()
    const changed: { key: string; before: Uint8Array | undefined }[] = []
    let start = 0
    for (let at = 0; at < written.length; at++) {
      const entry = written[at] as Entry
      const end = ends[at] as number
      entry.isWritten = false
      const before = this.#beforeOf(entry)
      const after =
        entry.record === undefined ? undefined : new Uint8Array(buffer, byteOffset + start, end - start)
      start = end
      const published = after === undefined ? undefined : entry.codec.publishedAs?.(entry.record)
      if (published !== undefined && after !== undefined) keepWritten(published, entry.record, after)
      if (sameBytes(before, after)) continue
      changed.push({ key: entry.key, before })
      this.#pending.set(entry.key, after)
      entry.before = after
    }
    const journal = this.#journal
    journal.clear()
    journal.list(changed, ({ key, before }) => {
      journal.text(key)
      journal.optional(before, (bytes) => journal.bytes(bytes))
    })
    this.#pending.set(journalKey(number), journal.finish())
    // Not earlier: what a block has written is nowhere else until it is sealed.
    for (const kept of this.#kept.values()) kept.letGo()
  }

  /** Takes back the blocks from `last` down to `first` and tells what that changed. */
  undoBlocks(first: number, last: number): Restored[] {
    const journals: { number: number; entries: [string, Uint8Array | undefined][] }[] = []
    // All are read before anything is put back: a block that cannot be undone must not leave half an undo.
    for (let number = last; number >= first; number--) {
      journals.push({ number, entries: this.#readJournal(number) })
    }
    const undone = new Map<string, Uint8Array[]>()
    for (const { number, entries } of journals) {
      for (const [key, before] of entries) {
        const versions = undone.get(key) ?? []
        undone.set(key, versions)
        const version = this.#bytes(key)
        if (version !== undefined) versions.push(version)
        this.#pending.set(key, before)
      }
      this.#pending.set(journalKey(number), undefined)
    }
    this.#forgetRecords()
    return [...undone]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, versions]) => {
        const slash = key.indexOf('/')
        return {
          table: key.slice(0, slash),
          id: key.slice(slash + 1),
          undone: versions,
          restored: this.#bytes(key),
        }
      })
  }

  /** Forgets how to undo the blocks from `first` up to `last`. */
  forgetBlocks(first: number, last: number): void {
    for (let number = first; number <= last; number++) this.#pending.set(journalKey(number), undefined)
  }

  /** Reads a key that no block ever writes. */
  getOutsideBlocks(table: string, id: string): Uint8Array | undefined {
    return this.#bytes(keyOf(table, id))
  }

  /** Sets (or, with `undefined`, deletes) a key outside of any block: no undo brings the old value back. */
  setOutsideBlocks(table: string, id: string, value: Uint8Array | undefined): void {
    const key = keyOf(table, id)
    this.#kept.get(table)?.delete(id)
    this.#pending.set(key, value)
  }

  /** All changes since the last commit. */
  pending(): Writes {
    return this.#pending
  }

  /** The owner has made `pending()` durable. */
  committed(): void {
    this.#pending.clear()
    // The records stay, so that what is in use need not be read again; their bytes can be had from the store.
    for (const entry of this.#holding) {
      entry.before = undefined
      entry.isBeforeHeld = false
    }
    this.#holding = []
  }

  /** Back to what was last committed. */
  abandon(): void {
    this.#pending.clear()
    this.#forgetRecords()
  }

  #load<T>(kept: RecentlyUsed<Entry>, table: string, id: string, codec: RecordCodec<T>): Entry {
    const key = keyOf(table, id)
    const before = this.#bytes(key)
    const record = before === undefined ? undefined : codec.read(new ByteReader(before))
    const entry: Entry = {
      key,
      codec: codec as RecordCodec<unknown>,
      record,
      before,
      isBeforeHeld: true,
      isWritten: false,
    }
    this.#holding.push(entry)
    kept.set(id, entry)
    return entry
  }

  #write(entry: Entry, record: unknown): void {
    entry.record = record
    if (entry.isWritten) return
    entry.isWritten = true
    this.#written.push(entry)
  }

  /** Writes the records one behind the other, and tells where each ends. */
  #encode(entries: readonly Entry[]): number[] {
    const w = this.#records
    w.clear()
    return entries.map(({ codec, record }) => {
      if (record !== undefined) codec.write(w, record)
      return w.length
    })
  }

  #beforeOf(entry: Entry): Uint8Array | undefined {
    if (!entry.isBeforeHeld) {
      entry.before = this.#bytes(entry.key)
      entry.isBeforeHeld = true
      this.#holding.push(entry)
    }
    return entry.before
  }

  #forgetRecords(): void {
    for (const kept of this.#kept.values()) kept.clear()
    this.#written = []
    this.#holding = []
  }

  #bytes(key: string): Uint8Array | undefined {
    const value = this.#pending.get(key)
    return value !== undefined || this.#pending.has(key) ? value : this.#committed.get(key)
  }

  #readJournal(number: number): [string, Uint8Array | undefined][] {
    const bytes = this.#bytes(journalKey(number))
    if (bytes === undefined)
      throw new ChaintapeError('fork_below_final', `block ${number} cannot be undone any more`)
    const r = new ByteReader(bytes)
    return r.list(() => [r.text(), r.optional(() => r.bytes())])
  }
}

function keyOf(table: string, id: string): string {
  return `${table}/${id}`
}

function journalKey(number: number): string {
  return keyOf(JOURNAL, String(number).padStart(16, '0'))
}

function sameBytes(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  return a.length === b.length && Buffer.compare(a, b) === 0
}
