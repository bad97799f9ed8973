import { ID_WORDS } from './id-words.ts'

/**
 * A layout declares the fields of a row by name and kind, and assigns their positions. Fold code reads and writes
 * fields by name through cursors; no offset appears outside this folder.
 */

export type U32 = { readonly kind: 'u32' }
export type I32 = { readonly kind: 'i32' }
export type Flag = { readonly kind: 'flag' }
export type Uint = { readonly kind: 'uint'; readonly limbs: number }
export type Id = { readonly kind: 'id' }
export type Bytes = { readonly kind: 'bytes'; readonly max: number }
/** Not part of the state: neither committed nor restored by an undo, and 0 whenever a row is loaded. */
export type Volatile = { readonly kind: 'volatile' }
export type Optional<T extends Plain = Plain> = { readonly kind: 'optional'; readonly of: T }
export type Repeated<F extends Fields = Fields> = {
  readonly kind: 'repeated'
  readonly count: number
  readonly layout: Layout<F>
}

export type Plain = U32 | I32 | Uint | Id
export type Field = Plain | Flag | Bytes | Volatile | Optional | Repeated
export type Fields = { readonly [name: string]: Field }

/** A field and its position in the row. */
export type PlacedField = {
  readonly name: string
  readonly field: Field
  /** First word. A flag has no words, only its bit. */
  readonly at: number
  readonly words: number
  /** Word and mask of the bit of an optional field or flag. */
  readonly bitAt: number
  readonly mask: number
}

export type Layout<F extends Fields = Fields> = {
  readonly fields: F
  readonly placed: readonly PlacedField[]
  /** Words per row; even, because limbs are read two at a time. */
  readonly stride: number
  /** The number of leading words that are state; the rest is volatile. */
  readonly storedWords: number
}

export const u32: U32 = { kind: 'u32' }
/** Seconds, minutes, counts and block numbers are `u32`; ticks are `i32`. */
export const i32: I32 = { kind: 'i32' }
export const flag: Flag = { kind: 'flag' }
/** An amount, price or value. */
export const u256: Uint = { kind: 'uint', limbs: 8 }
/** A sum that stays exact beyond 2^256. */
export const u320: Uint = { kind: 'uint', limbs: 10 }
export const id: Id = { kind: 'id' }
export const volatile: Volatile = { kind: 'volatile' }

export function bytes(max: number): Bytes {
  return { kind: 'bytes', max }
}

/** Absent until it is written. The layout assigns its presence bit. */
export function optional<T extends Plain>(of: T): Optional<T> {
  return { kind: 'optional', of }
}

export function repeated<const F extends Fields>(count: number, fields: F): Repeated<F> {
  return { kind: 'repeated', count, layout: layout(fields) }
}

export function layout<const F extends Fields>(fields: F): Layout<F> {
  const all = Object.entries(fields)
  const bits = new Map(all.filter(([, field]) => hasBit(field)).map(([name], bit) => [name, bit]))
  const bitWords = Math.ceil(bits.size / 32)
  // Limbs and groups need even positions, and volatile fields come last.
  const order = all.toSorted(([, a], [, b]) => rankOf(a) - rankOf(b))
  let next = order.some(([, field]) => rankOf(field) === 0) ? bitWords + (bitWords % 2) : bitWords
  let storedWords = next
  const placed: PlacedField[] = []
  for (const [name, field] of order) {
    const bit = bits.get(name)
    const words = wordsOf(field)
    const mask = bit === undefined ? 0 : 1 << (bit & 31)
    placed.push({ name, field, at: next, words, bitAt: (bit ?? 0) >>> 5, mask })
    next += words
    if (field.kind !== 'volatile') storedWords = next
  }
  return { fields, placed, stride: Math.max(2, next + (next % 2)), storedWords }
}

function hasBit({ kind }: Field): boolean {
  return kind === 'optional' || kind === 'flag'
}

function rankOf(field: Field): number {
  const { kind } = field.kind === 'optional' ? field.of : field
  if (kind === 'volatile') return 2
  return kind === 'uint' || kind === 'repeated' ? 0 : 1
}

function wordsOf(field: Field): number {
  switch (field.kind) {
    case 'u32':
    case 'i32':
    case 'volatile':
      return 1
    case 'flag':
      return 0
    case 'uint':
      return field.limbs
    case 'id':
      return ID_WORDS
    case 'bytes':
      return 1 + Math.ceil(field.max / 4)
    case 'optional':
      return wordsOf(field.of)
    case 'repeated':
      return field.count * field.layout.stride
  }
}
