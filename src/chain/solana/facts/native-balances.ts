import { SYSTEM_PROGRAM } from '../../../dex/solana/known-keys.ts'
import type { AccountAnswer } from '../../../wire/account-question.ts'
import type { SolanaNodes } from '../rpc.ts'

/**
 * Current lamports of accounts, in the same order. An account that a program owns is a contract; a wallet belongs to the
 * system program, or does not exist while it has no lamports.
 */
export async function askNativeBalances(
  nodes: Pick<SolanaNodes, 'verified'>,
  addresses: readonly string[],
): Promise<AccountAnswer[]> {
  if (addresses.length === 0) return []
  const accounts = await nodes.verified((node) => node.accounts(addresses))
  return accounts.map((account) => ({
    balanceRaw: account?.lamports ?? 0n,
    isContract: account !== undefined && account.owner !== SYSTEM_PROGRAM,
  }))
}
