const WORD = 32
const SIGN = 1n << 255n
const TWO_256 = 1n << 256n
/** Bounds the work that a hostile response can cause. */
const MAX_ITEMS = 64
/** Leading zeros, or sign bits, of a small number as an indexed parameter. */
const PLUS = `0x${'0'.repeat(56)}`
const MINUS = `0x${'f'.repeat(56)}`
/** A power of two, so that the modulo in `topicAddress` is a mask. */
const RECENT_ADDRESSES = 4_096
/** Most trades use a few routers, so reusing the string is faster than slicing it and comparing it later. */
const recentAddresses: ({ readonly topic: string; readonly address: string } | undefined)[] = new Array(
  RECENT_ADDRESSES,
)
/** Converts bytes to a bigint without a hex string, which would take most of the decoding time. */
const scratch = new DataView(new ArrayBuffer(8))

/** The 32-byte word at `index` as an unsigned integer; undefined if the data is too short. */
export function uintAt(data: Uint8Array | undefined, index: number): bigint | undefined {
  const start = index * WORD
  if (data === undefined || start + WORD > data.length) return undefined
  const lowest = uint64At(data, start + 24)
  // Most amounts fit in 64 bits, nearly all in 128.
  if (isAll(0, data, start, 16)) {
    return isAll(0, data, start + 16, 8) ? lowest : (uint64At(data, start + 16) << 64n) | lowest
  }
  const upper = (uint64At(data, start) << 64n) | uint64At(data, start + 8)
  return (upper << 128n) | (uint64At(data, start + 16) << 64n) | lowest
}

/** The 32-byte word at `index` as a signed integer. */
export function intAt(data: Uint8Array | undefined, index: number): bigint | undefined {
  const value = uintAt(data, index)
  return value === undefined || value < SIGN ? value : value - TWO_256
}

/** A number of a small type, such as a fee or an index; undefined if it is out of range. */
export function smallUintAt(data: Uint8Array | undefined, index: number): number | undefined {
  const start = index * WORD
  if (data === undefined || start + WORD > data.length) return undefined
  return isAll(0, data, start, 28) ? uint32At(data, start + 28) : undefined
}

/** A signed number of a small type, such as a tick. */
export function smallIntAt(data: Uint8Array | undefined, index: number): number | undefined {
  const start = index * WORD
  if (data === undefined || start + WORD > data.length) return undefined
  const value = uint32At(data, start + 28) | 0
  return isAll(value < 0 ? 0xff : 0, data, start, 28) ? value : undefined
}

/** The address in the 32-byte word at `index`; undefined if malformed. */
export function addressAt(data: Uint8Array | undefined, index: number): string | undefined {
  return topicAddress(wordAt(data, index))
}

/** The 32-byte word at `index` as hex. */
export function wordAt(data: Uint8Array | undefined, index: number): string | undefined {
  const start = index * WORD
  if (data === undefined || start + WORD > data.length) return undefined
  return `0x${Buffer.from(data.buffer, data.byteOffset + start, WORD).toString('hex')}`
}

/**
 * The array whose offset is at `index`; undefined if any of it is missing or malformed. Items of several words are read
 * by their first word.
 */
export function listAt<Item>(
  data: Uint8Array | undefined,
  index: number,
  read: (data: Uint8Array | undefined, index: number) => Item | undefined,
  words = 1,
): Item[] | undefined {
  const offset = smallUintAt(data, index)
  if (offset === undefined || offset % WORD !== 0) return undefined
  const length = smallUintAt(data, offset / WORD)
  if (length === undefined || length > MAX_ITEMS) return undefined
  return itemsAt(data, offset / WORD + 1, length, read, words)
}

/** `count` consecutive items, starting at `index`. */
export function itemsAt<Item>(
  data: Uint8Array | undefined,
  index: number,
  length: number,
  read: (data: Uint8Array | undefined, index: number) => Item | undefined,
  words = 1,
): Item[] | undefined {
  const items: Item[] = []
  for (let at = 0; at < length; at++) {
    const item = read(data, index + at * words)
    if (item === undefined) return undefined
    items.push(item)
  }
  return items
}

/** True if the offset at `index` points to a complete string. */
export function isTextAt(data: Uint8Array, index: number): boolean {
  const offset = smallUintAt(data, index)
  if (offset === undefined || offset % WORD !== 0) return false
  const length = smallUintAt(data, offset / WORD)
  return length !== undefined && offset + WORD + Math.ceil(length / WORD) * WORD <= data.length
}

/** True if the data is exactly `count` words, as in an event whose parameters all have a fixed size. */
export function isWords(data: Uint8Array, count: number): boolean {
  return data.length === count * WORD
}

/** The address in an indexed parameter; undefined if it is missing or has nonzero upper bytes. */
export function topicAddress(topic: string | undefined): string | undefined {
  if (topic?.length !== 66) return undefined
  const slot =
    (topic.charCodeAt(65) ^ (topic.charCodeAt(64) << 2) ^ (topic.charCodeAt(63) << 5)) % RECENT_ADDRESSES
  const known = recentAddresses[slot]
  if (known?.topic === topic) return known.address
  if (!topic.startsWith('0x000000000000000000000000')) return undefined
  const address = `0x${topic.slice(26)}`
  recentAddresses[slot] = { topic, address }
  return address
}

/** An indexed, signed number of a small type, such as a tick. */
export function topicSmallInt(topic: string | undefined): number | undefined {
  if (topic?.length !== 66) return undefined
  const value = Number(`0x${topic.slice(58)}`)
  if (Number.isNaN(value)) return undefined
  return topic.startsWith(value > 0x7fff_ffff ? MINUS : PLUS) ? value | 0 : undefined
}

/** An indexed number of a small type, such as a bin step. */
export function topicSmallUint(topic: string | undefined): number | undefined {
  const value = topicSmallInt(topic)
  return value === undefined || value < 0 ? undefined : value
}

/** A 32-byte id in an indexed parameter. */
export function topicId(topic: string | undefined): string | undefined {
  return topic?.length === 66 ? topic : undefined
}

/** Call data: a selector and its arguments, each an address, an id or a number. */
export function callData(selector: string, ...args: readonly (string | bigint | number)[]): string {
  return selector + args.map(toWord).join('')
}

function toWord(arg: string | bigint | number): string {
  if (typeof arg === 'string') return arg.slice(2).padStart(64, '0')
  const value = BigInt(arg)
  return (value < 0n ? value + TWO_256 : value).toString(16).padStart(64, '0')
}

function isAll(byte: number, data: Uint8Array, start: number, length: number): boolean {
  for (let at = start; at < start + length; at++) if (data[at] !== byte) return false
  return true
}

function uint64At(data: Uint8Array, start: number): bigint {
  scratch.setUint32(0, uint32At(data, start))
  scratch.setUint32(4, uint32At(data, start + 4))
  return scratch.getBigUint64(0)
}

/** The caller checks that the bytes exist. */
function uint32At(data: Uint8Array, start: number): number {
  const upper = ((data[start] as number) << 8) | (data[start + 1] as number)
  const lower = ((data[start + 2] as number) << 8) | (data[start + 3] as number)
  return ((upper << 16) | lower) >>> 0
}
