import type { ByteReader } from '../wire/byte-reader.ts'
import { ByteWriter } from '../wire/byte-writer.ts'

/** How one kind of record is written as bytes. Equal records are equal bytes, and what was read is written the same again. */
export type RecordCodec<T> = {
  readonly write: (w: ByteWriter, record: T) => void
  readonly read: (r: ByteReader) => T
}

/** What a key holds from one block on until another one writes it. */
export type Version = {
  record: unknown
  /** Where its bytes stand while changes are being written down; before that, nowhere. */
  start: number
  end: number
}

export type Entry = {
  readonly key: string
  readonly codec: RecordCodec<unknown>
  /** That of the version, nearer at hand: it is read far more often than written. */
  record: unknown
  version: Version
  /** The version at the start of the block being applied, once that block has written the key. */
  before: Version | undefined
  /** Whether the version is not among the pending bytes yet. */
  isUnwritten: boolean
}

/** What a block did to a key. */
export type Step = { readonly entry: Entry; readonly before: Version; readonly after: Version }

const NOWHERE = -1

export function newVersion(record: unknown): Version {
  return { record, start: NOWHERE, end: NOWHERE }
}

/** What a block has written is no change before it is sealed. */
export function sealedOf({ before, version }: Entry): Version {
  return before ?? version
}

/** Versions as bytes, each in one place, however many journals name it. */
export class VersionBytes {
  readonly #records = new ByteWriter()

  clear(): void {
    this.#records.clear()
  }

  place(version: Version, codec: RecordCodec<unknown>): void {
    if (version.start !== NOWHERE) return
    version.start = this.#records.length
    if (version.record !== undefined) codec.write(this.#records, version.record)
    version.end = this.#records.length
  }

  differ(a: Version, b: Version, codec: RecordCodec<unknown>): boolean {
    this.place(a, codec)
    this.place(b, codec)
    if (a.record === undefined || b.record === undefined) return a.record !== b.record
    return !this.#records.isRepeated(a.start, a.end, b.start, b.end)
  }

  /** An optional value of bytes. */
  write(w: ByteWriter, { record, start, end }: Version): void {
    w.bool(record !== undefined)
    if (record !== undefined) w.bytesOf(this.#records, start, end)
  }

  /** Gives what takes the bytes of a version. One piece of memory for all: so many small ones would take longer than the encoding. */
  finish(): (version: Version) => Uint8Array | undefined {
    const { buffer, byteOffset } = this.#records.finish()
    return (version) => {
      const { record, start, end } = version
      version.start = NOWHERE
      return record === undefined ? undefined : new Uint8Array(buffer, byteOffset + start, end - start)
    }
  }
}
