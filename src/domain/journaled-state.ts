import { ChaintapeError } from './errors.ts'
import { ByteReader } from './wire/byte-reader.ts'
import { ByteWriter } from './wire/byte-writer.ts'

/** What lies underneath: committed state, read synchronously. */
export type CommittedState = { get(key: string): Uint8Array | undefined }

/** How one kind of record is written as bytes. */
export type RecordCodec<T> = {
  readonly write: (w: ByteWriter, record: T) => void
  readonly read: (r: ByteReader) => T
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
  /** The value at the start of the block being applied. */
  before: Uint8Array | undefined
  record: unknown
  /** Encodes `record`; set once the record was changed in this block. */
  encode: (() => Uint8Array | undefined) | undefined
}

const JOURNAL = 'journal'

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
  readonly #entries = new Map<string, Entry>()
  readonly #pending = new Map<string, Uint8Array | undefined>()

  constructor(committed: CommittedState) {
    this.#committed = committed
  }

  table<T>(name: string, codec: RecordCodec<T>): Table<T> {
    return {
      get: (id) => this.#entry(keyOf(name, id), codec).record as T | undefined,
      put: (id, record) => {
        const entry = this.#entry(keyOf(name, id), codec)
        entry.record = record
        entry.encode = () => encodeRecord(codec, record)
      },
      delete: (id) => {
        const entry = this.#entry(keyOf(name, id), codec)
        entry.record = undefined
        entry.encode = () => undefined
      },
    }
  }

  /** Ends a block: what it changed becomes pending, and the values from before go into its journal. */
  sealBlock(number: number): void {
    const changed: { key: string; before: Uint8Array | undefined }[] = []
    for (const [key, entry] of this.#entries) {
      if (entry.encode === undefined) continue
      const after = entry.encode()
      entry.encode = undefined
      if (sameBytes(entry.before, after)) continue
      changed.push({ key, before: entry.before })
      this.#pending.set(key, after)
      entry.before = after
    }
    // Which keys are in memory already depends on when the last commit was; the journal must not.
    changed.sort((a, b) => (a.key < b.key ? -1 : 1))
    const w = new ByteWriter()
    w.list(changed, ({ key, before }) => {
      w.text(key)
      w.optional(before, (bytes) => w.bytes(bytes))
    })
    this.#pending.set(journalKey(number), w.finish())
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
        this.#entries.delete(key)
      }
      this.#pending.set(journalKey(number), undefined)
    }
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
    this.#entries.delete(key)
    this.#pending.set(key, value)
  }

  /** All changes since the last commit. */
  pending(): Writes {
    return this.#pending
  }

  /** The owner has made `pending()` durable. */
  committed(): void {
    this.#pending.clear()
    this.#entries.clear()
  }

  /** Back to what was last committed. */
  abandon(): void {
    this.committed()
  }

  #entry<T>(key: string, codec: RecordCodec<T>): Entry {
    const known = this.#entries.get(key)
    if (known !== undefined) return known
    const before = this.#bytes(key)
    const record = before === undefined ? undefined : codec.read(new ByteReader(before))
    const entry: Entry = { before, record, encode: undefined }
    this.#entries.set(key, entry)
    return entry
  }

  #bytes(key: string): Uint8Array | undefined {
    return this.#pending.has(key) ? this.#pending.get(key) : this.#committed.get(key)
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

function encodeRecord<T>(codec: RecordCodec<T>, record: T): Uint8Array {
  const w = new ByteWriter(256)
  codec.write(w, record)
  return w.finish()
}

function sameBytes(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  return a.length === b.length && Buffer.compare(a, b) === 0
}
