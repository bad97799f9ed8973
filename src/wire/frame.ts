import { constants, crc32, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { ChaintapeError } from '../domain/errors.ts'
import { ByteReader } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'

/**
 * The frame around each message in a log:
 *
 *     magic, version, link, part, parts, body, CRC-32 of the preceding bytes
 *
 * `link` is the checksum of the previous frame in the same log, so the frames form a chain: a consumer that remembers
 * the last checksum detects a flipped bit, a lost tail, and a rewritten history. A message above the payload limit is
 * split over several frames; it counts once its last part is stored.
 *
 * The version says whether the message, all its parts together, is compressed with zstd.
 */
export type Frame = {
  readonly link: number
  readonly part: number
  readonly parts: number
  readonly body: Uint8Array
  /** True if `body` is part of a compressed message. */
  readonly isCompressed: boolean
  /** This frame's own checksum: the `link` of the next one. */
  readonly checksum: number
}

const MAGIC = 0xc7
const PLAIN_VERSION = 1
const COMPRESSED_VERSION = 2
const CHECKSUM_BYTES = 4
/** Upper bound of the bytes that a frame adds to its body. */
export const FRAME_OVERHEAD_BYTES = 32
/** The `link` of a log's first frame. */
export const FIRST_LINK = 0

/** Smaller messages do not repay the setup cost of compression. */
const MIN_COMPRESSED_BYTES = 1024
/** Larger messages stay uncompressed, so that no frame can make a reader allocate more. */
const MAX_COMPRESSED_BYTES = 256 * 1024 * 1024
/**
 * The fastest level, but with a larger table of earlier positions: that of level 1 is too small for a message of 200 KB,
 * whose prices and ids recur far apart. Smaller messages get a smaller table from zstd itself.
 */
const COMPRESSION = {
  params: {
    [constants.ZSTD_c_compressionLevel]: 1,
    [constants.ZSTD_c_hashLog]: 16,
    [constants.ZSTD_c_minMatch]: 5,
  },
}

export function encodeFrame(frame: Omit<Frame, 'checksum'>): Uint8Array {
  const w = new ByteWriter(frame.body.length + FRAME_OVERHEAD_BYTES)
  w.u8(MAGIC)
  w.u8(frame.isCompressed ? COMPRESSED_VERSION : PLAIN_VERSION)
  w.u32(frame.link)
  w.varuint(frame.part)
  w.varuint(frame.parts)
  const header = w.finish()
  w.raw(frame.body)
  w.u32(crc32(frame.body, crc32(header)))
  return w.finish()
}

export function decodeFrame(bytes: Uint8Array): Frame {
  if (bytes.length < CHECKSUM_BYTES) throw damaged('frame is too short')
  const covered = bytes.subarray(0, bytes.length - CHECKSUM_BYTES)
  const checksum = new ByteReader(bytes.subarray(covered.length)).u32()
  if (crc32(covered) !== checksum) throw damaged('checksum does not match')
  const r = new ByteReader(covered)
  const magic = r.u8()
  const version = r.u8()
  if (magic !== MAGIC) throw new ChaintapeError('message_unreadable', 'not a frame')
  if (version !== PLAIN_VERSION && version !== COMPRESSED_VERSION) {
    const known = `${PLAIN_VERSION} or ${COMPRESSED_VERSION}`
    throw new ChaintapeError('message_unreadable', `frame has version ${version}, not ${known}`)
  }
  const link = r.u32()
  const part = r.varuint()
  const parts = r.varuint()
  if (part >= parts) throw damaged(`part ${part} of ${parts}`)
  const isCompressed = version === COMPRESSED_VERSION
  return { link, part, parts, body: r.raw(r.remaining), isCompressed, checksum }
}

/** The frames of one message, each at most `maxBytes`, linked to the frame with checksum `link`. */
export function splitMessage(message: Uint8Array, link: number, maxBytes: number): Uint8Array[] {
  const room = maxBytes - FRAME_OVERHEAD_BYTES
  if (room < 1) throw new RangeError(`payload limit ${maxBytes} leaves no room for a message`)
  const body = compressed(message)
  const isCompressed = body !== message
  const parts = Math.max(1, Math.ceil(body.length / room))
  const frames: Uint8Array[] = []
  let previous = link
  for (let part = 0; part < parts; part++) {
    const slice = body.subarray(part * room, (part + 1) * room)
    const bytes = encodeFrame({ link: previous, part, parts, body: slice, isCompressed })
    frames.push(bytes)
    previous = frameChecksum(bytes)
  }
  return frames
}

export function frameChecksum(bytes: Uint8Array): number {
  return new ByteReader(bytes.subarray(bytes.length - CHECKSUM_BYTES)).u32()
}

/** Returns the message itself if compression does not make it smaller. */
function compressed(message: Uint8Array): Uint8Array {
  if (message.length < MIN_COMPRESSED_BYTES || message.length > MAX_COMPRESSED_BYTES) return message
  const smaller = zstdCompressSync(message, COMPRESSION)
  return smaller.length < message.length ? smaller : message
}

function decompressed(bytes: Uint8Array): Uint8Array {
  try {
    return zstdDecompressSync(bytes, { maxOutputLength: MAX_COMPRESSED_BYTES })
  } catch (error) {
    throw damaged(`message cannot be decompressed: ${(error as Error).message}`)
  }
}

/**
 * Reassembles messages frame by frame. If a writer died between two parts, the next message starts with a first part;
 * the incomplete one was never acknowledged and is dropped.
 */
export class MessageAssembler {
  #link: number | undefined
  #parts: Uint8Array[] = []
  #expected = 0

  /** `link` is the checksum of the last consumed frame, if known. */
  constructor(link?: number) {
    this.#link = link
  }

  /** Checksum of the last pushed frame. */
  get link(): number | undefined {
    return this.#link
  }

  /** Returns the message if this frame is its last part. */
  push(bytes: Uint8Array): Uint8Array | undefined {
    const frame = decodeFrame(bytes)
    if (this.#link !== undefined && frame.link !== this.#link) {
      throw damaged('frame does not follow the one before it')
    }
    this.#link = frame.checksum
    if (frame.part === 0) {
      this.#parts = []
      this.#expected = frame.parts
    }
    if (frame.part !== this.#parts.length) {
      throw damaged(`part ${frame.part} follows ${this.#parts.length} parts`)
    }
    if (frame.parts !== this.#expected) {
      throw damaged(`part ${frame.part} of ${frame.parts} follows a message of ${this.#expected} parts`)
    }
    this.#parts.push(frame.body)
    if (frame.part < frame.parts - 1) return undefined
    const whole = this.#parts.length === 1 ? frame.body : Buffer.concat(this.#parts)
    this.#parts = []
    return frame.isCompressed ? decompressed(whole) : whole
  }
}

function damaged(reason: string): ChaintapeError {
  return new ChaintapeError('log_damaged', reason)
}
