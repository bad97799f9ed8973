import { ByteWriter } from '../wire/byte-writer.ts'
import type { Codec } from '../wire/codec.ts'

/** The value of a key from one block until another block writes it. */
export type Version = {
  record: unknown
  /** Position of its bytes while changes are being encoded; not set before. */
  start: number
  end: number
}

export type Entry = {
  readonly key: string
  readonly codec: Codec<unknown>
  /** The version's record, duplicated because it is read far more often than written. */
  record: unknown
  version: Version
  /** The version before the current block, once that block has written the key. */
  before: Version | undefined
  /** True if the version is not yet among the pending bytes. */
  isUnwritten: boolean
}

/** A block's change to a key. */
export type Step = { readonly entry: Entry; readonly before: Version; readonly after: Version }

const NOWHERE = -1

export function newVersion(record: unknown): Version {
  return { record, start: NOWHERE, end: NOWHERE }
}

/** Writes of the current block do not count until it is sealed. */
export function sealedOf({ before, version }: Entry): Version {
  return before ?? version
}

/** Encoded versions, each stored once, however many journals refer to it. */
export class VersionBytes {
  readonly #records = new ByteWriter()

  clear(): void {
    this.#records.clear()
  }

  place(version: Version, codec: Codec<unknown>): void {
    if (version.start !== NOWHERE) return
    version.start = this.#records.length
    if (version.record !== undefined) codec.write(this.#records, version.record)
    version.end = this.#records.length
  }

  differ(a: Version, b: Version, codec: Codec<unknown>): boolean {
    this.place(a, codec)
    this.place(b, codec)
    if (a.record === undefined || b.record === undefined) return a.record !== b.record
    return !this.#records.isRepeated(a.start, a.end, b.start, b.end)
  }

  /** Writes the bytes as an optional value. */
  write(w: ByteWriter, { record, start, end }: Version): void {
    w.bool(record !== undefined)
    if (record !== undefined) w.bytesOf(this.#records, start, end)
  }

  /**
   * Returns a function that looks up the bytes of a version. All versions share one buffer, because many small ones
   * would take longer than the encoding.
   */
  finish(): (version: Version) => Uint8Array | undefined {
    const { buffer, byteOffset } = this.#records.finish()
    return (version) => {
      const { record, start, end } = version
      version.start = NOWHERE
      return record === undefined ? undefined : new Uint8Array(buffer, byteOffset + start, end - start)
    }
  }
}
