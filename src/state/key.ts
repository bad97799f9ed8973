import {
  BASE58_ID,
  ID_WORDS,
  idSize,
  isTextId,
  MAX_ID_BYTES,
  readId,
  usedIdWords,
  writeBase58Id,
  writeId,
  writeIdBytes,
} from './id-words.ts'
import { BASE58, NUMBER, TABLE, TEXT } from './state-key.ts'

/** The parts of a table's keys, such as token and wallet, or subject and minute. */
export type KeyPart = 'id' | 'u32'

/** No table has more parts than this. */
const MAX_PARTS = 4
const MAX_TABLE_BYTES = 64

const target = Buffer.alloc(MAX_PARTS * (MAX_ID_BYTES + 3) + 1 + MAX_TABLE_BYTES)

/** The key of a row as words, without padding between its parts. One object is reused for all lookups. */
export class Key {
  readonly words = new Uint32Array(MAX_PARTS * ID_WORDS)
  /** Words in use. */
  length = 0

  clear(): this {
    this.length = 0
    return this
  }

  id(value: string): this {
    writeId(this.words, this.length, value)
    return this.#endId()
  }

  /** A hex id within a message. */
  idBytes(bytes: Uint8Array, start: number, size: number): this {
    writeIdBytes(this.words, this.length, bytes, start, size)
    return this.#endId()
  }

  /** A base58 id within a message. */
  base58Bytes(bytes: Uint8Array, start: number): this {
    writeBase58Id(this.words, this.length, bytes, start)
    return this.#endId()
  }

  /** An id field of a row. */
  idAt(words: Uint32Array, at: number): this {
    const used = usedIdWords(words, at)
    for (let k = 0; k < used; k++) this.words[this.length + k] = words[at + k] as number
    this.length += used
    return this
  }

  u32(value: number): this {
    if (value >>> 0 !== value) throw new RangeError(`not a part of a key: ${value}`)
    this.words[this.length++] = value
    return this
  }

  /** The encoding of the committed store, see `encodeStateKey`. The result is valid until the next call. */
  storeKey(table: string, parts: readonly KeyPart[]): Uint8Array {
    const { words } = this
    let at = 0
    let end = 0
    for (const part of parts) {
      if (part === 'u32') {
        target[end] = NUMBER
        end = target.writeUInt32BE(words[at++] as number, end + 1)
        continue
      }
      const head = words[at] as number
      const size = idSize(head)
      if (head === BASE58_ID) target[end++] = BASE58
      else if (size === 0 || isTextId(head)) {
        target[end] = TEXT
        target.writeUInt16BE(size, end + 1)
        end += 3
      } else target[end++] = size
      for (let k = 0; k < size; k++) target[end++] = (words[at + 1 + (k >>> 2)] as number) >>> ((k & 3) * 8)
      at += usedIdWords(words, at)
    }
    target[end++] = TABLE
    end += target.write(table, end)
    return target.subarray(0, end)
  }

  /** Its parts as text, joined by slashes. */
  text(parts: readonly KeyPart[]): string {
    let at = 0
    const texts = parts.map((part) => {
      if (part === 'u32') return String(this.words[at++])
      const text = readId(this.words, at)
      at += usedIdWords(this.words, at)
      return text
    })
    return texts.join('/')
  }

  #endId(): this {
    this.length += usedIdWords(this.words, this.length)
    return this
  }
}

/** Maximum words of a key with these parts. */
export function maxKeyWords(parts: readonly KeyPart[]): number {
  if (parts.length > MAX_PARTS) throw new RangeError(`a key of ${parts.length} parts`)
  return parts.reduce((sum, part) => sum + (part === 'id' ? ID_WORDS : 1), 0)
}
