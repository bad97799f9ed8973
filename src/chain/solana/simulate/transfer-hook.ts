import { ByteCursor } from '../../../dex/solana/byte-cursor.ts'
import { base58Text } from '../../../domain/base58.ts'
import type { Mint } from '../facts/mint-account.ts'
import { EXTENSION } from '../facts/mint-extensions.ts'
import type { SolanaNode } from '../rpc.ts'
import { derivedAddress, keyBytes } from './token-instructions.ts'
import type { AccountUse } from './unsigned-transaction.ts'

const KEY_BYTES = 32
const SEED = Buffer.from('extra-account-metas')
/** The interface's instruction `execute`, to which the list belongs. */
const EXECUTE = '692565c54bfb661a'
const EXECUTE_BYTES = 8
const LITERAL_KEY = 0
const MAX_EXTRA = 8

/**
 * The accounts that a transfer has to name for the mint's hook; empty without a hook. Undefined if they depend on the
 * transfer itself, which is not resolved.
 */
export async function hookAccounts(
  node: SolanaNode,
  mint: Mint,
  address: string,
  minSlot: number | undefined,
): Promise<AccountUse[] | undefined> {
  const hook = mint.extensions.get(EXTENSION.transferHook)
  if (hook === undefined) return []
  if (hook.length < KEY_BYTES * 2) return undefined
  const program = hook.subarray(KEY_BYTES, KEY_BYTES * 2)
  if (program.every((byte) => byte === 0)) return []
  const key = base58Text(program, 0)
  const place = derivedAddress([SEED, keyBytes(address)], key)
  const [list] = await node.accounts([place], minSlot)
  // Without a list, the hook takes no more accounts.
  if (list === undefined) return [{ key }]
  const extra = list.owner === key ? readList(list.data) : undefined
  return extra === undefined ? undefined : [...extra, { key }, { key: place }]
}

/** The discriminator of `execute`, a length, the number of accounts, then for each: kind, 32 bytes, signer, writable. */
function readList(data: Uint8Array): AccountUse[] | undefined {
  const cursor = new ByteCursor(data)
  if (Buffer.from(cursor.bytes(EXECUTE_BYTES)).toString('hex') !== EXECUTE) return undefined
  cursor.skip(4)
  const count = cursor.u32()
  if (count > MAX_EXTRA) return undefined
  const uses: AccountUse[] = []
  for (let left = count; left > 0; left--) {
    const kind = cursor.u8()
    const key = cursor.bytes(KEY_BYTES)
    const isSigner = cursor.bool()
    const isWritable = cursor.bool()
    if (!cursor.isValid || kind !== LITERAL_KEY || isSigner) return undefined
    uses.push({ key: base58Text(key, 0), ...(isWritable && { isWritable }) })
  }
  return cursor.isValid ? uses : undefined
}
