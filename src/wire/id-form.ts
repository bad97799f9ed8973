import { BASE58_BYTES } from '../domain/base58.ts'

/**
 * An id on the wire: twice its size, plus one unless it is hex, then its bytes. Base58 of 32 bytes is a text of 33 bytes
 * that begins with a byte no UTF-8 contains, so that code which only skips or copies ids need not know it.
 */
export const BASE58_HEAD = (1 + BASE58_BYTES) * 2 + 1
export const BASE58_MARK = 0xff
/** Offset of the 32 bytes from the start of the id. */
export const BASE58_START = 2

/** Whether the id at this offset is base58; its 32 bytes may be truncated. */
export function isBase58At(message: Uint8Array, at: number): boolean {
  return message[at] === BASE58_HEAD && message[at + 1] === BASE58_MARK
}
