import { ByteCursor } from './byte-cursor.ts'
import { recurringText } from './key-text.ts'

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
const TRANSFER_BYTES = 19
const BALANCE_BYTES = 18

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
    (1 + transfers.length * TRANSFER_BYTES) +
    (1 + events.reduce((sum, { length }) => sum + 2 + length, 0)) +
    (1 + balances.length * BALANCE_BYTES)
  const bytes = Buffer.allocUnsafe(size)
  const view = new DataView(bytes.buffer, bytes.byteOffset, size)
  bytes[0] = VERSION
  bytes[1] = Math.min(stackHeight, NONE)
  bytes[2] = keys.length
  let at = 3
  for (const key of keys) {
    bytes.set(key, at)
    at += KEY_BYTES
  }
  bytes[at++] = accounts.length
  for (const account of accounts) bytes[at++] = account
  at = writeBytes(view, bytes, data, at)
  bytes[at++] = transfers.length
  for (const { source, destination, mint, amount, fee } of transfers) {
    bytes[at] = source
    bytes[at + 1] = destination
    bytes[at + 2] = mint ?? NONE
    view.setBigUint64(at + 3, amount, true)
    view.setBigUint64(at + 11, fee, true)
    at += TRANSFER_BYTES
  }
  bytes[at++] = events.length
  for (const event of events) at = writeBytes(view, bytes, event, at)
  bytes[at++] = balances.length
  for (const { account, mint, before, after } of balances) {
    bytes[at] = account
    bytes[at + 1] = mint
    view.setBigUint64(at + 2, before, true)
    view.setBigUint64(at + 10, after, true)
    at += BALANCE_BYTES
  }
  return bytes
}

function writeBytes(view: DataView, target: Uint8Array, bytes: Uint8Array, at: number): number {
  view.setUint16(at, bytes.length, true)
  target.set(bytes, at + 2)
  return at + 2 + bytes.length
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
    const transfers = readTransfers(cursor)
    const events: Uint8Array[] = []
    for (let left = cursor.u8(); left > 0 && cursor.isValid; left--) events.push(cursor.bytes(cursor.u16()))
    const balances = readBalances(cursor)
    if (!cursor.isValid || cursor.remaining !== 0) return undefined
    for (const account of accounts) if (account >= keyCount) return undefined
    for (const { account, mint } of balances) if (account >= keyCount || mint >= keyCount) return undefined
    for (const { source, destination, mint = 0, amount, fee } of transfers) {
      if (source >= keyCount || destination >= keyCount || mint >= keyCount || fee > amount) return undefined
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
    return recurringText(this.#keys, key * KEY_BYTES)
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
  return bytes.length >= size && hexStart(bytes, size) === discriminator
}

/** The internal method behind `toString('hex')`, which takes any bytes. */
const { hexSlice } = Buffer.prototype as Buffer & { hexSlice(start: number, end: number): string }

/** The first bytes in hex without a prefix. */
export function hexStart(bytes: Uint8Array, size: number): string {
  return hexSlice.call(bytes, 0, size)
}

function readTransfers(cursor: ByteCursor): Transfer[] {
  const transfers: Transfer[] = []
  for (let left = cursor.u8(); left > 0 && cursor.isValid; left--) {
    const source = cursor.u8()
    const destination = cursor.u8()
    const mint = cursor.u8()
    const amount = cursor.u64()
    const fee = cursor.u64()
    transfers.push({ source, destination, mint: mint === NONE ? undefined : mint, amount, fee })
  }
  return transfers
}

function readBalances(cursor: ByteCursor): VaultBalance[] {
  const balances: VaultBalance[] = []
  for (let left = cursor.u8(); left > 0 && cursor.isValid; left--) {
    const account = cursor.u8()
    const mint = cursor.u8()
    balances.push({ account, mint, before: cursor.u64(), after: cursor.u64() })
  }
  return balances
}
