import type { Chain, TokenMatch, TokenRow } from '@chaintape/client'
import { client } from '../market-data.ts'
import { NEW_LAUNCHES, TRENDING } from '../route.ts'

/** A row of any list; only searches compare symbols. */
export type MarketRow = TokenRow & Pick<TokenMatch, 'is_impostor'>

const PAGE_SIZE = 100
const SEARCH_SIZE = 50
const PLATFORM_LISTS = [
  { suffix: 'in_new', name: 'new' },
  { suffix: 'in_almost', name: 'almost graduated' },
  { suffix: 'in_hot', name: 'hot' },
  { suffix: 'out_new', name: 'graduated' },
  { suffix: 'out_hot', name: 'hot graduated' },
]

export type MarketQuery = {
  readonly chain: string
  readonly list: string
  readonly query: string
  readonly platforms: readonly string[]
}

/** The launch platforms of a chain. */
export function platformsOf(chain: Chain | undefined): readonly string[] {
  return chain?.platforms ?? []
}

/** Lists of single platforms, by their tag. */
export function platformLists(
  platforms: readonly string[],
): { readonly tag: string; readonly name: string }[] {
  return platforms.flatMap((platform) =>
    PLATFORM_LISTS.map(({ suffix, name }) => ({
      tag: `${platform}_${suffix}`,
      name: `${platform}: ${name}`,
    })),
  )
}

export async function readMarket(
  { chain, list, query, platforms }: MarketQuery,
  signal: AbortSignal,
): Promise<readonly MarketRow[]> {
  const options = { signal }
  const keyword = query.trim()
  if (keyword !== '') return client.rest.keywordSearch({ keyword, chain, limit: SEARCH_SIZE }, options)
  if (list === TRENDING) {
    const { tokens } = await client.rest.trendingTokens({ chain, page_size: PAGE_SIZE }, options)
    return tokens
  }
  const tags = list === NEW_LAUNCHES ? platforms.map((platform) => `${platform}_in_new`) : [list]
  const lists = await Promise.all(
    tags.map((tag) => client.rest.platformTokens({ tag, limit: PAGE_SIZE }, options)),
  )
  // A tag covers all chains.
  const rows = lists.flat().filter((row) => row.chain === chain)
  return list === NEW_LAUNCHES ? newestFirst(rows).slice(0, PAGE_SIZE) : rows
}

function newestFirst(rows: readonly MarketRow[]): MarketRow[] {
  return rows.toSorted((one, other) => (other.created_at ?? 0) - (one.created_at ?? 0))
}
