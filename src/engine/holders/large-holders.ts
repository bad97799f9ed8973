import type { Balance } from '../../domain/change.ts'
import type { LargeHolder } from './tables.ts'

/** At most this many can hold such a share, unless the token misreports its supply: then the largest count. */
const LARGE_PARTS = 50n

/** The large holders after these balances changed. */
export function withLarge(
  large: readonly LargeHolder[],
  changed: readonly Pick<Balance, 'holder' | 'amountRaw'>[],
  supplyRaw: bigint,
): readonly LargeHolder[] {
  const isLarge = (amountRaw: bigint): boolean =>
    amountRaw > 0n && supplyRaw > 0n && amountRaw * LARGE_PARTS >= supplyRaw
  const known = new Set(large.map(({ holder }) => holder))
  const moved = changed.filter(({ holder, amountRaw }) => isLarge(amountRaw) || known.has(holder))
  if (moved.length === 0) return large
  const gone = new Set(moved.map(({ holder }) => holder))
  const others = large.filter(({ holder }) => !gone.has(holder))
  const now = moved.filter(({ amountRaw }) => isLarge(amountRaw))
  return [...others, ...now.map(({ holder, amountRaw }) => ({ holder, amountRaw }))]
    .sort((a, b) => (a.amountRaw === b.amountRaw ? byHolder(a, b) : a.amountRaw > b.amountRaw ? -1 : 1))
    .slice(0, Number(LARGE_PARTS))
    .sort(byHolder)
}

function byHolder(a: LargeHolder, b: LargeHolder): number {
  return a.holder < b.holder ? -1 : 1
}
