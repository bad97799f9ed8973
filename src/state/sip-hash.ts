/**
 * HalfSipHash-1-3 over whole words: a keyed hash for hash tables. Attackers choose addresses, and could fill one bucket
 * of a table if they could compute its hash; without the secret they cannot.
 */
export function halfSipHash(words: Uint32Array, length: number, key0: number, key1: number): number {
  let v0 = key0
  let v1 = key1
  let v2 = 0x6c796765 ^ key0
  let v3 = 0x74656462 ^ key1
  // One round per word, one for the size in bytes, three to finish.
  for (let k = 0; k < length + 4; k++) {
    const word = k < length ? (words[k] as number) : k === length ? length << 26 : 0
    if (k === length + 1) v2 ^= 0xff
    v3 ^= word
    v0 = (v0 + v1) | 0
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
    v0 = (v0 << 16) | (v0 >>> 16)
    v2 = (v2 + v3) | 0
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
    v0 = (v0 + v3) | 0
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
    v2 = (v2 + v1) | 0
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
    v2 = (v2 << 16) | (v2 >>> 16)
    v0 ^= word
  }
  return (v1 ^ v3) >>> 0
}
