import type { TokenHolding } from '../../domain/change.ts'
import type { NonCirculatingFact } from '../../domain/envelope.ts'
import { isImported } from '../../domain/imported-balances.ts'
import { DEAD_ADDRESSES, ZERO_ADDRESS } from '../../domain/known-addresses.ts'
import { isBalance } from '../../domain/limits.ts'
import { type Holding, isPublishable, type NonCirculating } from './tables.ts'

/** Undefined if the balance of a locker or a burn address is missing, or a sum exceeds the limit of balances. */
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

/** Adds the difference between `sums`, the new sums over all transfers, and those of the holding. */
export function movedBalances(holding: Holding, sums: Sums): NonCirculating | undefined {
  const { nonCirculating } = holding
  if (nonCirculating === undefined) return undefined
  const moved = {
    deadRaw: nonCirculating.deadRaw + sums.deadRaw - holding.deadRaw,
    lockedRaw: nonCirculating.lockedRaw + sums.lockedRaw - holding.lockedRaw,
    burnedRaw: nonCirculating.burnedRaw + sums.burnedRaw - holding.burnedRaw,
  }
  // A negative amount: the transfers contradict the balances that the token reported.
  return Object.values(moved).every((amount) => amount >= 0n && isBalance(amount)) ? moved : undefined
}

/**
 * Holders need all transfers. Burned, locked and circulating amounts are known once the token has reported balances.
 * Older transfers to the zero address are in no balance; they are added to the burned amount once they are read, and
 * never if balances were imported instead.
 */
export function shownHolding(
  holding: Holding,
  supplyRaw: bigint | undefined,
  isWrappedNative: boolean,
): TokenHolding | undefined {
  const { isRead, hasUnreliableBalances, nonCirculating } = holding
  if (hasUnreliableBalances || (isRead && !isPublishable(holding))) return undefined
  if (!isRead && nonCirculating === undefined) return undefined
  const held = nonCirculating ?? holding
  const burned = isRead && !isImported(holding.first) ? holding : held
  const circulatingRaw = supplyRaw === undefined ? undefined : supplyRaw - held.deadRaw - held.lockedRaw
  return {
    holders: isRead ? holding.holders : undefined,
    // Unwrapping a native coin burns nothing.
    burnedRaw: isWrappedNative ? burned.deadRaw : burned.burnedRaw + burned.deadRaw,
    lockedRaw: held.lockedRaw,
    circulatingRaw: circulatingRaw !== undefined && circulatingRaw < 0n ? undefined : circulatingRaw,
  }
}
