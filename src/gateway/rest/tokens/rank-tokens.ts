import { setImmediate as nextTurn } from 'node:timers/promises'
import { type TrendingScore, trendingScore } from '../../../domain/trending.ts'
import type { MarketReader } from '../../market/market-view.ts'

export type RankedToken = TrendingScore & { readonly address: string }

/** Highest score first; the address makes the order total, so that every gateway gets the same from the same data. */
export type Ranking = readonly RankedToken[]

/** Only the most traded tokens of 24 hours are scored; others cannot be trending. */
const CANDIDATES = 2_000
const LENGTH = 1_000
/** Decoding a few thousand documents at once would keep every other request waiting. */
const AT_A_TIME = 100

export type RankOptions = {
  readonly view: Pick<MarketReader, 'ranked' | 'tokens' | 'windows' | 'head'>
  /** Common quote assets: they would lead every ranking. */
  readonly mainTokensOf: (chain: string) => readonly string[]
}

export async function rankTokens({ view, mainTokensOf }: RankOptions, chain: string): Promise<Ranking> {
  const traded = await view.ranked(chain, 'volume_24h', CANDIDATES)
  const mainTokens = new Set(mainTokensOf(chain))
  const candidates = traded.filter((address) => !mainTokens.has(address))
  const ranking: RankedToken[] = []
  for (let start = 0; start < candidates.length; start += AT_A_TIME) {
    const refs = candidates.slice(start, start + AT_A_TIME).map((address) => ({ chain, address }))
    const [tokens, windows] = await Promise.all([
      view.tokens(refs),
      view.windows(refs.map((ref) => ({ ...ref, kind: 'token' as const }))),
    ])
    const now = view.head(chain)?.time ?? 0
    for (const [index, { address }] of refs.entries()) {
      const [token, traded] = [tokens[index]?.record, windows[index]?.record]
      const score = token && traded && trendingScore(token, traded, now)
      if (score !== undefined) ranking.push({ address, ...score })
    }
    await nextTurn()
  }
  return ranking.sort((a, b) => b.score - a.score || (a.address < b.address ? -1 : 1)).slice(0, LENGTH)
}
