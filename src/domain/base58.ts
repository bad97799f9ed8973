/**
 * Base58 text of exactly 32 bytes, the form of Solana's addresses and block hashes. Libraries convert any length one digit
 * at a time; this handles four digits and three bytes at once, because ids are converted for every swap.
 */
export const BASE58_BYTES = 32
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
/** 33 bytes, or 44 digits: either holds 32 bytes. A product of both units is far below 2 ** 53. */
const COUNT = 11

/** Lowest first. */
const limbs = new Uint32Array(COUNT)
const groups = new Uint32Array(COUNT)
const letters = Buffer.alloc(MAX_BASE58_LETTERS) as Buffer & {
  latin1Slice(start: number, end: number): string
}

/**
 * Writes the bytes of the text at `at`. False, with undefined bytes there, unless the text is what `base58Text` returns
 * for 32 bytes.
 */
export function readBase58(text: string, target: Uint8Array, at: number): boolean {
  const size = text.length
  if (size < MIN_BASE58_LETTERS || size > MAX_BASE58_LETTERS) return false
  let used = 0
  let ones = 0
  let isLeading = true
  for (let from = 0; from < size; ) {
    const end = from === 0 ? size % GROUP_DIGITS || GROUP_DIGITS : from + GROUP_DIGITS
    let carry = 0
    for (; from < end; from++) {
      const code = text.charCodeAt(from)
      const digit = code < DIGITS.length ? (DIGITS[code] as number) : NOT_DIGIT
      if (digit === NOT_DIGIT) return false
      if (digit !== 0) isLeading = false
      else if (isLeading) ones++
      carry = carry * RADIX + digit
    }
    for (let k = 0; k < used; k++) {
      const product = (limbs[k] as number) * GROUP + carry
      carry = Math.floor(product / LIMB)
      limbs[k] = product - carry * LIMB
    }
    if (carry !== 0) limbs[used++] = carry
  }
  for (let k = used; k < COUNT; k++) limbs[k] = 0
  const top = limbs[COUNT - 1] as number
  if (top > 0xffff) return false
  target[at] = top >>> 8
  target[at + 1] = top
  for (let k = COUNT - 2, to = at + 2; k >= 0; k--, to += LIMB_BYTES) {
    const limb = limbs[k] as number
    target[to] = limb >>> 16
    target[to + 1] = limb >>> 8
    target[to + 2] = limb
  }
  return ones === leadingZeros(target, at)
}

/** Writes the text of the 32 bytes at `at` to `target`, which has room for 44 letters, and returns its end. */
export function writeBase58(bytes: Uint8Array, at: number, target: Uint8Array, start: number): number {
  let used = 0
  let from = at
  for (let nth = 0; nth < COUNT; nth++) {
    let carry = ((bytes[from] as number) << 8) | (bytes[from + 1] as number)
    if (nth > 0) carry = (carry << 8) | (bytes[from + 2] as number)
    from += nth > 0 ? LIMB_BYTES : LIMB_BYTES - 1
    for (let k = 0; k < used; k++) {
      const product = (groups[k] as number) * LIMB + carry
      carry = Math.floor(product / GROUP)
      groups[k] = product - carry * GROUP
    }
    for (; carry !== 0; carry = Math.floor(carry / GROUP)) groups[used++] = carry % GROUP
  }
  let end = start
  for (let zeros = leadingZeros(bytes, at); zeros > 0; zeros--) target[end++] = ONE
  let isLeading = true
  for (let k = used - 1; k >= 0; k--) {
    const group = groups[k] as number
    for (let unit = GROUP / RADIX; unit >= 1; unit /= RADIX) {
      const digit = ((group / unit) | 0) % RADIX
      if (isLeading && digit === 0) continue
      isLeading = false
      target[end++] = ALPHABET[digit] as number
    }
  }
  return end
}

export function base58Text(bytes: Uint8Array, at: number): string {
  return letters.latin1Slice(0, writeBase58(bytes, at, letters, 0))
}

function leadingZeros(bytes: Uint8Array, at: number): number {
  let zeros = 0
  while (zeros < BASE58_BYTES && bytes[at + zeros] === 0) zeros++
  return zeros
}
