import { SYSTEM_PROGRAM } from '../../../dex/solana/known-keys.ts'
import type { Account } from '../account.ts'
import { isPublicKey } from '../facts/program-address.ts'
import type { SolanaNode } from '../rpc.ts'
import { readTokenAccount, type TokenAccount } from './token-account.ts'
import { keyBytes } from './token-instructions.ts'

/** A wallet that holds a token. */
export type Holder = TokenAccount & { readonly account: string; readonly lamports: bigint }

/**
 * Wallets among the largest holders of a mint, largest first. Accounts of programs are left out: pools and vaults cannot
 * sign, so a transfer by them proves nothing.
 */
export async function walletsHolding(
  node: SolanaNode,
  mint: string,
  minSlot: number | undefined,
): Promise<Holder[]> {
  const largest = await node.largestAccounts(mint)
  if (largest.length === 0) return []
  const accounts = await node.accounts(largest, minSlot)
  const held = accounts.flatMap((account, index) => {
    const token = account === undefined ? undefined : readTokenAccount(account)
    const isHeld = token?.mint === mint && token.amountRaw > 0n && isPublicKey(keyBytes(token.owner))
    return isHeld ? [{ ...token, account: largest[index] as string }] : []
  })
  if (held.length === 0) return []
  const owners = await node.accounts(
    held.map(({ owner }) => owner),
    minSlot,
  )
  const seen = new Set<string>()
  return held.flatMap((each, index) => {
    const wallet = owners[index]
    if (!isWallet(wallet) || seen.has(each.owner)) return []
    seen.add(each.owner)
    return [{ ...each, lamports: wallet?.lamports ?? 0n }]
  })
}

/** An account that does not exist is a wallet without lamports. */
export function isWallet(account: Account | undefined): boolean {
  return account === undefined || (account.owner === SYSTEM_PROGRAM && account.size === 0)
}

/** The wallet that can spend most. Simulations need no signature, so it may pay for all of them. */
export function richest<Wallet extends { readonly lamports: bigint }>(
  wallets: readonly Wallet[],
): Wallet | undefined {
  return wallets.reduce<Wallet | undefined>(
    (best, each) => (best === undefined || each.lamports > best.lamports ? each : best),
    undefined,
  )
}
