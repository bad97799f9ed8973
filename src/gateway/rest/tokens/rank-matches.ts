import { dayVolume } from '../../../domain/window.ts'
import { type TokenView, tokenRow } from '../../shape/token-row.ts'
import {
  type Keyword,
  keysOf,
  type Match,
  matchOf,
  type NameKeys,
  nameKeysOf,
  type TextKeys,
} from './keyword-match.ts'

/** How the interface calls what tokens can be ordered by, and what that is. */
const FIGURES = {
  tx_volume_u_24h: ({ windows }) => dayVolume(windows.windows),
  // Where it is not known what circulates: at most this.
  market_cap: ({ token }) => token.marketCapUsd ?? token.fdvUsd,
  main_pair_tvl: ({ token }) => token.mainPairTvlUsd,
  fdv: ({ token }) => token.fdvUsd,
} satisfies Record<string, (view: TokenView) => bigint | undefined>

export type TokenOrder = keyof typeof FIGURES
export const TOKEN_ORDERS = Object.keys(FIGURES) as TokenOrder[]

/** A token's row as JSON, and all that it is matched and ranked by. */
export type SearchedToken = {
  readonly json: string
  readonly chain: string
  readonly address: string
  readonly symbol: TextKeys
  readonly name: NameKeys
  readonly isListed: boolean
  readonly figures: Readonly<Record<TokenOrder, bigint | undefined>>
  /** Groups of tokens that it could be mistaken for. */
  readonly groups: readonly string[]
}

export function searchedToken(view: TokenView): SearchedToken {
  const { chain, token, listing } = view
  const symbol = keysOf(token.symbol)
  return {
    ...{ json: JSON.stringify(tokenRow(view)), chain, address: token.address },
    ...{ symbol, name: nameKeysOf(token.name), isListed: listing !== undefined },
    figures: {
      tx_volume_u_24h: FIGURES.tx_volume_u_24h(view),
      market_cap: FIGURES.market_cap(view),
      main_pair_tvl: FIGURES.main_pair_tvl(view),
      fdv: FIGURES.fdv(view),
    },
    groups:
      symbol.letters === '' ? [] : [`${chain}/letters/${symbol.letters}`, `${chain}/looks/${symbol.looks}`],
  }
}

export type RankedMatch = {
  readonly token: SearchedToken
  /** Another token of its chain has the same symbol, or one that looks like it, and stands higher. Unknown where
   * symbols were not looked through. */
  readonly isImpostor: boolean | undefined
}

export type RankOptions = {
  readonly keyword: Keyword
  readonly order: TokenOrder
  /** Other tokens of the chain are traded against it. */
  readonly isMain: (token: SearchedToken) => boolean
}

type PlacedMatch = Place & { readonly token: SearchedToken; readonly match: Match }

/**
 * Those that match, best first: by what matches, the genuine before those that could be taken for it, by how well
 * it matches, then in the order asked for. What stands higher is what the operator vouches for, then what has more
 * in its main pair: supply and trades cost nothing to make up.
 */
export function rankMatches(tokens: readonly SearchedToken[], options: RankOptions): RankedMatch[] {
  const { keyword, order, isMain } = options
  const candidates = tokens.map((token) => candidateOf(token, keyword, isMain(token)))
  const places = placesOf(candidates)
  const placed = candidates.flatMap((candidate): PlacedMatch[] => {
    const { match, token } = candidate
    const place = places.get(candidate)
    return match === undefined || place === undefined ? [] : [{ ...place, match, token }]
  })
  return placed.sort(inOrder(order)).map(({ token, match, depth }) => {
    return { token, isImpostor: depth > 0 ? true : isJudged(match) ? false : undefined }
  })
}

function inOrder(order: TokenOrder): (a: PlacedMatch, b: PlacedMatch) => number {
  return (a, b) =>
    a.class - b.class ||
    a.depth - b.depth ||
    a.match.distance - b.match.distance ||
    compare(b.token.figures[order] ?? -1n, a.token.figures[order] ?? -1n) ||
    compare(a.token.chain, b.token.chain) ||
    compare(a.token.address, b.token.address)
}

type Candidate = {
  readonly token: SearchedToken
  readonly match: Match | undefined
  /** How much the operator vouches for it. */
  readonly trust: 0 | 1 | 2
  readonly tvlUsd: bigint
}

/** Behind its genuine one it is one deeper, and in no better class. */
type Place = { readonly class: number; readonly depth: number }

/** All that begin like the symbol were looked through, those that stand higher first. */
function isJudged(match: Match): boolean {
  return match.class < 2
}

function candidateOf(token: SearchedToken, keyword: Keyword, isMain: boolean): Candidate {
  return {
    token,
    match: matchOf(keyword, token.symbol, token.name),
    trust: isMain ? 2 : token.isListed ? 1 : 0,
    tvlUsd: token.figures.main_pair_tvl ?? -1n,
  }
}

function placesOf(candidates: readonly Candidate[]): Map<Candidate, Place> {
  const places = new Map<Candidate, Place>()
  /** By group: the highest-ranked candidates, all equal, and the last of their places. */
  const genuine = new Map<string, { readonly like: Candidate; readonly place: Place }>()
  for (const candidate of candidates.toSorted((a, b) => compareStanding(b, a))) {
    const above = candidate.token.groups.flatMap((group) => {
      const known = genuine.get(group)
      return known === undefined || compareStanding(known.like, candidate) === 0 ? [] : [known.place]
    })
    const place = {
      class: Math.max(candidate.match?.class ?? 0, ...above.map((other) => other.class)),
      depth: Math.max(0, ...above.map((other) => other.depth + 1)),
    }
    places.set(candidate, place)
    for (const group of candidate.token.groups) {
      const known = genuine.get(group)
      if (known === undefined) genuine.set(group, { like: candidate, place })
      else if (compareStanding(known.like, candidate) === 0) {
        genuine.set(group, { like: candidate, place: laterOf(known.place, place) })
      }
    }
  }
  return places
}

function laterOf(a: Place, b: Place): Place {
  return { class: Math.max(a.class, b.class), depth: Math.max(a.depth, b.depth) }
}

/** Two that the operator vouches for alike stand equally high. */
function compareStanding(a: Candidate, b: Candidate): number {
  return a.trust - b.trust || (a.trust > 0 ? 0 : compare(a.tvlUsd, b.tvlUsd))
}

function compare<T extends bigint | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0
}
