import { isTextId, MAX_ID_BYTES } from '../../state/id-words.ts'
import { Key } from '../../state/key.ts'
import { enlarged, type HashSecret, NONE, SlotIndex, secretHash } from '../../state/slot-index.ts'
import { ByteReader } from '../../wire/byte-reader.ts'
import type { ByteWriter } from '../../wire/byte-writer.ts'
import { BASE58_START, isBase58At } from '../../wire/id-form.ts'

const FEWEST_WALLETS = 64

/**
 * Numbers for the wallets that traded within a day: each trade refers to its wallet several times, and addresses are
 * long. Numbers are not stored, and are reused once nothing refers to them.
 */
export class Wallets {
  readonly #index: SlotIndex
  readonly #key = new Key()
  /** By wallet: reference count of visits and of lists being read. */
  #names = new Uint32Array(0)
  #free: number[] = []
  /** All numbers below this one are in use or free for reuse. */
  #end = 0

  constructor(secret: HashSecret) {
    this.#index = new SlotIndex(['id'], secretHash(secret))
  }

  /** The number of the wallet whose id is at this offset. A new wallet gets a free number, which `keep` reserves. */
  numberIn(message: Uint8Array, at: number): number {
    const head = message[at] as number
    const size = head >>> 1
    if (isBase58At(message, at))
      return this.#numberOf(this.#key.clear().base58Bytes(message, at + BASE58_START))
    return isTextId(head) || size === 0 || size > MAX_ID_BYTES
      ? this.#numberOf(this.#key.clear().id(new ByteReader(message, at).id()))
      : this.#numberOf(this.#key.clear().idBytes(message, at + 1, size))
  }

  write(w: ByteWriter, wallet: number): void {
    w.idWords(this.#index.read(wallet, this.#key).words, 0)
  }

  /** Adds a reference. */
  keep(wallet: number): number {
    this.#names[wallet] = (this.#names[wallet] as number) + 1
    return wallet
  }

  /** Removes a reference. */
  release(wallet: number): void {
    const names = (this.#names[wallet] as number) - 1
    this.#names[wallet] = names
    if (names > 0) return
    this.#index.remove(wallet)
    this.#free.push(wallet)
  }

  clear(): void {
    this.#index.clear()
    this.#names.fill(0)
    this.#free = []
    this.#end = 0
  }

  #numberOf(key: Key): number {
    const known = this.#index.find(key)
    if (known !== NONE) return known
    const wallet = this.#free.pop() ?? this.#end++
    if (wallet === this.#names.length) {
      const capacity = Math.max(FEWEST_WALLETS, wallet * 2)
      this.#names = enlarged(this.#names, new Uint32Array(capacity))
      this.#index.setCapacity(capacity)
    }
    this.#index.insert(wallet, key)
    return wallet
  }
}
