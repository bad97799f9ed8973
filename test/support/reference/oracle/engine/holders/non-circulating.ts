import type { TokenHolding } from '../../../../../../src/domain/change.ts'
import type { NonCirculatingFact } from '../../../../../../src/domain/envelope.ts'
import { DEAD_ADDRESSES, ZERO_ADDRESS } from '../../../../../../src/domain/known-addresses.ts'
import { isBalance } from '../../../../../../src/domain/limits.ts'
import { type Holding, isTellable, type NonCirculating } from './tables.ts'

/** Undefined where a locker or a burn address was not asked for, or the token answers more than can be. */
export function answeredBalances(
  { balances }: NonCirculatingFact,
  lockers: ReadonlySet<string>,
): NonCirculating | undefined {
  const amounts = new Map(balances.map(({ holder, amountRaw }) => [holder, amountRaw]))
  const dead = [ZERO_ADDRESS, ...DEAD_ADDRESSES]
  const locking = [...lockers].filter((locker) => !dead.includes(locker))
  if (![...dead, ...locking].every((holder) => amounts.has(holder))) return undefined
  const sumOf = (holders: readonly string[]): bigint =>
    holders.reduce((sum, holder) => sum + (amounts.get(holder) ?? 0n), 0n)
  const [deadRaw, lockedRaw] = [sumOf(dead), sumOf(locking)]
  return isBalance(deadRaw) && isBalance(lockedRaw) ? { deadRaw, lockedRaw, burnedRaw: 0n } : undefined
}

type Sums = Pick<Holding, 'deadRaw' | 'lockedRaw' | 'burnedRaw'>

/** After transfers that moved the sums of all transfers from what they are to `sums`. */
export function movedBalances(holding: Holding, sums: Sums): NonCirculating | undefined {
  const { nonCirculating } = holding
  if (nonCirculating === undefined) return undefined
  const moved = {
    deadRaw: nonCirculating.deadRaw + sums.deadRaw - holding.deadRaw,
    lockedRaw: nonCirculating.lockedRaw + sums.lockedRaw - holding.lockedRaw,
    burnedRaw: nonCirculating.burnedRaw + sums.burnedRaw - holding.burnedRaw,
  }
  // A locker that gives away more than the token said it has: one of the two is not true.
  return Object.values(moved).every((amount) => amount >= 0n && isBalance(amount)) ? moved : undefined
}

/**
 * Holders need all transfers. What is burned, locked and circulating is known as soon as the token has answered; only
 * older transfers to the zero address, which no balance tells of, are added to what is burned once they are read.
 */
export function shownHolding(
  holding: Holding,
  supplyRaw: bigint | undefined,
  isWrappedNative: boolean,
): TokenHolding | undefined {
  const { isRead, hasUnreliableBalances, nonCirculating } = holding
  if (hasUnreliableBalances || (isRead && !isTellable(holding))) return undefined
  if (!isRead && nonCirculating === undefined) return undefined
  const held = nonCirculating ?? holding
  const burned = isRead ? holding : held
  const circulatingRaw = supplyRaw === undefined ? undefined : supplyRaw - held.deadRaw - held.lockedRaw
  return {
    holders: isRead ? holding.holders : undefined,
    // To unwrap a coin is not to burn it.
    burnedRaw: isWrappedNative ? burned.deadRaw : burned.burnedRaw + burned.deadRaw,
    lockedRaw: held.lockedRaw,
    circulatingRaw: circulatingRaw !== undefined && circulatingRaw < 0n ? undefined : circulatingRaw,
  }
}
