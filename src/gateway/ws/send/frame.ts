const FINAL_TEXT = 0x81
const TWO_BYTES = 126
const EIGHT_BYTES = 127
/** RSV1 of permessage-deflate: the message is compressed. */
const COMPRESSED = 0x40

/** A text message in wire format: a single frame, unmasked (as servers send) and uncompressed. */
export function textFrame(...parts: readonly (string | Buffer)[]): Buffer {
  return frameOf(FINAL_TEXT, parts)
}

/** The same for a message of DEFLATE blocks. */
export function compressedFrame(...blocks: readonly Buffer[]): Buffer {
  return frameOf(FINAL_TEXT | COMPRESSED, blocks)
}

function frameOf(firstByte: number, parts: readonly (string | Buffer)[]): Buffer {
  const size = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0)
  const header = size < TWO_BYTES ? 2 : size < 0x1_0000 ? 4 : 10
  const frame = Buffer.allocUnsafe(header + size)
  frame[0] = firstByte
  if (header === 2) frame[1] = size
  else if (header === 4) {
    frame[1] = TWO_BYTES
    frame.writeUInt16BE(size, 2)
  } else {
    frame[1] = EIGHT_BYTES
    frame.writeBigUInt64BE(BigInt(size), 2)
  }
  let at = header
  for (const part of parts) at += typeof part === 'string' ? frame.write(part, at) : part.copy(frame, at)
  return frame
}

/** Limit of cached joined bytes: if every socket receives something else, caching gains nothing. */
const KEPT_BYTES = 16 * 1_024 * 1_024

/** Frames that are written together. Sockets with the same frames share one joined buffer. */
export class JoinedFrames {
  readonly #byFirst = new Map<Buffer, { readonly frames: readonly Buffer[]; readonly bytes: Buffer }>()
  #keptBytes = 0

  of(frames: readonly Buffer[]): Buffer {
    const first = frames[0] as Buffer
    const known = this.#byFirst.get(first)
    if (known !== undefined && areSame(known.frames, frames)) return known.bytes
    const bytes = Buffer.concat(frames)
    if (this.#keptBytes + bytes.length <= KEPT_BYTES) {
      this.#byFirst.set(first, { frames, bytes })
      this.#keptBytes += bytes.length
    }
    return bytes
  }
}

function areSame(some: readonly Buffer[], others: readonly Buffer[]): boolean {
  return some.length === others.length && some.every((frame, at) => frame === others[at])
}
