import type { Logger } from '../../lib/logger.ts'
import type { Ranking } from './rank-tokens.ts'

export type RankingsOptions = {
  readonly rank: (chain: string) => Promise<Ranking>
  readonly now: () => number
  readonly logger: Pick<Logger, 'warn'>
  readonly maxReaders?: number
}

export type Rankings = {
  /** What this page is to be cut from: the first one from the newest ranking, the others from what the first one was. */
  of(readerId: string, chain: string, page: number): Promise<Ranking>
}

type Known = { readonly ranking: Ranking; readonly madeAt: number }
type Reader = { readonly ranking: Ranking; readonly since: number }

/** A ranking that is older is made anew, in the background. */
export const REFRESH_MS = 5_000
/** Beyond this age, the first request waits for a new ranking. */
const STALE_MS = 15_000
/** So long after its first page, a reader is given the others from the same ranking. */
export const READER_MS = 120_000
const MAX_READERS = 10_000

/**
 * The rankings of all chains, a stale-while-revalidate cache refreshed at most every five seconds. A client that pages through a
 * ranking reads one version of it, so that no token is repeated or skipped because places change in between.
 */
export function createRankings({ rank, now, logger, maxReaders = MAX_READERS }: RankingsOptions): Rankings {
  const known = new Map<string, Known>()
  const making = new Map<string, Promise<Ranking>>()
  /** In the order of their first pages. */
  const readers = new Map<string, Reader>()

  const make = async (chain: string): Promise<Ranking> => {
    try {
      const ranking = await rank(chain)
      known.set(chain, { ranking, madeAt: now() })
      return ranking
    } finally {
      making.delete(chain)
    }
  }

  const makeOnce = (chain: string): Promise<Ranking> => {
    const promise = making.get(chain) ?? make(chain)
    making.set(chain, promise)
    return promise
  }

  const newest = async (chain: string): Promise<Ranking> => {
    const last = known.get(chain)
    const age = last === undefined ? Number.POSITIVE_INFINITY : now() - last.madeAt
    if (last !== undefined && age < REFRESH_MS) return last.ranking
    const made = makeOnce(chain)
    if (last === undefined || age >= STALE_MS) return made
    made.catch((error: unknown) => logger.warn({ err: error, chain }, 'Trending ranking failed'))
    return last.ranking
  }

  const makeRoom = (): void => {
    for (const [oldest, { since }] of readers) {
      if (readers.size <= maxReaders && now() - since < READER_MS) break
      readers.delete(oldest)
    }
  }

  return {
    of: async (readerId, chain, page) => {
      const name = `${chain} ${readerId}`
      makeRoom()
      const reader = readers.get(name)
      if (page > 0 && reader !== undefined) return reader.ranking
      const ranking = await newest(chain)
      readers.delete(name)
      readers.set(name, { ranking, since: now() })
      makeRoom()
      return ranking
    },
  }
}
