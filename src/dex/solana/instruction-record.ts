import { base58Text } from '../../domain/base58.ts'
import { ByteCursor } from './byte-cursor.ts'

/**
 * The data of a Solana log: one instruction with everything below it that decoding needs, so that a log decodes alone.
 * Accounts are indexes in a table of keys, because most occur several times.
 */
export type RecordContent = {
  readonly stackHeight: number
  readonly keys: readonly Uint8Array[]
  readonly accounts: readonly number[]
  readonly data: Uint8Array
  readonly transfers: readonly Transfer[]
  readonly events: readonly Uint8Array[]
  readonly balances: readonly VaultBalance[]
}

/** A transfer of tokens, or of lamports if it has no mint. */
export type Transfer = {
  readonly source: number
  readonly destination: number
  readonly mint: number | undefined
  readonly amount: bigint
  /** Part of the amount that the token withholds from the recipient. */
  readonly fee: bigint
}

/** A token account of the instruction before and after the transaction. */
export type VaultBalance = {
  readonly account: number
  readonly mint: number
  readonly before: bigint
  readonly after: bigint
}

const VERSION = 1
const KEY_BYTES = 32
const NONE = 0xff
/** Indexes are single bytes, and the last one means none. */
export const MAX_KEYS = 0xff
const MAX_ITEMS = 0xff
const MAX_BYTES = 0xffff

/** Undefined if the content is larger than the format allows, which no real instruction is. */
export function encodeRecord(content: RecordContent): Uint8Array | undefined {
  const { stackHeight, keys, accounts, data, transfers, events, balances } = content
  const lists = [accounts, transfers, events, balances]
  if (keys.length > MAX_KEYS || lists.some(({ length }) => length > MAX_ITEMS)) return undefined
  if (data.length > MAX_BYTES || events.some(({ length }) => length > MAX_BYTES)) return undefined
  const size =
    2 +
    (1 + keys.length * KEY_BYTES) +
    (1 + accounts.length) +
    (2 + data.length) +
    (1 + transfers.length * 19) +
    (1 + events.reduce((sum, { length }) => sum + 2 + length, 0)) +
    (1 + balances.length * 18)
  const bytes = Buffer.allocUnsafe(size)
  let at = bytes.writeUInt8(VERSION, 0)
  at = bytes.writeUInt8(Math.min(stackHeight, NONE), at)
  at = bytes.writeUInt8(keys.length, at)
  for (const key of keys) {
    bytes.set(key, at)
    at += KEY_BYTES
  }
  at = bytes.writeUInt8(accounts.length, at)
  for (const account of accounts) at = bytes.writeUInt8(account, at)
  at = writeBytes(bytes, data, at)
  at = bytes.writeUInt8(transfers.length, at)
  for (const { source, destination, mint, amount, fee } of transfers) {
    at = bytes.writeUInt8(source, at)
    at = bytes.writeUInt8(destination, at)
    at = bytes.writeUInt8(mint ?? NONE, at)
    at = bytes.writeBigUInt64LE(amount, at)
    at = bytes.writeBigUInt64LE(fee, at)
  }
  at = bytes.writeUInt8(events.length, at)
  for (const event of events) at = writeBytes(bytes, event, at)
  at = bytes.writeUInt8(balances.length, at)
  for (const { account, mint, before, after } of balances) {
    at = bytes.writeUInt8(account, at)
    at = bytes.writeUInt8(mint, at)
    at = bytes.writeBigUInt64LE(before, at)
    at = bytes.writeBigUInt64LE(after, at)
  }
  return bytes
}

function writeBytes(target: Buffer, bytes: Uint8Array, at: number): number {
  const start = target.writeUInt16LE(bytes.length, at)
  target.set(bytes, start)
  return start + bytes.length
}

/** A decoded record. Keys become text only where they are used. */
export class InstructionRecord {
  readonly stackHeight: number
  readonly accounts: Uint8Array
  readonly data: Uint8Array
  readonly transfers: readonly Transfer[]
  readonly events: readonly Uint8Array[]
  readonly balances: readonly VaultBalance[]
  readonly #keys: Uint8Array

  private constructor(
    content: Omit<RecordContent, 'keys' | 'accounts'>,
    keys: Uint8Array,
    accounts: Uint8Array,
  ) {
    this.stackHeight = content.stackHeight
    this.data = content.data
    this.transfers = content.transfers
    this.events = content.events
    this.balances = content.balances
    this.accounts = accounts
    this.#keys = keys
  }

  /** Undefined unless the bytes are exactly one record. */
  static read(bytes: Uint8Array): InstructionRecord | undefined {
    const cursor = new ByteCursor(bytes)
    if (cursor.u8() !== VERSION) return undefined
    const stackHeight = cursor.u8()
    const keyCount = cursor.u8()
    const keys = cursor.bytes(keyCount * KEY_BYTES)
    const accounts = cursor.bytes(cursor.u8())
    const data = cursor.bytes(cursor.u16())
    const transfers = itemsOf(cursor, () => {
      const [source, destination, mint] = [cursor.u8(), cursor.u8(), cursor.u8()]
      const [amount, fee] = [cursor.u64(), cursor.u64()]
      return { source, destination, mint: mint === NONE ? undefined : mint, amount, fee }
    })
    const events = itemsOf(cursor, () => cursor.bytes(cursor.u16()))
    const balances = itemsOf(cursor, () => {
      const [account, mint] = [cursor.u8(), cursor.u8()]
      return { account, mint, before: cursor.u64(), after: cursor.u64() }
    })
    if (!cursor.isValid || cursor.remaining !== 0) return undefined
    const isKey = (index: number): boolean => index < keyCount
    if (!accounts.every(isKey) || !balances.every((each) => isKey(each.account) && isKey(each.mint))) {
      return undefined
    }
    for (const { source, destination, mint = 0, amount, fee } of transfers) {
      if (!isKey(source) || !isKey(destination) || !isKey(mint) || fee > amount) return undefined
    }
    return new InstructionRecord({ stackHeight, data, transfers, events, balances }, keys, accounts)
  }

  /** The key index of the nth account of the instruction. */
  account(nth: number): number | undefined {
    return this.accounts[nth]
  }

  /** The address of the nth account of the instruction. */
  address(nth: number): string | undefined {
    const key = this.accounts[nth]
    return key === undefined ? undefined : this.text(key)
  }

  text(key: number): string {
    return base58Text(this.#keys, key * KEY_BYTES)
  }

  /** Order of two keys by their bytes, as programs sort mints. */
  compare(a: number, b: number): number {
    for (let at = 0; at < KEY_BYTES; at++) {
      const difference =
        (this.#keys[a * KEY_BYTES + at] as number) - (this.#keys[b * KEY_BYTES + at] as number)
      if (difference !== 0) return difference
    }
    return 0
  }

  /** The mint of a token account, as far as the transaction reveals it. */
  mintOf(account: number): number | undefined {
    const balance = this.balanceOf(account)
    if (balance !== undefined) return balance.mint
    const isOwn = ({ source, destination, mint }: Transfer): boolean =>
      mint !== undefined && (source === account || destination === account)
    return this.transfers.find(isOwn)?.mint
  }

  balanceOf(account: number): VaultBalance | undefined {
    return this.balances.find((each) => each.account === account)
  }

  /** What an account received less what it sent, over everything the instruction called. */
  inflow(account: number): bigint {
    let sum = 0n
    for (const { source, destination, amount, fee } of this.transfers) {
      if (destination === account) sum += amount - fee
      if (source === account) sum -= amount
    }
    return sum
  }

  /** The first event with this discriminator, positioned behind it. */
  event(discriminator: string, nth = 0): ByteCursor | undefined {
    let found = 0
    for (const event of this.events) {
      if (hasDiscriminator(event, discriminator) && found++ === nth) {
        return new ByteCursor(event, discriminator.length / 2)
      }
    }
    return undefined
  }
}

/** `discriminator` is hex without a prefix. */
export function hasDiscriminator(bytes: Uint8Array, discriminator: string): boolean {
  const size = discriminator.length / 2
  return bytes.length >= size && hexOf(bytes.subarray(0, size)) === discriminator
}

export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
}

function itemsOf<Item>(cursor: ByteCursor, read: () => Item): Item[] {
  const items: Item[] = []
  for (let left = cursor.u8(); left > 0 && cursor.isValid; left--) items.push(read())
  return items
}
