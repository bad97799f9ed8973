const WORD = 32

/** The 32-byte word at `index` as an unsigned integer; undefined when the data is too short. */
export function uintAt(data: Uint8Array, index: number): bigint | undefined {
  const start = index * WORD
  if (start + WORD > data.length) return undefined
  const word = Buffer.from(data.buffer, data.byteOffset + start, WORD)
  // Most amounts fit into 64 bits: one read instead of a detour over text.
  let leading = 0
  while (leading < 24 && word[leading] === 0) leading++
  return leading === 24 ? word.readBigUInt64BE(24) : BigInt(`0x${word.toString('hex')}`)
}

/** The address in the 32-byte word at `index`; undefined when it is not one. */
export function addressAt(data: Uint8Array, index: number): string | undefined {
  const start = index * WORD
  if (start + WORD > data.length) return undefined
  return topicAddress(`0x${Buffer.from(data.buffer, data.byteOffset + start, WORD).toString('hex')}`)
}

/** The address in an indexed parameter; undefined when it is missing or has something in its upper bytes. */
export function topicAddress(topic: string | undefined): string | undefined {
  if (topic?.length !== 66 || !topic.startsWith('0x000000000000000000000000')) return undefined
  return `0x${topic.slice(26)}`
}
