import { constants, deflateRawSync } from 'node:zlib'

/** A window of 4 KiB is as much as most pushes have, and takes an eighth of the usual memory to set up. */
const OPTIONS = { level: 6, windowBits: 12, memLevel: 6, finishFlush: constants.Z_SYNC_FLUSH }
const MAX_STORED_BYTES = 0xffff

/** Whole DEFLATE blocks, none of them the last: any other block may follow. */
export function deflate(bytes: Buffer): Buffer {
  return deflateRawSync(bytes, OPTIONS)
}

/** The first byte of the empty block that ends a message; the receiver adds the other four (RFC 7692). */
export const MESSAGE_END = Buffer.from([0])

/** A DEFLATE block that is not compressed: it needs no compressor, so it can differ for each receiver. */
export function storedBlock(text: string): Buffer {
  const size = Buffer.byteLength(text)
  if (size > MAX_STORED_BYTES) throw new RangeError(`a stored block of ${size} bytes`)
  const block = Buffer.allocUnsafe(5 + size)
  block[0] = 0
  block.writeUInt16LE(size, 1)
  block.writeUInt16LE(size ^ 0xffff, 3)
  block.write(text, 5)
  return block
}
