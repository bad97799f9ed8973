import { setTimeout as sleep } from 'node:timers/promises'
import { ChaintapeError } from '../domain/errors.ts'
import type { Versioned } from '../store/versioned.ts'
import type { FollowedChain } from './followed-chain.ts'
import type { Version } from './overlay-documents.ts'

/** A document (or its absence) with all change sets up to `seq` taken in. */
export type Reading<T> = { readonly seq: number; readonly record: T | undefined }

/** How documents of one kind are read, and put together from what a store and the overlay say. */
export type JoinedRead<Ref, T, Seen> = {
  readonly fromRedis: () => Promise<(Versioned<T> | undefined)[]>
  readonly fromClickhouse: () => Promise<(Versioned<T> | undefined)[]>
  /** What the overlay says. */
  readonly look: (chain: FollowedChain, ref: Ref) => Seen
  /** With what it said before ClickHouse was asked, if that was asked. */
  readonly join: (
    seen: Seen,
    before: Seen | undefined,
    stored: Versioned<T> | undefined,
  ) => Version<T> | undefined
}

type Chains<Ref> = {
  readonly chainOf: (ref: Ref) => FollowedChain
  /** Counts the times anything left an overlay. */
  readonly generation: () => number
}

/** Longer than a block takes from one reader of the log to the next. */
const KEEP_UP_MS = 500
const LOOK_EVERY_MS = 5

/** Redis is asked first. If it does not answer, or lacks what has left the overlay, then ClickHouse has to: slower, but as new. */
export async function readJoined<Ref, T, Seen>(
  refs: readonly Ref[],
  read: JoinedRead<Ref, T, Seen>,
  chains: Chains<Ref>,
): Promise<Reading<T>[]> {
  if (refs.length === 0) return []
  if (refs.every((ref) => chains.chainOf(ref).stores.isWhole('redis'))) {
    try {
      return await readHot(refs, read, chains)
    } catch (error) {
      if (!isUnavailable(error)) throw error
    }
  }
  return readCold(refs, read, chains)
}

async function readHot<Ref, T, Seen>(
  refs: readonly Ref[],
  { fromRedis, look, join }: JoinedRead<Ref, T, Seen>,
  { chainOf, generation }: Chains<Ref>,
): Promise<Reading<T>[]> {
  for (;;) {
    const before = generation()
    const stored = await fromRedis()
    await keepUp(refs.map(chainOf), stored)
    // What left the overlay while the store was answering may be in neither of the two: ask again.
    if (before !== generation()) continue
    return refs.map((ref, index) => {
      const chain = chainOf(ref)
      return readingOf(chain, join(look(chain, ref), undefined, stored[index]))
    })
  }
}

/** ClickHouse takes its time: what the overlay said before is remembered, so that what leaves it meanwhile is not missed. */
async function readCold<Ref, T, Seen>(
  refs: readonly Ref[],
  { fromClickhouse, look, join }: JoinedRead<Ref, T, Seen>,
  { chainOf }: Chains<Ref>,
): Promise<Reading<T>[]> {
  for (;;) {
    const before = refs.map((ref) => {
      const chain = chainOf(ref)
      mustHaveHistory(chain.stores)
      return { applied: chain.applied, seen: look(chain, ref) }
    })
    const stored = await fromClickhouse()
    const chains = refs.map(chainOf)
    await keepUp(chains, stored)
    // What came after that look and has left the overlay already may be in neither.
    if (chains.some(({ dropped }, index) => dropped > (before[index]?.applied ?? 0))) continue
    return refs.map((ref, index) => {
      const chain = chains[index] as FollowedChain
      return readingOf(chain, join(look(chain, ref), before[index]?.seen, stored[index]))
    })
  }
}

/** Where a chain stood when it was last waited for in vain. */
const standstills = new WeakMap<FollowedChain, number>()

/**
 * The writer may be ahead of this gateway. A document stored for a block that has not arrived here yet would be returned as of
 * the block before, so this waits for that block, unless the log has stalled.
 */
async function keepUp(
  chains: readonly FollowedChain[],
  stored: readonly (Versioned<unknown> | undefined)[],
): Promise<void> {
  const behind = (): FollowedChain[] =>
    chains.filter(
      (chain, index) => (stored[index]?.seq ?? 0) > chain.applied && standstills.get(chain) !== chain.applied,
    )
  for (let waited = 0; behind().length > 0; waited += LOOK_EVERY_MS) {
    if (waited >= KEEP_UP_MS) for (const chain of behind()) standstills.set(chain, chain.applied)
    else await sleep(LOOK_EVERY_MS)
  }
}

/** Rows of ClickHouse can be joined with the overlay only if none between them is missing. */
export function mustHaveHistory(stores: { isWhole(store: 'clickhouse'): boolean }): void {
  if (stores.isWhole('clickhouse')) return
  throw new ChaintapeError('store_unavailable', 'ClickHouse lags behind; retry after the given delay')
}

export function isUnavailable(error: unknown): boolean {
  return error instanceof ChaintapeError && error.code === 'store_unavailable'
}

function readingOf<T>({ applied }: FollowedChain, found: Version<T> | undefined): Reading<T> {
  return { seq: Math.max(applied, found?.seq ?? 0), record: found?.record }
}
