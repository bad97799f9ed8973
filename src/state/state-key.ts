import {
  BASE58_BYTES,
  base58Text,
  MAX_BASE58_LETTERS,
  MIN_BASE58_LETTERS,
  readBase58,
} from '../domain/base58.ts'

const SLASH = 0x2f
/** Precedes a part that is not hex: two bytes of size, then its UTF-8. */
export const TEXT = 0xff
/** Precedes the table, after the id. */
export const TABLE = 0xfe
/** Precedes a 4-byte big-endian number, which only keys of rows have. */
export const NUMBER = 0xfd
/** Precedes the 32 bytes of a base58 part. */
export const BASE58 = 0xfc
/** Longer than any address or hash, and less than a marker. */
const MAX_HEX_BYTES = 64
/** More than any known id, and less than the store's limit. */
const MAX_LETTERS = 600
const MAX_UTF8_BYTES = 3

const NOT_HEX = 0x100
const HEX_DIGITS = new Uint16Array(256).fill(NOT_HEX)
for (let digit = 0; digit < 16; digit++) HEX_DIGITS[digit.toString(16).charCodeAt(0)] = digit

/** The internal method behind `write`; calling it directly skips the argument checks. */
type Letters = Buffer & {
  utf8Write(text: string, start: number): number
  latin1Slice(start: number, end: number): string
}

const letters = Buffer.alloc(MAX_LETTERS * MAX_UTF8_BYTES) as Letters
/** A part of one character takes four bytes, and no part takes more per character. */
const target = Buffer.alloc(MAX_LETTERS * 4)

/**
 * A key in the store's encoding. `<table>/<id>` becomes the id, part by part, followed by the table: all records of a
 * pair are adjacent, so the store reads and writes one page for them instead of one per table. Hex is shrunk to its
 * bytes, and so is base58 of 32 bytes. The result is valid until the next call.
 */
export function encodeStateKey(key: string): Buffer {
  if (key.length > MAX_LETTERS) throw new RangeError(`key of ${key.length} letters`)
  const size = letters.utf8Write(key, 0)
  let tableEnd = 0
  while (tableEnd < size && letters[tableEnd] !== SLASH) tableEnd++
  let at = 0
  for (let from = tableEnd + 1; from <= size; ) {
    let end = from
    while (end < size && letters[end] !== SLASH) end++
    at = writePart(from, end, at)
    from = end + 1
  }
  target[at++] = TABLE
  for (let from = 0; from < tableEnd; from++) target[at++] = letters[from] as number
  return target.subarray(0, at)
}

/** The key of a record or a row as `<table>/<id>`. */
export function decodeStateKey(key: Uint8Array): string {
  const bytes = Buffer.from(key.buffer, key.byteOffset, key.length)
  const parts: string[] = []
  let at = 0
  while (bytes[at] !== TABLE) {
    const head = bytes.readUInt8(at++)
    if (head === TEXT) {
      const size = bytes.readUInt16BE(at)
      at += 2 + size
      parts.push(bytes.toString('utf8', at - size, at))
    } else if (head === NUMBER) {
      parts.push(String(bytes.readUInt32BE(at)))
      at += 4
    } else if (head === BASE58) {
      parts.push(base58Text(bytes, at))
      at += BASE58_BYTES
    } else {
      at += head
      parts.push(`0x${bytes.toString('hex', at - head, at)}`)
    }
  }
  return [bytes.toString('utf8', at + 1), ...parts].join('/')
}

/** The key as `<table>/<id>`, from either form. */
export function stateKeyText(key: string | Uint8Array): string {
  return typeof key === 'string' ? key : decodeStateKey(key)
}

function writePart(from: number, end: number, start: number): number {
  const hexEnd = writeHex(from, end, start)
  if (hexEnd !== undefined) return hexEnd
  let at = start
  const size = end - from
  if (isBase58(from, end, at + 1)) {
    target[at] = BASE58
    return at + 1 + BASE58_BYTES
  }
  target[at++] = TEXT
  target[at++] = size >> 8
  target[at++] = size & 0xff
  for (let i = from; i < end; i++) target[at++] = letters[i] as number
  return at
}

/** Writes the bytes at `start` if it is. */
function isBase58(from: number, end: number, start: number): boolean {
  const size = end - from
  if (size < MIN_BASE58_LETTERS || size > MAX_BASE58_LETTERS) return false
  return readBase58(letters.latin1Slice(from, end), target, start)
}

/** Undefined unless all of it is lower-case hex after 0x. */
function writeHex(from: number, end: number, start: number): number | undefined {
  const size = (end - from - 2) / 2
  if (!Number.isInteger(size) || size < 0 || size > MAX_HEX_BYTES) return undefined
  if (letters[from] !== 0x30 || letters[from + 1] !== 0x78) return undefined
  let at = start
  target[at++] = size
  let all = 0
  for (let i = from + 2; i < end; i += 2) {
    const byte = (digitAt(i) << 4) | digitAt(i + 1)
    all |= byte
    target[at++] = byte
  }
  return all < NOT_HEX ? at : undefined
}

function digitAt(at: number): number {
  return HEX_DIGITS[letters[at] as number] as number
}
