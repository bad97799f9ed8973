import type { Swapped } from '../dex/events.ts'
import { flowsOf, type TokenFlows } from '../dex/evm/token-flows.ts'
import { movesOf } from '../dex/evm/token-moves.ts'
import type { RawTransaction } from '../domain/envelope.ts'
import type { Table } from '../state/journaled-state.ts'
import type { Holding } from './holders/tables.ts'
import { type Pool, placeOf } from './pool/pool.ts'

/** Sender and recipient of swaps on EVM chains, from the transaction, where the event does not report them. */
export class Parties {
  readonly #holdings: Table<Holding>
  /** Flows of the last transaction that was asked about; most have no such swap. */
  #flows: { readonly of: RawTransaction; readonly byToken: ReadonlyMap<string, TokenFlows> } | undefined

  constructor(holdings: Table<Holding>) {
    this.#holdings = holdings
  }

  /** `payer` is the contract that holds the pool's tokens. */
  complete(swap: Swapped, pool: Pool, payer: string, transaction: RawTransaction): Swapped {
    if (swap.sender !== undefined && swap.recipient !== undefined) return swap
    return {
      ...swap,
      sender: swap.sender ?? transaction.from,
      recipient: swap.recipient ?? this.#recipientOf(swap, pool, payer, transaction),
    }
  }

  #recipientOf(
    { token0, token1, delta0, delta1 }: Swapped,
    pool: Pool,
    payer: string,
    transaction: RawTransaction,
  ): string | undefined {
    if (delta0 < 0n === delta1 < 0n) return undefined
    const token = pool.tokens[placeOf(pool, delta0 < 0n ? token0 : token1) ?? -1]
    // A token that is known to misreport its transfers proves nothing by them.
    if (token === undefined || this.#holdings.get(token)?.hasUnreliableBalances) return undefined
    return this.#flowsOf(transaction)
      .get(token)
      ?.recipientOf(payer, delta0 < 0n ? -delta0 : -delta1)
  }

  #flowsOf(transaction: RawTransaction): ReadonlyMap<string, TokenFlows> {
    if (this.#flows?.of !== transaction) {
      // Deposits and withdrawals of a wrapped coin move nothing between two addresses.
      const moves = movesOf(transaction, () => false)
      this.#flows = { of: transaction, byToken: flowsOf(moves) }
    }
    return this.#flows.byToken
  }
}
