import { constants, deflateRawSync } from 'node:zlib'

/** A window of 4 KiB covers most pushes and allocates an eighth of the default memory. */
const OPTIONS = { level: 6, windowBits: 12, memLevel: 6, finishFlush: constants.Z_SYNC_FLUSH }
const MAX_STORED_BYTES = 0xffff

/** DEFLATE blocks after a sync flush, none of them final, so that another block may follow. */
export function deflate(bytes: Buffer): Buffer {
  return deflateRawSync(bytes, OPTIONS)
}

/** The first byte of the empty block that ends a message; the receiver adds the other four (RFC 7692). */
export const MESSAGE_END = Buffer.from([0])

/** A stored (uncompressed) DEFLATE block: cheap enough to differ for each client. */
export function storedBlock(text: string): Buffer {
  const size = Buffer.byteLength(text)
  if (size > MAX_STORED_BYTES)
    throw new RangeError(`a stored block of ${size} bytes exceeds ${MAX_STORED_BYTES}`)
  const block = Buffer.allocUnsafe(5 + size)
  block[0] = 0
  block.writeUInt16LE(size, 1)
  block.writeUInt16LE(size ^ 0xffff, 3)
  block.write(text, 5)
  return block
}
