/** Hex text and its bytes, converted byte by byte: for an address or a hash, a call into V8's conversions costs more. */

/** The internal method behind `write`: for a short text, its argument checks take as long as the work. */
export type WritingBuffer = Buffer & { utf8Write(text: string, start: number): number }

/** Per UTF-16 code unit. */
export const MAX_UTF8_BYTES = 3
export const NOT_HEX = -1

const INVALID_DIGIT = 0x100
const DIGITS = new Uint16Array(256).fill(INVALID_DIGIT)
for (let digit = 0; digit < 16; digit++) DIGITS[digit.toString(16).charCodeAt(0)] = digit
/** The two digits of each byte. */
const PAIRS = Uint16Array.from({ length: 256 }, (_, byte) =>
  Buffer.from(byte.toString(16).padStart(2, '0')).readUInt16BE(),
)
const ZERO_X = 0x3078

/** Whether a text looks like hex by its length and prefix. */
export function mayBeHex(text: string): boolean {
  return text.length % 2 === 0 && text.startsWith('0x')
}

/**
 * Writes the bytes of a text that may be hex, and returns their end; `NOT_HEX` unless its digits are lower-case hex. The
 * buffer has room for the text itself.
 */
export function readHex(text: string, to: WritingBuffer, start: number): number {
  // Writes the characters first and then the bytes over them, because reading from a buffer is far faster than from a
  // string.
  let at = start
  const end = at + to.utf8Write(text, at)
  let all = 0
  for (let i = at + 2; i < end; i += 2) {
    const byte = ((DIGITS[to[i] as number] as number) << 4) | (DIGITS[to[i + 1] as number] as number)
    all |= byte
    to[at++] = byte
  }
  return all <= 0xff ? at : NOT_HEX
}

/** Writes bytes as hex text with its prefix, and returns the end of the text. */
export function writeHex(bytes: Uint8Array, start: number, size: number, to: DataView, at: number): number {
  to.setUint16(at, ZERO_X)
  let next = at
  for (let i = 0; i < size; i++) {
    next += 2
    to.setUint16(next, PAIRS[bytes[start + i] as number] as number)
  }
  return next + 2
}
