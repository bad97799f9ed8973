import { MAX_BASE58_LETTERS, writeBase58 } from '../domain/base58.ts'
import { writeHex } from './hex.ts'
import { BASE58_START, isBase58At } from './id-form.ts'

/** A head of one byte has at most 63 bytes of hex after it. */
export const MAX_ID_TEXT = Math.max(2 + 63 * 2, MAX_BASE58_LETTERS)
export const IS_TEXT = -1

/**
 * Writes the text of an id that a message holds at this offset, and returns its end; `IS_TEXT` if the id is text in the
 * message too, or too long.
 */
export function writeIdText(
  message: Uint8Array,
  at: number,
  to: Buffer,
  toWords: DataView,
  start: number,
): number {
  if (isBase58At(message, at)) return writeBase58(message, at + BASE58_START, to, start)
  const head = message[at] as number
  if (head >= 0x80 || head % 2 === 1) return IS_TEXT
  return writeHex(message, at + 1, head >> 1, toWords, start)
}
