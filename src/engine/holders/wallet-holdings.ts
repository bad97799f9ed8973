import type { RawTransaction } from '../../domain/envelope.ts'
import { ZERO_ADDRESS } from '../../domain/known-addresses.ts'
import { isBalance } from '../../domain/limits.ts'
import { ACCOUNT_CHANGE, type WalletHolding } from '../../domain/wallet-balances.ts'
import type { BlockMoves } from './block-moves.ts'
import { type HolderTables, isPublishable } from './tables.ts'

type Signer = {
  readonly of: RawTransaction
  readonly address: string
  /** What it gained in the transaction, by token. */
  readonly gains: ReadonlyMap<string, bigint>
}

/**
 * What the signer of a transaction holds after it, on EVM chains: the balance before the block, and the transfers of the
 * block up to this transaction. Known for tokens whose holders were known before the block.
 */
export class WalletHoldings {
  readonly #tables: HolderTables
  readonly #moves: BlockMoves
  #signer: Signer | undefined

  constructor(tables: HolderTables, moves: BlockMoves) {
    this.#tables = tables
    this.#moves = moves
  }

  /** Call in the order of the block's transactions, before the block changes balances. */
  after(transaction: RawTransaction, token: string): WalletHolding | undefined {
    // Transfers of the native coin emit no events. Solana reports the balances of its wallets itself.
    if (token === ZERO_ADDRESS || !token.startsWith('0x')) return undefined
    const holding = this.#tables.holdings.get(token)
    if (holding === undefined || !isPublishable(holding)) return undefined
    const { address, gains } = this.#signerOf(transaction)
    const amountRaw = this.#tables.balances.get(token, address) + this.#moves.gainOf(token, address)
    const beforeRaw = amountRaw - (gains.get(token) ?? 0n)
    // Sent more than it had: the transfers are incomplete.
    if (amountRaw < 0n || beforeRaw < 0n || !isBalance(amountRaw)) return undefined
    return { amountRaw, accounts: accountsOf(beforeRaw, amountRaw) }
  }

  #signerOf(transaction: RawTransaction): Signer {
    if (this.#signer?.of === transaction) return this.#signer
    const address = transaction.from
    const gains = new Map<string, bigint>()
    for (const move of this.#moves.upTo(transaction)) {
      if ('owners' in move) continue
      const { token, from, to, amount } = move
      if (to === address) gains.set(token, (gains.get(token) ?? 0n) + amount)
      if (from === address) gains.set(token, (gains.get(token) ?? 0n) - amount)
    }
    this.#signer = { of: transaction, address, gains }
    return this.#signer
  }
}

/** A wallet has one balance of a token, which stands for its account: it appears with the first coins, and is never closed. */
function accountsOf(beforeRaw: bigint, afterRaw: bigint): number {
  if (beforeRaw === 0n && afterRaw > 0n) return ACCOUNT_CHANGE.created
  return beforeRaw > 0n && afterRaw === 0n ? ACCOUNT_CHANGE.cleared : 0
}
