import { BASE58_BYTES, base58Text, readBase58 } from '../domain/base58.ts'

/**
 * An id inside a row or a key: one word with its size and form, then up to 32 bytes, padded with zeros. Addresses,
 * hashes, pool ids and pairs of larger pools fit. Hex and base58 of 32 bytes shrink to their bytes. All zeros are the empty
 * string.
 */
export const ID_WORDS = 9
export const MAX_ID_BYTES = 32

const WORD_BYTES = 4
const MAX_UTF8_BYTES = 3

// The first word: form of text in the lowest bit, size in the next six, form of base58 above.
const TEXT = 1
const SIZE_BITS = 0x3f
export const BASE58_ID = 0x80 | (BASE58_BYTES * 2)

const NOT_HEX = 0x100
const HEX_DIGITS = new Uint16Array(256).fill(NOT_HEX)
for (let digit = 0; digit < 16; digit++) HEX_DIGITS[digit.toString(16).charCodeAt(0)] = digit

/** The methods behind `write` and `toString`, whose argument checks take as long as the work on a short id. */
type FastBuffer = Buffer & {
  utf8Write(text: string, start: number): number
  hexSlice(start: number, end: number): string
  utf8Slice(start: number, end: number): string
}

const MAX_HEX_LETTERS = 2 + 2 * MAX_ID_BYTES
const letters = Buffer.alloc(MAX_HEX_LETTERS * MAX_UTF8_BYTES) as FastBuffer
const id = Buffer.alloc(MAX_ID_BYTES) as FastBuffer

/** Bytes of the id with this first word. */
export function idSize(head: number): number {
  return (head >>> 1) & SIZE_BITS
}

/** Words in use by the id at `at`, without its padding. */
export function usedIdWords(words: Uint32Array, at: number): number {
  return 1 + (((idSize(words[at] as number) + WORD_BYTES - 1) / WORD_BYTES) | 0)
}

/** Writes the id's first word and its bytes; clears the rest of `ID_WORDS`. */
export function writeId(words: Uint32Array, at: number, value: string): void {
  if (readHex(value)) {
    writeIdBytes(words, at, id, 0, (value.length - 2) / 2)
    return
  }
  if (readBase58(value, id, 0)) {
    writeBase58Id(words, at, id, 0)
    return
  }
  const size = id.write(value)
  if (size !== Buffer.byteLength(value)) throw new RangeError(`id is longer than 32 bytes: ${value}`)
  writeIdBytes(words, at, id, 0, size)
  words[at] = size === 0 ? 0 : size * 2 + TEXT
}

/** Like `writeId`, from the bytes of a base58 id. */
export function writeBase58Id(words: Uint32Array, at: number, bytes: Uint8Array, start: number): void {
  writeIdBytes(words, at, bytes, start, BASE58_BYTES)
  words[at] = BASE58_ID
}

/** Like `writeId`, from the bytes of a hex id. */
export function writeIdBytes(
  words: Uint32Array,
  at: number,
  bytes: Uint8Array,
  start: number,
  size: number,
): void {
  if (size > MAX_ID_BYTES) throw new RangeError(`id of ${size} bytes is longer than 32 bytes`)
  words[at] = size * 2
  let position = start
  const end = start + size
  for (let k = 1; k < ID_WORDS; k++) {
    let word = 0
    for (let shift = 0; shift < 32 && position < end; shift += 8)
      word |= (bytes[position++] as number) << shift
    words[at + k] = word
  }
}

export function readId(words: Uint32Array, at: number): string {
  const head = words[at] as number
  const size = idSize(head)
  for (let position = 0; position < size; position++) {
    id[position] = (words[at + 1 + (position >>> 2)] as number) >>> ((position & 3) * 8)
  }
  if (size === 0) return ''
  if (head === BASE58_ID) return base58Text(id, 0)
  return (head & TEXT) === 0 ? `0x${id.hexSlice(0, size)}` : id.utf8Slice(0, size)
}

/** Whether text from outside can be an id at all; a longer one is nobody's. */
export function fitsId(text: string): boolean {
  return readHex(text) || Buffer.byteLength(text) <= MAX_ID_BYTES || readBase58(text, id, 0)
}

export function isTextId(head: number): boolean {
  return (head & TEXT) !== 0
}

/** Parses a lower-case hex id into `id`; false if it is not one. */
function readHex(value: string): boolean {
  if (value.length % 2 !== 0 || value.length < 4 || value.length > MAX_HEX_LETTERS || !value.startsWith('0x'))
    return false
  if (letters.utf8Write(value, 0) !== value.length) return false
  let all = 0
  for (let from = 2, to = 0; from < value.length; from += 2) {
    const byte =
      ((HEX_DIGITS[letters[from] as number] as number) << 4) |
      (HEX_DIGITS[letters[from + 1] as number] as number)
    all |= byte
    id[to++] = byte
  }
  return all < NOT_HEX
}
