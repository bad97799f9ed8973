import { base58Text } from '../../domain/base58.ts'
import type { RawLog, RawTransaction } from '../../domain/envelope.ts'
import { isOwnerBalancesLog } from './owner-balances.ts'
import { feePayer, type SolanaTransaction } from './transaction.ts'
import { walletBalancesOf } from './wallet-balances.ts'

/**
 * The transaction with these logs in the form of all chains; undefined if it has no fee payer. Balances of the wallet are
 * for trades, so a transaction that only moves tokens has none.
 */
export function rawTransactionOf(
  transaction: SolanaTransaction,
  index: number,
  logs: readonly RawLog[],
): RawTransaction | undefined {
  const payer = feePayer(transaction)
  if (payer === undefined) return undefined
  const from = base58Text(payer, 0)
  const raw = { index, hash: transaction.signature, from, logs }
  return logs.every(isOwnerBalancesLog) ? raw : { ...raw, wallet: walletBalancesOf(transaction, from) }
}
