import { base58Text, readBase58 } from '../../domain/base58.ts'
import type { RawLog } from '../../domain/envelope.ts'
import type { MoveSums } from '../move-sums.ts'
import { ByteCursor } from './byte-cursor.ts'

/**
 * Balances of one mint that a transaction changed, by owner: the sums over each owner's token accounts that changed.
 * They are the data of a log whose address is the mint.
 */
export type OwnerBalances = {
  /** The transaction initialized the mint, so it has no older balances. */
  readonly isNewMint: boolean
  /** A changed balance has no owner, or an amount is beyond 64 bits. */
  readonly isIncomplete: boolean
  readonly mintedRaw: bigint
  readonly burnedRaw: bigint
  readonly owners: readonly OwnerBalance[]
}

export type OwnerBalance = {
  readonly owner: string
  readonly beforeRaw: bigint
  readonly afterRaw: bigint
}

export type MintBalances = OwnerBalances & { readonly token: string }

/** The ASCII bytes of "owners": no discriminator is six bytes long, and no topic of an EVM log. */
export const OWNER_BALANCES = '0x6f776e657273'

const VERSION = 1
const NEW_MINT = 1
const INCOMPLETE = 2
const KEY_BYTES = 32
const HEAD_BYTES = 20
const OWNER_BYTES = KEY_BYTES + 16
export const MAX_AMOUNT = (1n << 64n) - 1n

export function isOwnerBalancesLog({ topics }: Pick<RawLog, 'topics'>): boolean {
  return topics[0] === OWNER_BALANCES
}

/**
 * Amounts are at most `MAX_AMOUNT`. Owners that are no keys are left out, and the record is marked incomplete. A
 * transaction has at most 256 accounts, so two bytes count them.
 */
export function encodeOwnerBalances(balances: OwnerBalances): Uint8Array {
  const { isNewMint, isIncomplete, mintedRaw, burnedRaw, owners } = balances
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + owners.length * OWNER_BYTES)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let count = 0
  for (const { owner, beforeRaw, afterRaw } of owners) {
    const at = HEAD_BYTES + count * OWNER_BYTES
    if (!readBase58(owner, bytes, at)) continue
    view.setBigUint64(at + KEY_BYTES, beforeRaw, true)
    view.setBigUint64(at + KEY_BYTES + 8, afterRaw, true)
    count++
  }
  const isPartial = isIncomplete || count < owners.length
  bytes[0] = VERSION
  bytes[1] = (isNewMint ? NEW_MINT : 0) | (isPartial ? INCOMPLETE : 0)
  view.setBigUint64(2, mintedRaw, true)
  view.setBigUint64(10, burnedRaw, true)
  view.setUint16(18, count, true)
  return bytes.subarray(0, HEAD_BYTES + count * OWNER_BYTES)
}

/** Undefined unless the bytes are exactly one record. */
export function readOwnerBalances(bytes: Uint8Array): OwnerBalances | undefined {
  const cursor = new ByteCursor(bytes)
  if (cursor.u8() !== VERSION) return undefined
  const flags = cursor.u8()
  const mintedRaw = cursor.u64()
  const burnedRaw = cursor.u64()
  const count = cursor.u16()
  if (!cursor.isValid || flags > (NEW_MINT | INCOMPLETE) || cursor.remaining !== count * OWNER_BYTES)
    return undefined
  const owners: OwnerBalance[] = []
  for (let left = count; left > 0; left--) {
    const owner = base58Text(cursor.bytes(KEY_BYTES), 0)
    owners.push({ owner, beforeRaw: cursor.u64(), afterRaw: cursor.u64() })
  }
  const isNewMint = (flags & NEW_MINT) !== 0
  return { isNewMint, isIncomplete: (flags & INCOMPLETE) !== 0, mintedRaw, burnedRaw, owners }
}

export function mintBalancesIn(logs: readonly RawLog[]): MintBalances[] {
  return logs.flatMap((log) => {
    const balances = isOwnerBalancesLog(log) ? readOwnerBalances(log.data) : undefined
    return balances === undefined ? [] : [{ token: log.address, ...balances }]
  })
}

/** Mints that were initialized in these transactions. */
export function newMintsIn(transactions: readonly { readonly logs: readonly RawLog[] }[]): Set<string> {
  const mints = new Set<string>()
  for (const { logs } of transactions) {
    for (const log of logs) {
      if (isOwnerBalancesLog(log) && readOwnerBalances(log.data)?.isNewMint) mints.add(log.address)
    }
  }
  return mints
}

/** Transactions are added in chain order. */
export function addOwnerBalances(
  sums: MoveSums,
  { isIncomplete, mintedRaw, burnedRaw, owners }: OwnerBalances,
): void {
  sums.floors ??= new Map()
  if (isIncomplete) sums.isIncomplete = true
  sums.issuedRaw += mintedRaw - burnedRaw
  sums.burnedRaw += burnedRaw
  for (const { owner, beforeRaw, afterRaw } of owners) {
    const gain = sums.gains.get(owner) ?? 0n
    // What the owner held before this transaction, less what earlier ones added.
    const floor = beforeRaw - gain
    const known = sums.floors.get(owner)
    if (known === undefined || floor > known) sums.floors.set(owner, floor)
    sums.gains.set(owner, gain + afterRaw - beforeRaw)
  }
}
