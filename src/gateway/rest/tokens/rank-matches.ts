import type { TokenView } from '../../shape/token-row.ts'
import { volume24h } from '../../shape/windows.ts'
import { type Keyword, keysOf, type Match, matchOf } from './keyword-match.ts'

/** How the interface calls what tokens can be ordered by, and what that is. */
const FIGURES = {
  tx_volume_u_24h: ({ windows }) => volume24h(windows),
  // Where it is not known what circulates: at most this.
  market_cap: ({ token }) => token.marketCapUsd ?? token.fdvUsd,
  main_pair_tvl: ({ token }) => token.mainPairTvlUsd,
  fdv: ({ token }) => token.fdvUsd,
} satisfies Record<string, (view: TokenView) => bigint | undefined>

export type TokenOrder = keyof typeof FIGURES
export const TOKEN_ORDERS = Object.keys(FIGURES) as TokenOrder[]

/** Only this one takes more than the token itself. */
const ORDER_BY_WINDOWS: TokenOrder = 'tx_volume_u_24h'

export type RankedMatch = {
  readonly view: TokenView
  /** Another token of its chain has the same symbol, or one that looks like it, and stands higher. Unknown where
   * symbols were not looked through. */
  readonly isImpostor: boolean | undefined
}

/** Where it stands, whatever order is asked for. */
export type PlacedMatch = Place & { readonly view: TokenView; readonly match: Match }

export type PlaceOptions = {
  readonly keyword: Keyword
  /** Other tokens of the chain are traded against it. */
  readonly isMain: (view: TokenView) => boolean
}

/**
 * Those that match, and their places: by what matches, the genuine before those that could be taken for it, by how well
 * it matches. What stands higher is what the operator vouches for, then what has more in its main pair: supply and
 * trades cost nothing to make up, and windows are not needed here.
 */
export function placeMatches(views: readonly TokenView[], options: PlaceOptions): PlacedMatch[] {
  const { keyword, isMain } = options
  const candidates = views.map((view) => candidateOf(view, keyword, isMain(view)))
  const places = placesOf(candidates)
  return candidates.flatMap((candidate) => {
    const { match, view } = candidate
    const place = places.get(candidate)
    return match === undefined || place === undefined ? [] : [{ ...place, match, view }]
  })
}

/** Those that can be among the first so many, whatever their windows say. */
export function contendersOf(
  placed: readonly PlacedMatch[],
  order: TokenOrder,
  limit: number,
): readonly PlacedMatch[] {
  if (placed.length <= limit) return placed
  const compareKnown = order === ORDER_BY_WINDOWS ? comparePlaces : inOrder(order)
  const last = placed.toSorted(compareKnown)[limit - 1]
  return placed.filter((each) => last !== undefined && compareKnown(each, last) <= 0)
}

/** Best first: by place, then in the order asked for. */
export function rankMatches(placed: readonly PlacedMatch[], order: TokenOrder): RankedMatch[] {
  return placed.toSorted(inOrder(order)).map(({ view, match, depth }) => {
    return { view, isImpostor: depth > 0 ? true : isJudged(match) ? false : undefined }
  })
}

function inOrder(order: TokenOrder): (a: PlacedMatch, b: PlacedMatch) => number {
  const figureOf = FIGURES[order]
  return (a, b) =>
    comparePlaces(a, b) ||
    compare(figureOf(b.view) ?? -1n, figureOf(a.view) ?? -1n) ||
    compare(a.view.chain, b.view.chain) ||
    compare(a.view.token.address, b.view.token.address)
}

function comparePlaces(a: PlacedMatch, b: PlacedMatch): number {
  return a.class - b.class || a.depth - b.depth || a.match.distance - b.match.distance
}

type Candidate = {
  readonly view: TokenView
  readonly match: Match | undefined
  /** How much the operator vouches for it. */
  readonly trust: 0 | 1 | 2
  readonly tvlUsd: bigint
  /** Of whom it could be taken for, in each way. */
  readonly groups: readonly string[]
}

/** Behind its genuine one it is one deeper, and in no better class. */
type Place = { readonly class: number; readonly depth: number }

/** All that begin like the symbol were looked through, those that stand higher first. */
function isJudged(match: Match): boolean {
  return match.class < 2
}

function candidateOf(view: TokenView, keyword: Keyword, isMain: boolean): Candidate {
  const { chain, token, listing } = view
  const symbol = keysOf(token.symbol)
  return {
    view,
    match: matchOf(keyword, symbol, token.name),
    trust: isMain ? 2 : listing === undefined ? 0 : 1,
    tvlUsd: token.mainPairTvlUsd ?? -1n,
    groups:
      symbol.letters === '' ? [] : [`${chain}/letters/${symbol.letters}`, `${chain}/looks/${symbol.looks}`],
  }
}

function placesOf(candidates: readonly Candidate[]): Map<Candidate, Place> {
  const places = new Map<Candidate, Place>()
  /** Of each group those that stand highest, all alike, and the last of their places. */
  const genuine = new Map<string, { readonly like: Candidate; readonly place: Place }>()
  for (const candidate of candidates.toSorted((a, b) => compareStanding(b, a))) {
    const above = candidate.groups.flatMap((group) => {
      const known = genuine.get(group)
      return known === undefined || compareStanding(known.like, candidate) === 0 ? [] : [known.place]
    })
    const place = {
      class: Math.max(candidate.match?.class ?? 0, ...above.map((other) => other.class)),
      depth: Math.max(0, ...above.map((other) => other.depth + 1)),
    }
    places.set(candidate, place)
    for (const group of candidate.groups) {
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
