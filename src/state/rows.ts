import { type Cursor, cursorMaker, type ReadRow, type RowCursor } from './cursor.ts'
import { Key, type KeyPart } from './key.ts'
import type { Fields, Layout } from './layout.ts'
import { Memory } from './memory.ts'
import { maxPackedBytes, packWords, unpackWords } from './packed-words.ts'
import type { RowJournal } from './row-journal.ts'
import { enlarged, type HashKey, type HashSecret, NONE, SlotIndex, secretHash } from './slot-index.ts'

export type RowsOptions = {
  /** What its keys consist of. */
  readonly key: readonly KeyPart[]
  /** So many rows stay in memory after a commit; more while they are not committed. */
  readonly maxRows: number
  /** For tests of collisions. */
  readonly hash?: HashKey
}

/** Where rows that are not in memory are read from. */
export type CommittedRows = {
  get(storeKey: Uint8Array): Uint8Array | undefined
  /** Keys the hash of keys. Without it attackers can choose addresses that collide: only tests may leave it out. */
  readonly hashSecret?: HashSecret
}

/** What a table of rows needs of its state. */
export type RowsParts<F extends Fields> = {
  readonly name: string
  /** Its place among the tables, by which journals name it. */
  readonly table: number
  readonly layout: Layout<F>
  readonly journal: RowJournal
  readonly committed: CommittedRows
}

const EXISTS = 1
const DIRTY = 2
/** Since the clock's hand last passed. */
const USED = 4

/** Alone: no key has the slot. */
const FREE = 8

const FEWEST_ROWS = 64

/**
 * A table of rows of fixed size in one block of memory, found by key. Rows that are not in memory are read from the
 * committed store when they are looked for; that there is none is remembered in a slot as well. Slots stay valid
 * until the next commit, which evicts the rows that were not used lately.
 */
export class Rows<F extends Fields> {
  readonly name: string
  readonly #parts: RowsParts<F>
  readonly #keyParts: readonly KeyPart[]
  readonly #maxRows: number
  readonly #index: SlotIndex
  readonly #makeCursor: (memory: Memory, touch: (slot: number) => void) => RowCursor & Cursor<F>
  readonly #cursors: RowCursor[] = []
  readonly #view: RowCursor & Cursor<F>
  readonly #key = new Key()
  readonly #packed: DataView<ArrayBuffer>
  #memory = new Memory(0)
  #flags = new Uint8Array(0)
  /** By slot: the block that last saved its before-image. */
  #savedIn = new Uint32Array(0)
  #dirty: number[] = []
  #free: number[] = []
  /** Slots below are in use or free. */
  #end = 0
  #hand = 0

  constructor(parts: RowsParts<F>, { key, maxRows, hash }: RowsOptions) {
    const { name, layout } = parts
    this.name = name
    this.#parts = parts
    this.#keyParts = key
    this.#maxRows = maxRows
    this.#index = new SlotIndex(key, hash ?? secretHash(parts.committed.hashSecret ?? [0, 0]))
    this.#makeCursor = cursorMaker(layout)
    this.#view = this.#makeCursor(new Memory(layout.stride), () => undefined)
    this.#packed = new DataView(new ArrayBuffer(maxPackedBytes(layout.storedWords)))
  }

  /** Replaced when the table grows: do not hold it across `find` and `create`. */
  get memory(): Memory {
    return this.#memory
  }

  get words(): Uint32Array {
    return this.#memory.words
  }

  /** Slots in memory, those that remember absence included. */
  get size(): number {
    return this.#index.size
  }

  /** The slot of a row, or `NONE`. */
  find(key: Key): number {
    const slot = this.#slotOf(key)
    return this.#has(slot, EXISTS) ? slot : NONE
  }

  /** A row of zeros under a key that has none. */
  create(key: Key): number {
    const slot = this.#slotOf(key)
    this.createAt(slot)
    return slot
  }

  /** The slot of a row, or of its absence: `exists` tells which. Saves looking for the key twice. */
  reserve(key: Key): number {
    return this.#slotOf(key)
  }

  exists(slot: number): boolean {
    return this.#has(slot, EXISTS)
  }

  /** The same as `create`, in a slot that `reserve` gave. */
  createAt(slot: number): void {
    if (this.#has(slot, EXISTS)) throw new Error(`${this.name} ${this.idOf(slot)} exists already`)
    this.touch(slot)
    this.#clear(slot)
    this.#flags[slot] = (this.#flags[slot] as number) | EXISTS
  }

  findOrCreate(key: Key): number {
    const slot = this.#slotOf(key)
    if (!this.#has(slot, EXISTS)) this.createAt(slot)
    return slot
  }

  remove(slot: number): void {
    this.touch(slot)
    this.#flags[slot] = (this.#flags[slot] as number) & ~EXISTS
  }

  /** Saves the before-image, once per block, and marks the row to be committed. Must precede every write. */
  touch(slot: number): void {
    const { journal } = this.#parts
    if (this.#savedIn[slot] === journal.block) return
    this.#savedIn[slot] = journal.block
    const { table, layout } = this.#parts
    const count = this.#has(slot, EXISTS) ? layout.storedWords : 0
    this.#index.read(slot, this.#key)
    journal.save(table, this.#key, this.#memory.words, slot * layout.stride, count)
    this.#markDirty(slot)
  }

  /** Overwrites all fields of a row with those of another. */
  copy(from: number, to: number): void {
    this.touch(to)
    const { stride, storedWords } = this.#parts.layout
    this.#memory.words.copyWithin(to * stride, from * stride, from * stride + storedWords)
  }

  cursor(): Cursor<F> {
    const cursor = this.#makeCursor(this.#memory, (slot) => this.touch(slot))
    this.#cursors.push(cursor)
    return cursor
  }

  /** Whether a slot that was kept as a hint still holds the row of this key. */
  isAt(slot: number, key: Key): boolean {
    return slot < this.#end && this.#has(slot, EXISTS) && this.#index.isAt(slot, key)
  }

  keyOf(slot: number, key: Key): Key {
    return this.#index.read(slot, key)
  }

  /** The parts of its key, joined by slashes. */
  idOf(slot: number): string {
    return this.#index.read(slot, this.#key).text(this.#keyParts)
  }

  /** A row as an undo reports it. The result is good until the next call. */
  view(bytes: Uint8Array): ReadRow<F> {
    unpackWords(bytes, this.#view.words, 0, this.#parts.layout.storedWords)
    return (this.#view as Cursor<F>).at(0)
  }

  /** As `view` reads it, in bytes of its own. */
  packed(words: Uint32Array, at: number): Uint8Array {
    const size = packWords(words, at, this.#parts.layout.storedWords, this.#packed)
    return new Uint8Array(this.#packed.buffer.slice(0, size))
  }

  /** What the row of a key is now, or undefined if there is none. */
  bytesOf(key: Key): Uint8Array | undefined {
    const slot = this.find(key)
    return slot === NONE ? undefined : this.packed(this.#memory.words, slot * this.#parts.layout.stride)
  }

  /** Brings back what the row of a key was, outside of any block. */
  restore(key: Key, bytes: Uint8Array | undefined): void {
    const slot = this.#slotOf(key)
    this.#markDirty(slot)
    if (bytes === undefined) this.#flags[slot] = (this.#flags[slot] as number) & ~EXISTS
    else this.#fill(slot, bytes)
  }

  idOfKey(key: Key): string {
    return key.text(this.#keyParts)
  }

  /** All rows that changed since the last commit. */
  *writes(): Generator<readonly [Uint8Array, Uint8Array | undefined]> {
    const { stride } = this.#parts.layout
    for (const slot of this.#dirty) {
      const storeKey = this.#index.read(slot, this.#key).storeKey(this.name, this.#keyParts).slice()
      yield [storeKey, this.#has(slot, EXISTS) ? this.packed(this.#memory.words, slot * stride) : undefined]
    }
  }

  /** The changed rows are durable. */
  committed(): void {
    for (const slot of this.#dirty) this.#flags[slot] = (this.#flags[slot] as number) & ~DIRTY
    this.#dirty = []
    this.#evict()
  }

  /** Back to what is committed: rows are read from there again. */
  abandon(): void {
    this.#index.clear()
    this.#dirty = []
    this.#free = []
    this.#end = 0
    this.#hand = 0
  }

  /** Of the row, or of the memory that there is none. */
  #slotOf(key: Key): number {
    const slot = this.#index.find(key)
    if (slot === NONE) return this.#load(key)
    this.#flags[slot] = (this.#flags[slot] as number) | USED
    return slot
  }

  #load(key: Key): number {
    const bytes = this.#parts.committed.get(key.storeKey(this.name, this.#keyParts))
    const slot = this.#allocate()
    this.#index.insert(slot, key)
    this.#flags[slot] = USED
    this.#savedIn[slot] = 0
    if (bytes !== undefined) this.#fill(slot, bytes)
    return slot
  }

  #fill(slot: number, bytes: Uint8Array): void {
    const { stride, storedWords } = this.#parts.layout
    this.#clear(slot)
    unpackWords(bytes, this.#memory.words, slot * stride, storedWords)
    this.#flags[slot] = (this.#flags[slot] as number) | EXISTS
  }

  #clear(slot: number): void {
    const { stride } = this.#parts.layout
    this.#memory.words.fill(0, slot * stride, (slot + 1) * stride)
  }

  #markDirty(slot: number): void {
    if (this.#has(slot, DIRTY)) return
    this.#flags[slot] = (this.#flags[slot] as number) | DIRTY
    this.#dirty.push(slot)
  }

  #has(slot: number, flag: number): boolean {
    return ((this.#flags[slot] as number) & flag) !== 0
  }

  #allocate(): number {
    const free = this.#free.pop()
    if (free !== undefined) return free
    if (this.#end === this.#flags.length) this.#grow(Math.max(FEWEST_ROWS, this.#end * 2))
    return this.#end++
  }

  #grow(rows: number): void {
    const memory = new Memory(rows * this.#parts.layout.stride)
    memory.words.set(this.#memory.words)
    this.#memory = memory
    for (const cursor of this.#cursors) cursor.setMemory(memory)
    this.#flags = enlarged(this.#flags, new Uint8Array(rows))
    this.#savedIn = enlarged(this.#savedIn, new Uint32Array(rows))
    this.#index.setCapacity(rows)
  }

  /** Second-chance clock. All rows are clean, so two rounds find enough. */
  #evict(): void {
    while (this.#index.size > this.#maxRows) {
      const slot = this.#hand
      this.#hand = slot + 1 === this.#end ? 0 : slot + 1
      const flags = this.#flags[slot] as number
      if (flags === FREE) continue
      if ((flags & USED) !== 0) this.#flags[slot] = flags & ~USED
      else {
        this.#index.remove(slot)
        this.#flags[slot] = FREE
        this.#free.push(slot)
      }
    }
  }
}
