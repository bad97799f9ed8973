/**
 * Base58 text of exactly 32 bytes, the form of Solana's addresses and block hashes. Libraries convert any length one digit
 * at a time; this multiplies by a table of powers and carries once at the end, because ids are converted for every swap.
 */
export const BASE58_BYTES = 32
const SIGNATURE_BYTES = 64
export const MIN_BASE58_LETTERS = 32
export const MAX_BASE58_LETTERS = 44

const ALPHABET = Buffer.from('123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz')
const ONE = ALPHABET[0] as number
const RADIX = 58
const NOT_DIGIT = 0xff
const DIGITS = new Uint8Array(128).fill(NOT_DIGIT)
for (let digit = 0; digit < RADIX; digit++) DIGITS[ALPHABET[digit] as number] = digit

const GROUP_DIGITS = 4
const GROUP = RADIX ** GROUP_DIGITS
const LIMB_BYTES = 3
const LIMB = 2 ** 24
/** 33 bytes, or 44 digits: either holds 32 bytes. */
const COUNT = 11
/** Twice as many, for a signature. A sum of so many products of both units is below 2 ** 53, so it is exact. */
const MAX_COUNT = 2 * COUNT

const GROUPS_OF_LIMBS = powersOf(LIMB, GROUP)
const LIMBS_OF_GROUPS = powersOf(GROUP, LIMB)
/** The two letters of each number below 58 * 58. */
const PAIR = RADIX * RADIX
const FIRST_LETTERS = Uint8Array.from({ length: PAIR }, (_, pair) => ALPHABET[Math.floor(pair / RADIX)] ?? 0)
const SECOND_LETTERS = Uint8Array.from({ length: PAIR }, (_, pair) => ALPHABET[pair % RADIX] ?? 0)

/** Limbs or groups, lowest first. */
const words = new Uint32Array(MAX_COUNT)
const letters = Buffer.alloc(2 * MAX_BASE58_LETTERS) as Buffer & {
  latin1Slice(start: number, end: number): string
}

/** Place k of `base` ** i, written in `unit`, is at k * MAX_COUNT + i. */
function powersOf(base: number, unit: number): Uint32Array {
  const places = new Uint32Array(MAX_COUNT * MAX_COUNT)
  for (let i = 0, power = 1n; i < MAX_COUNT; i++, power *= BigInt(base)) {
    let rest = power
    for (let k = 0; k < MAX_COUNT; k++, rest /= BigInt(unit)) {
      places[k * MAX_COUNT + i] = Number(rest % BigInt(unit))
    }
  }
  return places
}

/** Converts limbs to groups or groups to limbs, in place: no place k depends on a power below k. */
function convertWords(powers: Uint32Array, unit: number, count: number): void {
  let carry = 0
  for (let k = 0; k < count; k++) {
    let sum = carry
    for (let i = k, at = k * MAX_COUNT + k; i < count; i++, at++) {
      sum += (words[i] as number) * (powers[at] as number)
    }
    carry = Math.floor(sum / unit)
    words[k] = sum - carry * unit
  }
}

/**
 * Writes the bytes of the text at `at`. False, with undefined bytes there, unless the text is what `base58Text` returns
 * for 32 bytes.
 */
export function readBase58(text: string, target: Uint8Array, at: number): boolean {
  const size = text.length
  if (size < MIN_BASE58_LETTERS || size > MAX_BASE58_LETTERS) return false
  let ones = 0
  while (ones < size && text.charCodeAt(ones) === ONE) ones++
  let end = size
  for (let k = 0; k < COUNT; k++) {
    const start = Math.max(0, end - GROUP_DIGITS)
    let group = 0
    for (let from = start; from < end; from++) {
      const code = text.charCodeAt(from)
      const digit = code < DIGITS.length ? (DIGITS[code] as number) : NOT_DIGIT
      if (digit === NOT_DIGIT) return false
      group = group * RADIX + digit
    }
    words[k] = group
    end = start
  }
  convertWords(LIMBS_OF_GROUPS, LIMB, COUNT)
  const top = words[COUNT - 1] as number
  if (top > 0xffff) return false
  target[at] = top >>> 8
  target[at + 1] = top
  for (let k = COUNT - 2, to = at + 2; k >= 0; k--, to += LIMB_BYTES) {
    const limb = words[k] as number
    target[to] = limb >>> 16
    target[to + 1] = limb >>> 8
    target[to + 2] = limb
  }
  return ones === leadingZeros(target, at, BASE58_BYTES)
}

/** Writes the text of the 32 bytes at `at` to `target`, which has room for 44 letters, and returns its end. */
export function writeBase58(bytes: Uint8Array, at: number, target: Uint8Array, start: number): number {
  return writeLetters(bytes, at, BASE58_BYTES, target, start)
}

export function base58Text(bytes: Uint8Array, at: number): string {
  return letters.latin1Slice(0, writeLetters(bytes, at, BASE58_BYTES, letters, 0))
}

/** The text of a signature, which has 64 bytes. */
export function signatureText(signature: Uint8Array): string {
  return letters.latin1Slice(0, writeLetters(signature, 0, SIGNATURE_BYTES, letters, 0))
}

/** Neither size is a multiple of a limb's: the highest one is short. */
function writeLetters(
  bytes: Uint8Array,
  at: number,
  size: typeof BASE58_BYTES | typeof SIGNATURE_BYTES,
  target: Uint8Array,
  start: number,
): number {
  const count = size === BASE58_BYTES ? COUNT : MAX_COUNT
  for (let k = 0, from = at + size - LIMB_BYTES; k < count - 1; k++, from -= LIMB_BYTES) {
    words[k] =
      ((bytes[from] as number) << 16) | ((bytes[from + 1] as number) << 8) | (bytes[from + 2] as number)
  }
  const first = bytes[at] as number
  words[count - 1] = size % LIMB_BYTES === 1 ? first : (first << 8) | (bytes[at + 1] as number)
  convertWords(GROUPS_OF_LIMBS, GROUP, count)
  let to = start
  for (let zeros = leadingZeros(bytes, at, size); zeros > 0; zeros--) target[to++] = ONE
  let isLeading = true
  for (let k = count - 1; k >= 0; k--) {
    const group = words[k] as number
    if (isLeading) {
      to = writeWithoutZeros(group, target, to)
      isLeading = group === 0
      continue
    }
    const high = (group / PAIR) | 0
    const low = group % PAIR
    target[to] = FIRST_LETTERS[high] as number
    target[to + 1] = SECOND_LETTERS[high] as number
    target[to + 2] = FIRST_LETTERS[low] as number
    target[to + 3] = SECOND_LETTERS[low] as number
    to += GROUP_DIGITS
  }
  return to
}

/** Nothing for zero. */
function writeWithoutZeros(group: number, target: Uint8Array, start: number): number {
  let to = start
  for (let unit = GROUP / RADIX; unit >= 1; unit /= RADIX) {
    if (group >= unit) target[to++] = ALPHABET[Math.floor(group / unit) % RADIX] as number
  }
  return to
}

function leadingZeros(bytes: Uint8Array, at: number, size: number): number {
  let zeros = 0
  while (zeros < size && bytes[at + zeros] === 0) zeros++
  return zeros
}
