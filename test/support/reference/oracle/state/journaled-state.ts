import { ChaintapeError } from '../../../../../src/domain/errors.ts'
import { RecentlyUsed } from '../../../../../src/domain/recently-used.ts'
import { ByteReader } from '../wire/byte-reader.ts'
import { ByteWriter } from '../wire/byte-writer.ts'

/** What lies underneath: committed state, read synchronously. */
export type CommittedState = { get(key: string): Uint8Array | undefined }

/** How one kind of record is written as bytes. Equal records are equal bytes, and what was read is written the same again. */
export type RecordCodec<T> = {
  readonly write: (w: ByteWriter, record: T) => void
  readonly read: (r: ByteReader) => T
}

export type Table<T> = {
  get(id: string): T | undefined
  /** The record must never change any more: it may be written down much later. */
  put(id: string, record: T): void
  delete(id: string): void
}

/** A key whose value an undo changed back: all values it had since, newest first, and the one it has again. */
export type Restored = {
  readonly table: string
  readonly id: string
  readonly undone: readonly Uint8Array[]
  /** What it had right before: the newest of those, unless the key had been deleted since. */
  readonly last: Uint8Array | undefined
  readonly restored: Uint8Array | undefined
}

/** `undefined` deletes the key. */
export type Writes = ReadonlyMap<string, Uint8Array | undefined>

/** What a key holds from one block on until another one writes it. */
type Version = {
  record: unknown
  /** Where its bytes stand while changes are being written down; before that, nowhere. */
  start: number
  end: number
}

type Entry = {
  readonly key: string
  readonly codec: RecordCodec<unknown>
  /** That of the version, nearer at hand: it is read far more often than written. */
  record: unknown
  version: Version
  /** The version at the start of the block being applied, once that block has written the key. */
  before: Version | undefined
  /** Whether the version is not among the pending bytes yet. */
  isUnwritten: boolean
}

/** What a block did to a key. */
type Step = { readonly entry: Entry; readonly before: Version; readonly after: Version }

const JOURNAL = 'journal'
const NOWHERE = -1

/** Records of a table that are kept decoded: enough for what trades often, and a bound on memory. */
const MAX_KEPT = 20_000

/**
 * State that can take back its latest blocks. For every key a block touches it keeps the value from before
 * (first touch wins); undo puts those values back in reverse order. Nothing is computed backwards, so what
 * undo leaves is byte for byte what was there.
 *
 * Changes gather in memory until the owner commits `pending()`, together with its log position, in one
 * transaction of the store underneath. Only then are they written as bytes: of a record that many blocks changed
 * the last version alone, and of a block that became final in the meantime no journal at all.
 */
export class JournaledState {
  readonly #committed: CommittedState
  readonly #kept = new Map<string, RecentlyUsed<Entry>>()
  /** In the order of their first write, which depends on the blocks alone. */
  #blockWrites: Entry[] = []
  /** Of blocks since changes were last written as bytes. */
  readonly #journals = new Map<number, readonly Step[]>()
  readonly #unwritten = new Map<string, Entry>()
  /** The changes that are bytes already. */
  readonly #pending = new Map<string, Uint8Array | undefined>()
  readonly #records = new ByteWriter()
  readonly #journal = new ByteWriter()

  constructor(committed: CommittedState) {
    this.#committed = committed
  }

  /** `maxKept`: of large records that are seldom read again, few are kept decoded. */
  table<T>(name: string, codec: RecordCodec<T>, maxKept = MAX_KEPT): Table<T> {
    const kept = new RecentlyUsed<Entry>(maxKept)
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
    this.#journals.set(number, steps)
    // Not earlier: what a block has written is nowhere else until it is sealed.
    for (const kept of this.#kept.values()) kept.evict()
  }

  /** Takes back the blocks from `last` down to `first` and tells what that changed. */
  undoBlocks(first: number, last: number): Restored[] {
    this.#writeDown()
    const journals: { number: number; entries: [string, Uint8Array | undefined][] }[] = []
    // All are read before anything is put back: a block that cannot be undone must not leave half an undo.
    for (let number = last; number >= first; number--) {
      journals.push({ number, entries: this.#readJournal(number) })
    }
    const undone = new Map<string, { readonly last: Uint8Array | undefined; versions: Uint8Array[] }>()
    for (const { number, entries } of journals) {
      for (const [key, before] of entries) {
        const version = this.#bytes(key)
        const { last, versions } = undone.get(key) ?? { last: version, versions: [] }
        undone.set(key, { last, versions })
        if (version !== undefined) versions.push(version)
        this.#pending.set(key, before)
      }
      this.#pending.set(journalKey(number), undefined)
    }
    this.#forgetRecords()
    return [...undone]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, { last, versions }]) => {
        const slash = key.indexOf('/')
        return {
          table: key.slice(0, slash),
          id: key.slice(slash + 1),
          undone: versions,
          last,
          restored: this.#bytes(key),
        }
      })
  }

  /** Forgets how to undo the blocks from `first` up to `last`. */
  forgetBlocks(first: number, last: number): void {
    for (let number = first; number <= last; number++) {
      if (!this.#journals.delete(number)) this.#pending.set(journalKey(number), undefined)
    }
  }

  /** Reads a key that no block ever writes. */
  getOutsideBlocks(table: string, id: string): Uint8Array | undefined {
    return this.#bytes(keyOf(table, id))
  }

  /** Sets (or, with `undefined`, deletes) a key outside of any block: no undo brings the old value back. */
  setOutsideBlocks(table: string, id: string, value: Uint8Array | undefined): void {
    const key = keyOf(table, id)
    this.#kept.get(table)?.delete(id)
    this.#unwritten.delete(key)
    this.#pending.set(key, value)
  }

  /** All changes since the last commit. */
  pending(): Writes {
    this.#writeDown()
    return this.#pending
  }

  /** The owner has made `pending()` durable. */
  committed(): void {
    this.#pending.clear()
  }

  /** Back to what was last committed. */
  abandon(): void {
    this.#pending.clear()
    this.#unwritten.clear()
    this.#journals.clear()
    this.#forgetRecords()
  }

  #load<T>(kept: RecentlyUsed<Entry>, table: string, id: string, codec: RecordCodec<T>): Entry {
    const key = keyOf(table, id)
    const entry = this.#unwritten.get(key) ?? this.#read(key, codec as RecordCodec<unknown>)
    kept.set(id, entry)
    return entry
  }

  #read(key: string, codec: RecordCodec<unknown>): Entry {
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

  /** Turns all changes into pending bytes. */
  #writeDown(): void {
    const unwritten = [...this.#unwritten.values()]
    this.#records.clear()
    for (const entry of unwritten) this.#place(sealedOf(entry), entry.codec)
    for (const [number, steps] of this.#journals) {
      this.#pending.set(journalKey(number), this.#journalOf(steps))
    }
    // One piece of memory for all: so many small ones would take longer than all the encoding.
    const { buffer, byteOffset } = this.#records.finish()
    for (const entry of unwritten) {
      const version = sealedOf(entry)
      const size = version.end - version.start
      this.#pending.set(
        entry.key,
        version.record === undefined ? undefined : new Uint8Array(buffer, byteOffset + version.start, size),
      )
      version.start = NOWHERE
      entry.isUnwritten = false
    }
    this.#journals.clear()
    this.#unwritten.clear()
  }

  #journalOf(steps: readonly Step[]): Uint8Array {
    const journal = this.#journal
    const changed = steps.filter(({ entry: { codec }, before, after }) => {
      this.#place(before, codec)
      this.#place(after, codec)
      return !this.#isSame(before, after)
    })
    journal.clear()
    journal.list(changed, ({ entry: { key }, before }) => {
      journal.text(key)
      journal.bool(before.record !== undefined)
      if (before.record !== undefined) journal.bytesOf(this.#records, before.start, before.end)
    })
    return journal.finish()
  }

  /** A version has its bytes in one place, however many journals name it. */
  #place(version: Version, codec: RecordCodec<unknown>): void {
    if (version.start !== NOWHERE) return
    version.start = this.#records.length
    if (version.record !== undefined) codec.write(this.#records, version.record)
    version.end = this.#records.length
  }

  #isSame(a: Version, b: Version): boolean {
    if (a.record === undefined || b.record === undefined) return a.record === b.record
    return this.#records.isRepeated(a.start, a.end, b.start, b.end)
  }

  #forgetRecords(): void {
    for (const kept of this.#kept.values()) kept.clear()
    this.#blockWrites = []
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

/** What a block has written is no change before it is sealed. */
function sealedOf({ before, version }: Entry): Version {
  return before ?? version
}

function newVersion(record: unknown): Version {
  return { record, start: NOWHERE, end: NOWHERE }
}

function keyOf(table: string, id: string): string {
  return `${table}/${id}`
}

function journalKey(number: number): string {
  return keyOf(JOURNAL, String(number).padStart(16, '0'))
}
