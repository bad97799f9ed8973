/**
 * The words of a row without zeros: for each 32 words a mask of the nonzero ones, followed by them. Most words of a row
 * are upper limbs of numbers, which are zero. Equal words are equal bytes.
 */

export const GROUP = 32
const WORD_BYTES = 4

/** Aligned copy of the bytes to unpack, because the store returns them at any address. */
let source = new Uint32Array(1024)

export function maxPackedWords(count: number): number {
  return count + Math.ceil(count / GROUP)
}

/** Writes to `target` from `start` on and returns the end. */
export function packWords(
  words: Uint32Array,
  at: number,
  count: number,
  target: Uint32Array,
  start: number,
): number {
  let position = start
  for (let group = 0; group < count; group += GROUP) {
    const size = Math.min(GROUP, count - group)
    const maskAt = position++
    let mask = 0
    for (let k = 0; k < size; k++) {
      const word = words[at + group + k] as number
      if (word === 0) continue
      mask |= 1 << k
      target[position++] = word
    }
    target[maskAt] = mask
  }
  return position
}

export function unpackWords(bytes: Uint8Array, words: Uint32Array, at: number, count: number): void {
  const needed = Math.max(maxPackedWords(count), Math.ceil(bytes.length / WORD_BYTES))
  if (source.length < needed) source = new Uint32Array(needed * 2)
  new Uint8Array(source.buffer).set(bytes)
  let position = 0
  for (let group = 0; group < count; group += GROUP) {
    const size = Math.min(GROUP, count - group)
    const mask = source[position++] as number
    for (let k = 0; k < size; k++)
      words[at + group + k] = (mask & (1 << k)) === 0 ? 0 : (source[position++] as number)
  }
  if (position * WORD_BYTES !== bytes.length)
    throw new RangeError(`a row of ${bytes.length} bytes was read as ${position * WORD_BYTES}`)
}
