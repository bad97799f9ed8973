import { readBase58 } from '../../domain/base58.ts'
import { ACCOUNT_CHANGE, type WalletBalances, type WalletToken } from '../../domain/wallet-balances.ts'
import { byAccount } from './balance-logs.ts'
import { MAX_AMOUNT } from './owner-balances.ts'
import type { SolanaTransaction, TokenBalance } from './transaction.ts'

/** JSON rounds larger numbers, and every source must report the same. */
const MAX_LAMPORTS = BigInt(Number.MAX_SAFE_INTEGER)

/**
 * Balances of the fee payer after the transaction: its lamports, and for each mint the sum over its token accounts that
 * the transaction names. Accounts that are opened and closed in the transaction are in neither list.
 */
export function walletBalancesOf(transaction: SolanaTransaction, wallet: string): WalletBalances {
  const [lamports] = transaction.postBalances
  const sums = new MintSums(wallet)
  const before = byAccount(transaction.preTokenBalances)
  for (const after of byAccount(transaction.postTokenBalances).values()) {
    const was = before.get(after.account)
    sums.addAfter(after, was?.mint === after.mint && was.owner === after.owner ? was : undefined)
    if (was?.mint === after.mint && was.owner === after.owner) before.delete(after.account)
  }
  for (const was of before.values()) sums.addClosed(was)
  return {
    nativeRaw: lamports !== undefined && lamports <= MAX_LAMPORTS ? lamports : undefined,
    tokens: sums.finish(),
  }
}

class MintSums {
  readonly #wallet: string
  readonly #sums = new Map<string, { amountRaw: bigint; accounts: number }>()
  /** Old transactions report no owners, so an account of the mint may be the wallet's. */
  readonly #unknown = new Set<string>()

  constructor(wallet: string) {
    this.#wallet = wallet
  }

  addAfter(after: TokenBalance, was: TokenBalance | undefined): void {
    const sum = this.#sumOf(after)
    if (sum === undefined) return
    sum.amountRaw += after.amount
    if (was === undefined) sum.accounts |= ACCOUNT_CHANGE.created
    else if (was.amount > 0n && after.amount === 0n) sum.accounts |= ACCOUNT_CHANGE.cleared
  }

  addClosed(was: TokenBalance): void {
    const sum = this.#sumOf(was)
    if (sum !== undefined) sum.accounts |= ACCOUNT_CHANGE.closed
  }

  finish(): WalletToken[] {
    const tokens: WalletToken[] = []
    for (const [token, { amountRaw, accounts }] of this.#sums) {
      if (amountRaw <= MAX_AMOUNT && !this.#unknown.has(token) && isKey(token))
        tokens.push({ token, amountRaw, accounts })
    }
    return tokens
  }

  #sumOf({ mint, owner }: TokenBalance): { amountRaw: bigint; accounts: number } | undefined {
    if (owner === undefined) this.#unknown.add(mint)
    if (owner !== this.#wallet) return undefined
    const known = this.#sums.get(mint)
    if (known !== undefined) return known
    const sum = { amountRaw: 0n, accounts: 0 }
    this.#sums.set(mint, sum)
    return sum
  }
}

const scratch = new Uint8Array(32)

function isKey(text: string): boolean {
  return readBase58(text, scratch, 0)
}
