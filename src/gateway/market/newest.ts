import type { Candle, Pair, Windows } from '../../domain/change.ts'
import { dayVolume } from '../../domain/window.ts'
import type { Versioned } from '../../store/redis/hot-store.ts'
import type { Version } from './overlay-documents.ts'

export type PairView = { readonly pair: Pair; readonly windows: Windows | undefined }

/** The later version of overlay and store; a tombstone counts, too. */
export function newer<T>(
  overlaid: Version<T> | undefined,
  stored: Version<T> | undefined,
): Version<T> | undefined {
  if (overlaid === undefined || stored === undefined) return overlaid ?? stored
  return overlaid.seq >= stored.seq ? overlaid : stored
}

/** The latest of the overlay's version, its version before the read, and the stored one. */
export function newest<T>(
  overlaid: Version<T> | undefined,
  before: Version<T> | undefined,
  stored: Versioned<T> | undefined,
): Version<T> | undefined {
  return newer(overlaid, newer(before, stored))
}

/** The newest of a series: one that was removed gives the one before it back. */
export function newestCandle(
  overlaid: ReadonlyMap<number, Version<Candle>>,
  stored: Versioned<Candle> | undefined,
): Version<Candle> | undefined {
  let newest = stored === undefined ? undefined : newer(overlaid.get(stored.record.start), stored)
  for (const version of overlaid.values()) {
    const start = version.record?.start
    // The stored candle, where it is the newer one of its start, has been chosen above.
    if (start === undefined || start === stored?.record.start) continue
    if (newest?.record === undefined || start > newest.record.start) newest = version
  }
  return newest
}

/** For sorting: what holds most comes first, at a tie what is traded most. */
export function byTvl(a: PairView, b: PairView): number {
  const descending = (left: bigint, right: bigint): number => (left === right ? 0 : left < right ? 1 : -1)
  return (
    descending(a.pair.tvlUsd ?? -1n, b.pair.tvlUsd ?? -1n) ||
    descending(dayVolume(a.windows) ?? -1n, dayVolume(b.windows) ?? -1n) ||
    // The address makes the order total.
    (a.pair.address < b.pair.address ? -1 : 1)
  )
}
