/**
 * The words of a row as bytes: for each 32 words a mask of those that are not zero, then these. Most of a row is the
 * upper limbs of numbers, which are zero. Equal words are equal bytes.
 */

const GROUP = 32
const WORD_BYTES = 4

export function maxPackedBytes(count: number): number {
  return (count + Math.ceil(count / GROUP)) * WORD_BYTES
}

/** Returns how many bytes were written, from the start of `target` on. */
export function packWords(words: Uint32Array, at: number, count: number, target: DataView): number {
  let position = 0
  for (let group = 0; group < count; group += GROUP) {
    const size = Math.min(GROUP, count - group)
    const maskAt = position
    let mask = 0
    position += WORD_BYTES
    for (let k = 0; k < size; k++) {
      const word = words[at + group + k] as number
      if (word === 0) continue
      mask |= 1 << k
      target.setUint32(position, word, true)
      position += WORD_BYTES
    }
    target.setUint32(maskAt, mask, true)
  }
  return position
}

export function unpackWords(bytes: Uint8Array, words: Uint32Array, at: number, count: number): void {
  const source = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let position = 0
  for (let group = 0; group < count; group += GROUP) {
    const size = Math.min(GROUP, count - group)
    const mask = source.getUint32(position, true)
    position += WORD_BYTES
    for (let k = 0; k < size; k++) {
      const isThere = (mask & (1 << k)) !== 0
      words[at + group + k] = isThere ? source.getUint32(position, true) : 0
      if (isThere) position += WORD_BYTES
    }
  }
  if (position !== bytes.length)
    throw new RangeError(`a row of ${bytes.length} bytes was read as ${position}`)
}
