import type { RawLog, RawTransaction } from '../domain/envelope.ts'
import { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'

/** Where the ids of a transaction start in its message, and where the last one ends. */
type Places = { readonly hashAt: number; readonly fromAt: number; readonly end: number }

/**
 * A transaction as it stands in a BLOCKS message. Its hash and its sender are copied from there into other messages; as
 * text, which most are never needed as, they are made when somebody asks.
 */
export class OpenedTransaction implements RawTransaction {
  readonly index: number
  readonly logs: readonly RawLog[]
  readonly message: Uint8Array
  readonly #hashAt: number
  /** Where its sender starts in the message. */
  readonly fromAt: number
  readonly #end: number

  constructor(index: number, message: Uint8Array, { hashAt, fromAt, end }: Places, logs: readonly RawLog[]) {
    this.index = index
    this.message = message
    this.#hashAt = hashAt
    this.fromAt = fromAt
    this.#end = end
    this.logs = logs
  }

  get hash(): string {
    return new ByteReader(this.message, this.#hashAt).id()
  }

  get from(): string {
    return new ByteReader(this.message, this.fromAt).id()
  }

  /** As `w.id(hash)` does. */
  writeHash(w: ByteWriter): void {
    w.copy(this.message, this.#hashAt, this.fromAt)
  }

  /** As `w.id(from)` does. */
  writeFrom(w: ByteWriter): void {
    w.copy(this.message, this.fromAt, this.#end)
  }
}
