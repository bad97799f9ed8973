import { createKeccak } from 'hash-wasm'

/**
 * The Merkle-Patricia trie that a header commits to: index in the block to encoding. All indexes are known in advance,
 * so the tree is built from the sorted list in one pass, without insertions. Bytes are hex text without `0x` here:
 * nodes return them so, and joining text is cheaper than copying thousands of small buffers.
 */
export function orderedTrieRoot(values: readonly string[]): string {
  if (values.length === 0) return hashOf(EMPTY_STRING)
  const entries = values.map((value, index): Entry => ({ key: rlpInteger(index), value }))
  entries.sort((a, b) => (a.key < b.key ? -1 : 1))
  return hashOf(encodeNode(entries, 0, entries.length, 0))
}

/** A byte string, as RLP. */
export function rlpString(hex: string): string {
  const isItself = hex.length === 2 && hex < '80'
  return isItself ? hex : rlpHead(0x80, hex) + hex
}

/** A list of encoded items, as RLP. */
export function rlpList(items: string): string {
  return rlpHead(0xc0, items) + items
}

/** A number, as RLP: big-endian without leading zeros, zero being the empty string. */
export function rlpInteger(value: number | bigint): string {
  return rlpString(Number(value) === 0 ? '' : evenHex(value))
}

// Compiled to WebAssembly: ten times as fast as in JavaScript, and a block takes a thousand hashes.
const keccak = await createKeccak(256)

/** Buffer for the bytes to hash; grows to the longest input. */
let scratch = Buffer.allocUnsafe(16 * 1024)

export function keccakOf(hex: string): Buffer {
  if (hex.length / 2 > scratch.length) scratch = Buffer.allocUnsafe(hex.length)
  // The number of bytes written counts, not the expected one: after an invalid digit, old bytes must not be hashed.
  const size = scratch.write(hex, 'hex')
  keccak.init()
  keccak.update(scratch.subarray(0, size))
  const { buffer, byteOffset, length } = keccak.digest('binary')
  return Buffer.from(buffer, byteOffset, length)
}

function hashOf(hex: string): string {
  return keccakOf(hex).toString('hex')
}

type Entry = { readonly key: string; readonly value: string }

const EMPTY_STRING = '80'
/** The longest content whose length fits into the first byte. */
const SHORT_BYTES = 55
const HASH_BYTES = 32
const NIBBLES = '0123456789abcdef'
const BYTES = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

function rlpHead(offset: number, content: string): string {
  const bytes = content.length / 2
  if (bytes <= SHORT_BYTES) return evenHex(offset + bytes)
  const length = evenHex(bytes)
  return evenHex(offset + SHORT_BYTES + length.length / 2) + length
}

function evenHex(value: number | bigint): string {
  const byte = typeof value === 'number' ? BYTES[value] : undefined
  if (byte !== undefined) return byte
  const hex = value.toString(16)
  return hex.length % 2 === 0 ? hex : `0${hex}`
}

/** The node over entries[from, to), whose keys share a prefix of `depth`. */
function encodeNode(entries: readonly Entry[], from: number, to: number, depth: number): string {
  const first = entryAt(entries, from)
  if (to - from === 1) {
    return rlpList(rlpString(compactPath(first.key.slice(depth), true)) + rlpString(first.value))
  }
  // Sorted, so the common prefix of the first and the last is common to all.
  const end = commonEnd(first.key, entryAt(entries, to - 1).key, depth)
  if (end > depth) {
    const path = compactPath(first.key.slice(depth, end), false)
    return rlpList(rlpString(path) + referenceTo(encodeNode(entries, from, to, end)))
  }
  let items = ''
  let start = from
  for (const nibble of NIBBLES) {
    let stop = start
    while (stop < to && entryAt(entries, stop).key[depth] === nibble) stop += 1
    items += start === stop ? EMPTY_STRING : referenceTo(encodeNode(entries, start, stop, depth + 1))
    start = stop
  }
  // No encoded index is a prefix of another, so a branch never holds a value itself.
  return rlpList(items + EMPTY_STRING)
}

/** A parent refers to a node by its hash, unless the node is shorter than a hash. */
function referenceTo(node: string): string {
  return node.length / 2 < HASH_BYTES ? node : rlpString(hashOf(node))
}

/** Packs nibbles into bytes; the first nibble encodes whether their number is odd, and whether they end at a leaf. */
function compactPath(nibbles: string, isLeaf: boolean): string {
  const flag = isLeaf ? 2 : 0
  return nibbles.length % 2 === 0 ? `${flag}0${nibbles}` : `${flag + 1}${nibbles}`
}

function commonEnd(a: string, b: string, from: number): number {
  let end = from
  while (end < a.length && a[end] === b[end]) end += 1
  return end
}

function entryAt(entries: readonly Entry[], index: number): Entry {
  const entry = entries[index]
  if (entry === undefined) throw new RangeError(`no entry ${index}`)
  return entry
}
