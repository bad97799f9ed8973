import { type Cursor, cursorMaker, type ReadRow, type RowCursor } from './cursor.ts'
import { Key, type KeyPart } from './key.ts'
import type { Fields, Layout } from './layout.ts'
import { Memory } from './memory.ts'
import { maxPackedWords, packWords, unpackWords } from './packed-words.ts'
import type { RowJournal } from './row-journal.ts'
import { restoreChanged, type SealedRows } from './sealed-rows.ts'
import { enlarged, type HashKey, type HashSecret, NONE, SlotIndex, secretHash } from './slot-index.ts'
import { DIRTY, EXISTS, Slots, STORED, USED } from './slots.ts'
import type { WriteBatch } from './write-batch.ts'

export type RowsOptions = {
  /** The parts of its keys. */
  readonly key: readonly KeyPart[]
  /** Rows that stay in memory after a commit; uncommitted rows may exceed it. */
  readonly maxRows: number
  /** For tests of collisions. */
  readonly hash?: HashKey
}

/** The source of rows that are not in memory. */
export type CommittedRows = {
  get(storeKey: Uint8Array): Uint8Array | undefined
  /** Seeds the hash of keys, because attackers could choose colliding addresses without a secret. */
  readonly hashSecret: HashSecret
}

/** The parts of the state that a table of rows needs. */
export type RowsParts<F extends Fields> = {
  readonly name: string
  /** Its index among the tables, which journals refer to. */
  readonly table: number
  readonly layout: Layout<F>
  readonly journal: RowJournal
  readonly committed: CommittedRows
}

const FEWEST_ROWS = 64

/**
 * A table of fixed-size rows in one buffer, found by key. Rows that are not in memory are read from the committed store
 * on lookup; a slot also records that a key has no row. Slots stay valid until a commit that evicts rows, which are
 * those not used recently (`hasEvicted`).
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
  readonly #packed: Uint32Array<ArrayBuffer>
  #memory = new Memory(0)
  readonly #slots = new Slots()
  /** By slot: the block that last saved its before-image. */
  #savedIn = new Uint32Array(0)
  #dirty: number[] = []
  #hasEvicted = false

  constructor(parts: RowsParts<F>, { key, maxRows, hash }: RowsOptions) {
    const { name, layout } = parts
    this.name = name
    this.#parts = parts
    this.#keyParts = key
    this.#maxRows = maxRows
    this.#index = new SlotIndex(key, hash ?? secretHash(parts.committed.hashSecret))
    this.#makeCursor = cursorMaker(layout)
    this.#view = this.#makeCursor(new Memory(layout.stride), () => undefined)
    this.#packed = new Uint32Array(maxPackedWords(layout.storedWords))
  }

  /** Slots in memory, including those of keys without a row. */
  get size(): number {
    return this.#index.size
  }

  /** The slot of a row, or `NONE`. */
  find(key: Key): number {
    const slot = this.#slotOf(key)
    return this.#slots.has(slot, EXISTS) ? slot : NONE
  }

  /** Creates a row of zeros under a key known to have none, without a read from the store. */
  create(key: Key): number {
    const known = this.#index.find(key)
    const slot = known === NONE ? this.#insert(key) : known
    this.createAt(slot)
    return slot
  }

  /** The slot of a key, with or without a row: see `exists`. Avoids a second lookup of the key. */
  reserve(key: Key): number {
    return this.#slotOf(key)
  }

  exists(slot: number): boolean {
    return this.#slots.has(slot, EXISTS)
  }

  /** Like `create`, in a slot returned by `reserve`. */
  createAt(slot: number): void {
    if (this.#slots.has(slot, EXISTS)) throw new Error(`${this.name} ${this.idOf(slot)} exists already`)
    this.touch(slot)
    this.#clear(slot)
    this.#slots.add(slot, EXISTS)
  }

  findOrCreate(key: Key): number {
    const slot = this.#slotOf(key)
    if (!this.#slots.has(slot, EXISTS)) this.createAt(slot)
    return slot
  }

  remove(slot: number): void {
    this.touch(slot)
    this.#clear(slot)
    this.#slots.drop(slot, EXISTS)
  }

  /** Saves the before-image, once per block. Must precede every write. */
  touch(slot: number): void {
    const { table, layout, journal } = this.#parts
    if (this.#savedIn[slot] === journal.block) return
    this.#savedIn[slot] = journal.block
    const count = this.#slots.has(slot, EXISTS) ? layout.storedWords : 0
    journal.save(table, slot, this.#memory.words, slot * layout.stride, count)
  }

  /** Ends the block for a row that it touched. An unchanged row needs neither an undo nor a commit. */
  seal(slot: number, existed: boolean, before: Uint32Array, beforeAt: number, sealed: SealedRows): void {
    const exists = this.#slots.has(slot, EXISTS)
    if (!exists && !existed) return
    const { stride, storedWords } = this.#parts.layout
    const { words } = this.#memory
    sealed.begin(this.#parts.table, existed, this.#index.read(slot, this.#key))
    // A removed row is all zeros.
    const hasChanged = existed && sealed.addChanged(before, beforeAt, words, slot * stride, storedWords)
    if (existed && exists && !hasChanged) sealed.cancel()
    else this.#markDirty(slot)
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

  /** True if a slot stored as a hint still holds the row of this key. */
  isAt(slot: number, key: Key): boolean {
    if (slot === NONE || !this.#slots.exists(slot) || !this.#index.isAt(slot, key)) return false
    this.#slots.add(slot, USED)
    return true
  }

  keyOf(slot: number, key: Key): Key {
    return this.#index.read(slot, key)
  }

  /** The parts of its key, joined by slashes. */
  idOf(slot: number): string {
    return this.#index.read(slot, this.#key).text(this.#keyParts)
  }

  /** A row as reported by an undo. The result is valid until the next call. */
  view(bytes: Uint8Array): ReadRow<F> {
    unpackWords(bytes, this.#view.words, 0, this.#parts.layout.storedWords)
    return (this.#view as Cursor<F>).at(0)
  }

  /** The current bytes of a row, for `view`. */
  bytesOf(slot: number): Uint8Array | undefined {
    if (!this.#slots.has(slot, EXISTS)) return undefined
    const { stride, storedWords } = this.#parts.layout
    const end = packWords(this.#memory.words, slot * stride, storedWords, this.#packed, 0)
    return new Uint8Array(this.#packed.buffer.slice(0, end * 4))
  }

  /** Restores a row outside of any block, from its changed words, or from undefined if it did not exist. */
  restore(slot: number, changed: Uint32Array | undefined): void {
    this.#markDirty(slot)
    const { stride, storedWords } = this.#parts.layout
    if (changed === undefined || !this.#slots.has(slot, EXISTS)) this.#clear(slot)
    else this.#clearVolatile(slot)
    if (changed === undefined) this.#slots.drop(slot, EXISTS)
    else {
      restoreChanged(changed, this.#memory.words, slot * stride, storedWords)
      this.#slots.add(slot, EXISTS)
    }
  }

  get uncommittedBytes(): number {
    return this.#dirty.length * this.#parts.layout.stride * 4
  }

  /** All rows that changed since the last commit. */
  addWrites(batch: WriteBatch): void {
    const { stride, storedWords } = this.#parts.layout
    for (const slot of this.#dirty) {
      const isThere = this.#slots.has(slot, EXISTS)
      if (!isThere && !this.#slots.has(slot, STORED)) continue
      const storeKey = this.#index.read(slot, this.#key).storeKey(this.name, this.#keyParts)
      if (isThere) batch.put(storeKey, this.#memory.words, slot * stride, storedWords)
      else batch.remove(storeKey)
    }
  }

  /** Called once the changed rows are durable. */
  committed(): void {
    for (const slot of this.#dirty) {
      this.#slots.drop(slot, DIRTY | STORED)
      if (this.#slots.has(slot, EXISTS)) this.#slots.add(slot, STORED)
    }
    this.#dirty = []
    const excess = this.#index.size - this.#maxRows
    this.#hasEvicted = excess > 0
    this.#slots.evict(excess, (slot) => this.#index.remove(slot))
  }

  /** Whether the last commit evicted rows: slots from before it are invalid then. */
  get hasEvicted(): boolean {
    return this.#hasEvicted
  }

  /** Returns to the committed state: rows are loaded again on demand. */
  abandon(): void {
    this.#index.clear()
    this.#slots.clear()
    this.#dirty = []
  }

  /** The slot of the row, or of the recorded absence. */
  #slotOf(key: Key): number {
    const slot = this.#index.find(key)
    if (slot === NONE) return this.#load(key)
    this.#slots.add(slot, USED)
    return slot
  }

  #load(key: Key): number {
    const bytes = this.#parts.committed.get(key.storeKey(this.name, this.#keyParts))
    const slot = this.#insert(key)
    if (bytes !== undefined) this.#fill(slot, bytes)
    return slot
  }

  #insert(key: Key): number {
    const slot = this.#allocate()
    this.#index.insert(slot, key)
    this.#slots.add(slot, USED)
    this.#savedIn[slot] = 0
    return slot
  }

  #fill(slot: number, bytes: Uint8Array): void {
    const { stride, storedWords } = this.#parts.layout
    unpackWords(bytes, this.#memory.words, slot * stride, storedWords)
    this.#clearVolatile(slot)
    this.#slots.add(slot, EXISTS | STORED)
  }

  #clearVolatile(slot: number): void {
    const { stride, storedWords } = this.#parts.layout
    this.#memory.words.fill(0, slot * stride + storedWords, (slot + 1) * stride)
  }

  #clear(slot: number): void {
    const { stride } = this.#parts.layout
    this.#memory.words.fill(0, slot * stride, (slot + 1) * stride)
  }

  #markDirty(slot: number): void {
    if (this.#slots.has(slot, DIRTY)) return
    this.#slots.add(slot, DIRTY)
    this.#dirty.push(slot)
  }

  #allocate(): number {
    if (this.#slots.isFull) this.#grow(Math.max(FEWEST_ROWS, this.#slots.capacity * 2))
    return this.#slots.allocate()
  }

  #grow(rows: number): void {
    const memory = new Memory(rows * this.#parts.layout.stride)
    memory.words.set(this.#memory.words)
    this.#memory = memory
    for (const cursor of this.#cursors) cursor.setMemory(memory)
    this.#slots.setCapacity(rows)
    this.#savedIn = enlarged(this.#savedIn, new Uint32Array(rows))
    this.#index.setCapacity(rows)
  }
}
