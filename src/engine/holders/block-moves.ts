import { type MoveSums, noMoves } from '../../dex/move-sums.ts'
import { addMove, type BalanceMove, movesOf } from '../../dex/token-moves.ts'
import type { RawTransaction } from '../../domain/envelope.ts'

type TokenMoves = {
  readonly sums: MoveSums
  /** The first transaction of the block with a move of the token. */
  readonly first: RawTransaction
}

/** Balance changes of a block, added up transaction by transaction. */
export class BlockMoves {
  readonly #transactions: readonly RawTransaction[]
  readonly isWrappedNative: (token: string) => boolean
  readonly #byToken = new Map<string, TokenMoves>()
  #next = 0
  /** The moves of the last transaction that was added. */
  #moves: readonly BalanceMove[] = []

  constructor(transactions: readonly RawTransaction[], isWrappedNative: (token: string) => boolean) {
    this.#transactions = transactions
    this.isWrappedNative = isWrappedNative
  }

  /** Adds transactions up to this one, in the order of the block, and returns its own moves. */
  upTo(transaction: RawTransaction): readonly BalanceMove[] {
    while (this.#transactions[this.#next - 1] !== transaction && this.#addNext());
    return this.#moves
  }

  /** All moves of the block, by token. */
  all(): ReadonlyMap<string, TokenMoves> {
    while (this.#addNext());
    return this.#byToken
  }

  /** What an address gained in the transactions added so far; negative for a loss. */
  gainOf(token: string, address: string): bigint {
    return this.#byToken.get(token)?.sums.gains.get(address) ?? 0n
  }

  #addNext(): boolean {
    const transaction = this.#transactions[this.#next]
    if (transaction === undefined) return false
    this.#next++
    this.#moves = movesOf(transaction, this.isWrappedNative)
    for (const move of this.#moves) {
      let own = this.#byToken.get(move.token)
      if (own === undefined) {
        own = { sums: noMoves(), first: transaction }
        this.#byToken.set(move.token, own)
      }
      addMove(own.sums, move)
    }
    return true
  }
}
