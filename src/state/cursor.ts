import { accessorsOf } from './accessors.ts'
import type {
  Bytes,
  Fields,
  Flag,
  I32,
  Id,
  Layout,
  Optional,
  Repeated,
  U32,
  Uint,
  Volatile,
} from './layout.ts'
import { Memory } from './memory.ts'

/** The type that a field is read as. */
type Value<T> =
  T extends Optional<infer Of>
    ? Value<Of> | undefined
    : T extends U32 | I32 | Volatile
      ? number
      : T extends Flag
        ? boolean
        : T extends Uint
          ? bigint
          : T extends Id
            ? string
            : T extends Bytes
              ? Uint8Array
              : never

type Values<F extends Fields> = { -readonly [K in keyof F as F[K] extends Repeated ? never : K]: Value<F[K]> }

/** `<name>At`: the first word of a field, for arithmetic on limbs and for keys. */
type Positions<F extends Fields> = {
  readonly [K in keyof F & string as F[K] extends Uint | Id | Bytes | Optional<Uint | Id>
    ? `${K}At`
    : never]: number
}

/** `has<Name>`: whether an optional field is present. Setting it to false clears the value. */
type Presence<F extends Fields> = {
  -readonly [K in keyof F & string as F[K] extends Optional ? `has${Capitalize<K>}` : never]: boolean
}

type Groups<F extends Fields> = { readonly [K in keyof F as F[K] extends Repeated ? K : never]: Group<F[K]> }
type ReadGroups<F extends Fields> = {
  readonly [K in keyof F as F[K] extends Repeated ? K : never]: ReadGroup<F[K]>
}

type Group<T> = T extends Repeated<infer G> ? { at(index: number): Row<G> } : never
type ReadGroup<T> = T extends Repeated<infer G> ? { at(index: number): ReadRow<G> } : never

type Place = { readonly memory: Memory; readonly words: Uint32Array }

/** A writable row: its before-image is saved. */
export type Row<F extends Fields> = Place & Values<F> & Presence<F> & Positions<F> & Groups<F>
export type ReadRow<F extends Fields> = Place &
  Readonly<Values<F>> &
  Readonly<Presence<F>> &
  Positions<F> &
  ReadGroups<F>

/** Points at one row of a table at a time. Moving it changes every row object obtained from it. */
export type Cursor<F extends Fields> = {
  readonly slot: number
  at(slot: number): ReadRow<F>
  /** Saves the row's before-image first, so that an undo of the block can restore it. */
  edit(slot: number): Row<F>
}

/** Common to cursors of rows and of groups inside them. */
class Base {
  memory: Memory
  words: Uint32Array
  base = 0
  readonly groups: GroupCursor[] = []

  constructor(memory: Memory) {
    this.memory = memory
    this.words = memory.words
  }

  /** Called when the table has grown. */
  setMemory(memory: Memory): void {
    this.memory = memory
    this.words = memory.words
    for (const group of this.groups) group.setMemory(memory)
  }
}

class GroupCursor extends Base {
  readonly #parent: Base
  readonly #offset: number
  readonly #stride: number
  readonly #count: number

  constructor(parent: Base, offset: number, { count, layout }: Repeated) {
    super(parent.memory)
    this.#parent = parent
    this.#offset = offset
    this.#stride = layout.stride
    this.#count = count
  }

  at(index: number): this {
    if (index >>> 0 >= this.#count) throw new RangeError(`no group ${index} of ${this.#count}`)
    this.base = this.#parent.base + this.#offset + index * this.#stride
    return this
  }
}

export class RowCursor extends Base {
  slot = 0
  readonly #stride: number
  readonly #touch: (slot: number) => void

  constructor(memory: Memory, stride: number, touch: (slot: number) => void) {
    super(memory)
    this.#stride = stride
    this.#touch = touch
  }

  at(slot: number): this {
    this.slot = slot
    this.base = slot * this.#stride
    return this
  }

  edit(slot: number): this {
    this.#touch(slot)
    return this.at(slot)
  }
}

type MakeCursor<F extends Fields> = (memory: Memory, touch: (slot: number) => void) => RowCursor & Cursor<F>

/** Returns a factory of cursors for this layout. */
export function cursorMaker<F extends Fields>(layout: Layout<F>): MakeCursor<F> {
  const LayoutCursor = class extends RowCursor {}
  const addGroups = defineFields(LayoutCursor.prototype, layout)
  return (memory, touch) => {
    const cursor = new LayoutCursor(memory, layout.stride, touch)
    addGroups(cursor)
    return cursor as RowCursor & Cursor<F>
  }
}

/** A row of zeros outside any table, for sums of the block being folded. `row.words.fill(0)` clears it. */
export function scratchRow<F extends Fields>(layout: Layout<F>): Row<F> {
  const cursor: Cursor<F> = cursorMaker(layout)(new Memory(layout.stride), () => undefined)
  return cursor.edit(0)
}

/** Defines accessors on a prototype. Returns a function that adds the cursors of repeated groups to an instance. */
function defineFields(prototype: Base, { placed }: Layout): (cursor: Base) => void {
  const adders: ((cursor: Base) => void)[] = []
  for (const place of placed) {
    const { name, field, at } = place
    if (field.kind === 'repeated') adders.push(groupAdder(name, at, field))
    else Object.defineProperties(prototype, accessorsOf(place))
  }
  return (cursor) => {
    for (const add of adders) add(cursor)
  }
}

function groupAdder(name: string, offset: number, field: Repeated): (cursor: Base) => void {
  const LayoutGroup = class extends GroupCursor {}
  const addInner = defineFields(LayoutGroup.prototype, field.layout)
  return (cursor) => {
    const group = new LayoutGroup(cursor, offset, field)
    addInner(group)
    cursor.groups.push(group)
    Object.defineProperty(cursor, name, { value: group })
  }
}
