import type { RawLog, RawTransaction } from '../domain/envelope.ts'
import * as evm from './evm/token-moves.ts'
import type { MoveSums } from './move-sums.ts'
import {
  addOwnerBalances,
  isOwnerBalancesLog,
  type MintBalances,
  mintBalancesIn,
} from './solana/owner-balances.ts'

/** Balance changes of tokens in the logs of any chain. The topics of the two families differ in length. */
export type BalanceMove = evm.TokenMove | MintBalances

/** True if the log may change balances of the token that is its address. */
export function isMove(log: RawLog, isWrappedNative: boolean): boolean {
  return isOwnerBalancesLog(log) || evm.isMove(log, isWrappedNative)
}

/** The balance changes of all tokens in a transaction, in order. */
export function movesOf(
  transaction: Pick<RawTransaction, 'logs'>,
  isWrappedNative: (token: string) => boolean,
): readonly BalanceMove[] {
  return transaction.logs.some(isOwnerBalancesLog)
    ? mintBalancesIn(transaction.logs)
    : evm.movesOf(transaction, isWrappedNative)
}

export function addMove(sums: MoveSums, move: BalanceMove): void {
  if ('owners' in move) addOwnerBalances(sums, move)
  else evm.addMove(sums, move)
}
