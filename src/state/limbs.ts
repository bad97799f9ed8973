import type { Memory } from './memory.ts'

/**
 * Arithmetic on stored numbers: little-endian 32-bit limbs inside a `Uint32Array`. `(words, at)` is a number of eight
 * limbs, which hold any amount, price or value, unless the number of limbs is given.
 */

export const LIMBS = 8
const LIMB_BYTES = 4
/** The sum of two limbs and a carry is below twice this, so the carry is at most 1. */
const LIMB_RANGE = 2 ** 32

export function compare(a: Uint32Array, i: number, b: Uint32Array, j: number): number {
  for (let k = LIMBS - 1; k >= 0; k--) {
    const x = a[i + k] as number
    const y = b[j + k] as number
    if (x !== y) return x < y ? -1 : 1
  }
  return 0
}

/** Compares `n` limbs with `m` limbs. */
export function compareLimbs(
  a: Uint32Array,
  i: number,
  n: number,
  b: Uint32Array,
  j: number,
  m: number,
): number {
  for (let k = Math.max(n, m) - 1; k >= 0; k--) {
    const x = k < n ? (a[i + k] as number) : 0
    const y = k < m ? (b[j + k] as number) : 0
    if (x !== y) return x < y ? -1 : 1
  }
  return 0
}

export function isZero(a: Uint32Array, i: number): boolean {
  return isZeroLimbs(a, i, LIMBS)
}

export function isZeroLimbs(a: Uint32Array, i: number, n: number): boolean {
  for (let k = 0; k < n; k++) if (a[i + k] !== 0) return false
  return true
}

export function copy(to: Uint32Array, i: number, from: Uint32Array, j: number): void {
  for (let k = 0; k < LIMBS; k++) to[i + k] = from[j + k] as number
}

export function clear(a: Uint32Array, i: number): void {
  for (let k = 0; k < LIMBS; k++) a[i + k] = 0
}

/** Adds in place. Returns the carry: 1 if the sum does not fit; only its lower limbs are stored then. */
export function add(to: Uint32Array, i: number, from: Uint32Array, j: number): number {
  return addTo(to, i, LIMBS, from, j, LIMBS)
}

/** Subtracts in place. Returns the borrow: 1 if the difference is negative; it is wrapped then. */
export function subtract(to: Uint32Array, i: number, from: Uint32Array, j: number): number {
  return subtractFrom(to, i, LIMBS, from, j, LIMBS)
}

/** Adds `m` limbs to `n` limbs, n >= m. */
export function addTo(
  to: Uint32Array,
  i: number,
  n: number,
  from: Uint32Array,
  j: number,
  m: number,
): number {
  let carry = 0
  for (let k = 0; k < m; k++) {
    const sum = (to[i + k] as number) + (from[j + k] as number) + carry
    to[i + k] = sum
    carry = sum >= LIMB_RANGE ? 1 : 0
  }
  for (let k = m; k < n && carry !== 0; k++) {
    const sum = (to[i + k] as number) + 1
    to[i + k] = sum
    carry = sum >= LIMB_RANGE ? 1 : 0
  }
  return carry
}

/** Subtracts `m` limbs from `n` limbs, n >= m. */
export function subtractFrom(
  to: Uint32Array,
  i: number,
  n: number,
  from: Uint32Array,
  j: number,
  m: number,
): number {
  let borrow = 0
  for (let k = 0; k < m; k++) {
    const rest = (to[i + k] as number) - (from[j + k] as number) - borrow
    to[i + k] = rest
    borrow = rest < 0 ? 1 : 0
  }
  for (let k = m; k < n && borrow !== 0; k++) {
    const rest = (to[i + k] as number) - 1
    to[i + k] = rest
    borrow = rest < 0 ? 1 : 0
  }
  return borrow
}

/** `at` and `limbs` must be even. */
export function readBigint({ words, longs }: Memory, at: number, limbs = LIMBS): bigint {
  let top = at + limbs - 2
  while (top > at && ((words[top] as number) | (words[top + 1] as number)) === 0) top -= 2
  let long = top >> 1
  let value = longs[long] as bigint
  for (const first = at >> 1; long > first; ) value = (value << 64n) | (longs[--long] as bigint)
  return value
}

/** `at` and `limbs` must be even. */
export function writeBigint({ longs }: Memory, at: number, value: bigint, limbs = LIMBS): void {
  if (value < 0n) throw new RangeError('a negative number has no limbs')
  let rest = value
  const end = (at + limbs) >> 1
  for (let long = at >> 1; long < end; long++) {
    longs[long] = rest
    if (rest !== 0n) rest >>= 64n
  }
  if (rest !== 0n) throw new RangeError(`number too large for ${limbs} limbs`)
}

/** Reads a 32-byte big-endian word, as contracts encode numbers. */
export function limbsOfWord(words: Uint32Array, at: number, view: DataView, offset: number): void {
  for (let k = 0; k < LIMBS; k++) words[at + k] = view.getUint32(offset + (LIMBS - 1 - k) * LIMB_BYTES)
}

/**
 * Writes the wire's `biguint`: size, then little-endian bytes without trailing zeros. Returns the position after it.
 */
export function writeLimbs(
  bytes: Uint8Array,
  start: number,
  words: Uint32Array,
  at: number,
  limbs = LIMBS,
): number {
  let top = limbs - 1
  while (top >= 0 && words[at + top] === 0) top--
  let position = start + 1
  for (let k = 0; k < top; k++) {
    const limb = words[at + k] as number
    bytes[position] = limb
    bytes[position + 1] = limb >>> 8
    bytes[position + 2] = limb >>> 16
    bytes[position + 3] = limb >>> 24
    position += LIMB_BYTES
  }
  for (let limb = top < 0 ? 0 : (words[at + top] as number); limb !== 0; limb >>>= 8) bytes[position++] = limb
  bytes[start] = position - start - 1
  return position
}

/** Reads the wire's `biguint`. Returns the position after it. */
export function readLimbs(
  bytes: Uint8Array,
  start: number,
  words: Uint32Array,
  at: number,
  limbs = LIMBS,
): number {
  const size = bytes[start] as number
  if (size > limbs * LIMB_BYTES)
    throw new RangeError(`number of ${size} bytes is too large for ${limbs} limbs`)
  const end = start + 1 + size
  let position = start + 1
  for (let k = 0; k < limbs; k++) {
    let limb = 0
    for (let shift = 0; shift < 32 && position < end; shift += 8)
      limb |= (bytes[position++] as number) << shift
    words[at + k] = limb
  }
  return end
}
