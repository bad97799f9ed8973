import type { RawLog, RawTransaction } from '../domain/envelope.ts'
import type { WalletBalances } from '../domain/wallet-balances.ts'
import { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'

/** Offsets of the two ids in the message, and the end of the second one. */
type Places = { readonly hashAt: number; readonly fromAt: number; readonly end: number }

/**
 * A transaction in its BLOCKS message. Its hash and sender are copied to other messages as bytes, and decoded to text
 * only on request.
 */
export class OpenedTransaction implements RawTransaction {
  readonly index: number
  readonly logs: readonly RawLog[]
  readonly wallet: WalletBalances | undefined
  readonly message: Uint8Array
  readonly #hashAt: number
  /** Offset of the sender in the message. */
  readonly fromAt: number
  readonly #end: number

  constructor(
    index: number,
    message: Uint8Array,
    { hashAt, fromAt, end }: Places,
    logs: readonly RawLog[],
    wallet: WalletBalances | undefined,
  ) {
    this.index = index
    this.message = message
    this.#hashAt = hashAt
    this.fromAt = fromAt
    this.#end = end
    this.logs = logs
    this.wallet = wallet
  }

  get hash(): string {
    return new ByteReader(this.message, this.#hashAt).id()
  }

  get from(): string {
    return new ByteReader(this.message, this.fromAt).id()
  }

  /** Writes the same bytes as `w.id(hash)`. */
  writeHash(w: ByteWriter): void {
    w.copy(this.message, this.#hashAt, this.fromAt)
  }

  /** Writes the same bytes as `w.id(from)`. */
  writeFrom(w: ByteWriter): void {
    w.copy(this.message, this.fromAt, this.#end)
  }
}
