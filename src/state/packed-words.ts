/**
 * The words of a row as bytes: for each 32 words a mask of those that are not zero, then these. Most of a row is the
 * upper limbs of numbers, which are zero. Equal words are equal bytes.
 */

const GROUP = 32
const WORD_BYTES = 4

export function maxPackedBytes(count: number): number {
  return (count + Math.ceil(count / GROUP)) * WORD_BYTES
}

/** Returns the position behind the last byte. */
export function packWords(
  words: Uint32Array,
  at: number,
  count: number,
  bytes: Uint8Array,
  start: number,
): number {
  let position = start
  for (let group = 0; group < count; group += GROUP) {
    const size = Math.min(GROUP, count - group)
    const maskAt = position
    let mask = 0
    position += WORD_BYTES
    for (let k = 0; k < size; k++) {
      const word = words[at + group + k] as number
      if (word === 0) continue
      mask |= 1 << k
      writeWord(bytes, position, word)
      position += WORD_BYTES
    }
    writeWord(bytes, maskAt, mask)
  }
  return position
}

export function unpackWords(bytes: Uint8Array, words: Uint32Array, at: number, count: number): void {
  let position = 0
  for (let group = 0; group < count; group += GROUP) {
    const size = Math.min(GROUP, count - group)
    const mask = readWord(bytes, position)
    position += WORD_BYTES
    for (let k = 0; k < size; k++) {
      const isThere = (mask & (1 << k)) !== 0
      words[at + group + k] = isThere ? readWord(bytes, position) : 0
      if (isThere) position += WORD_BYTES
    }
  }
  if (position !== bytes.length)
    throw new RangeError(`a row of ${bytes.length} bytes was read as ${position}`)
}

function writeWord(bytes: Uint8Array, at: number, word: number): void {
  bytes[at] = word
  bytes[at + 1] = word >>> 8
  bytes[at + 2] = word >>> 16
  bytes[at + 3] = word >>> 24
}

function readWord(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24)
  )
}
