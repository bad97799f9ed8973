import { ChaintapeError } from '../../domain/errors.ts'
import type { StoreName } from '../../store/store-names.ts'
import type { Versioned } from '../../store/versioned.ts'
import type { ChangeFeedFollower } from './change-feed-follower.ts'
import type { Version } from './overlay-documents.ts'

/** How documents of one kind are read, and put together from what a store and the overlay say. */
export type JoinedRead<Ref, T, Seen> = {
  readonly fromRedis: () => Promise<(Versioned<T> | undefined)[]>
  readonly fromClickhouse: () => Promise<(Versioned<T> | undefined)[]>
  /** The version in the overlay. */
  readonly look: (chain: ChangeFeedFollower, ref: Ref) => Seen
  /** With what it said before ClickHouse was asked, if that was asked. */
  readonly join: (
    seen: Seen,
    before: Seen | undefined,
    stored: Versioned<T> | undefined,
  ) => Version<T> | undefined
}

type Chains<Ref> = {
  readonly chainOf: (ref: Ref) => ChangeFeedFollower
  /** Counts the times anything left an overlay, or another generation of a chain was served. */
  readonly revision: () => number
}

/** Redis is asked first. If it does not answer, or lacks what has left the overlay, then ClickHouse has to: slower, but as new. */
export async function readJoined<Ref, T, Seen>(
  refs: readonly Ref[],
  read: JoinedRead<Ref, T, Seen>,
  chains: Chains<Ref>,
): Promise<Version<T>[]> {
  if (refs.length === 0) return []
  try {
    const found = await readHot(refs, read, chains)
    if (found !== undefined) return found
  } catch (error) {
    if (!isUnavailable(error)) throw error
  }
  return readCold(refs, read, chains)
}

/** Undefined if Redis lacks what has left the overlay. */
async function readHot<Ref, T, Seen>(
  refs: readonly Ref[],
  { fromRedis, look, join }: JoinedRead<Ref, T, Seen>,
  { chainOf, revision }: Chains<Ref>,
): Promise<Version<T>[] | undefined> {
  for (;;) {
    if (!refs.every((ref) => chainOf(ref).reads.isWhole('redis'))) return undefined
    const before = revision()
    const stored = await fromRedis()
    const chains = refs.map(chainOf)
    if (before === revision()) await keepUp('redis', chains, stored)
    // A document that left the overlay during the read may be in neither of the two: read again.
    if (before !== revision()) continue
    return refs.map((ref, index) => {
      const chain = chains[index] as ChangeFeedFollower
      return asOfReads(chain, join(look(chain, ref), undefined, stored[index]))
    })
  }
}

/** ClickHouse takes its time: what the overlay said before is remembered, so that what leaves it meanwhile is not missed. */
async function readCold<Ref, T, Seen>(
  refs: readonly Ref[],
  { fromClickhouse, look, join }: JoinedRead<Ref, T, Seen>,
  { chainOf }: Chains<Ref>,
): Promise<Version<T>[]> {
  for (;;) {
    const chains = refs.map(chainOf)
    await Promise.all([...new Set(chains)].map(({ reads }) => reads.mustHaveHistory()))
    // Reads may have gone on to a later commit point meanwhile.
    if (!chains.every(({ reads }) => reads.isWhole('clickhouse'))) continue
    const before = refs.map((ref, index) => {
      const chain = chains[index] as ChangeFeedFollower
      return { applied: chain.reads.end.seq, seen: look(chain, ref) }
    })
    const stored = await fromClickhouse()
    const isServed = (): boolean => refs.every((ref, index) => chainOf(ref) === chains[index])
    if (isServed()) await keepUp('clickhouse', chains, stored)
    // The documents of the generation that was served before do not fit to the overlay of this one.
    if (!isServed()) continue
    // A document that came after that look and has already left the overlay may be in neither.
    if (chains.some(({ dropped }, index) => dropped > (before[index]?.applied ?? 0))) continue
    return refs.map((ref, index) => {
      const chain = chains[index] as ChangeFeedFollower
      return asOfReads(chain, join(look(chain, ref), before[index]?.seen, stored[index]))
    })
  }
}

/**
 * The writer may be ahead of this gateway. A document stored for a block that has not arrived here yet would be returned as of
 * the block before, so reads advance to that block first.
 */
async function keepUp(
  store: StoreName,
  chains: readonly ChangeFeedFollower[],
  stored: readonly (Versioned<unknown> | undefined)[],
): Promise<void> {
  for (const [index, { reads }] of chains.entries()) {
    const seq = stored[index]?.seq ?? 0
    if (seq > reads.end.seq) await reads.reach(seq, store)
  }
}

export function isUnavailable(error: unknown): boolean {
  return error instanceof ChaintapeError && error.code === 'store_unavailable'
}

/** All change sets up to the position of reads are taken in, also those that did not change this document. */
function asOfReads<T>({ reads }: ChangeFeedFollower, found: Version<T> | undefined): Version<T> {
  return { seq: Math.max(reads.end.seq, found?.seq ?? 0), record: found?.record }
}
