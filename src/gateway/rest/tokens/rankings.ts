import type { Logger } from '../../../lib/logger.ts'
import { StaleWhileRevalidateCache } from '../../cache/stale-while-revalidate.ts'
import type { Ranking } from './rank-tokens.ts'

export type RankingsOptions = {
  readonly rank: (chain: string) => Promise<Ranking>
  /** The generation that a chain is ranked from: pages of two do not fit to each other. */
  readonly generationOf: (chain: string) => number
  readonly now: () => number
  readonly logger: Pick<Logger, 'warn'>
  readonly maxReaders?: number
}

export type Rankings = {
  /** The ranking that a page comes from: the latest one for the first page, the first page's ranking for the others. */
  of(readerId: string, chain: string, page: number): Promise<Ranking>
}

type Reader = { readonly ranking: Ranking; readonly since: number }

/** An older ranking is replaced in the background. */
export const REFRESH_MS = 5_000
/** Beyond this age, a request waits for a new ranking. */
const STALE_MS = 15_000
/** For this long after the first page, a client gets the other pages from the same ranking. */
export const READER_MS = 120_000
const MAX_READERS = 10_000
/** No operator serves as many. */
const MAX_CHAINS = 1_000

/**
 * Trending tokens by chain, ranked on demand at most every five seconds. A client that reads page by page reads one ranking,
 * so that changing places neither repeat nor skip a token.
 */
export function createRankings(options: RankingsOptions): Rankings {
  const { rank, generationOf, now, logger, maxReaders = MAX_READERS } = options
  const rankings = new StaleWhileRevalidateCache<Ranking>({
    ...{ freshMs: REFRESH_MS, staleMs: STALE_MS, maxEntries: MAX_CHAINS, now },
    onFailure: (chain, err) => logger.warn({ err, chain }, 'Trending ranking failed'),
  })
  /** In the order of their first pages. */
  const readers = new Map<string, Reader>()

  const makeRoom = (): void => {
    for (const [oldest, { since }] of readers) {
      if (readers.size <= maxReaders && now() - since < READER_MS) break
      readers.delete(oldest)
    }
  }

  return {
    of: async (readerId, chain, page) => {
      const ranked = `${chain}/${generationOf(chain)}`
      const name = `${ranked} ${readerId}`
      makeRoom()
      const reader = readers.get(name)
      if (page > 0 && reader !== undefined) return reader.ranking
      const ranking = await rankings.get(ranked, () => rank(chain))
      readers.delete(name)
      readers.set(name, { ranking, since: now() })
      makeRoom()
      return ranking
    },
  }
}
