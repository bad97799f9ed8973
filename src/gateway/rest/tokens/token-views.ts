import { type ChainAddress, formatChainAddress } from '../../../domain/ids.ts'
import type { Answer, AnswerCache } from '../../cache/answer-cache.ts'
import type { TokenView } from '../../shape/token-row.ts'
import { tokenWindows } from '../../shape/windows.ts'
import type { RestContext } from '../context.ts'

type Context = Pick<RestContext, 'view' | 'listingOf' | 'hasLockers'>

/** The known ones of these tokens, with their windows, in the order of the request. */
export async function readTokenViews(
  { view, listingOf, hasLockers }: Context,
  refs: readonly ChainAddress[],
): Promise<TokenView[]> {
  const [tokens, windows] = await Promise.all([
    view.tokens(refs),
    view.windows(refs.map(({ chain, address }) => ({ chain, address, kind: 'token' as const }))),
  ])
  return refs.flatMap(({ chain }, index): TokenView[] => {
    const token = tokens[index]?.record
    if (token === undefined) return []
    const listing = listingOf(chain, token.address)
    const seen = tokenWindows(windows[index]?.record, token, view.head(chain))
    return [{ chain, token, windows: seen, listing, hasLockers: hasLockers(chain) }]
  })
}

/** The answers of the known ones of these tokens: from the cache, or built now; missing documents are read together. */
export async function readTokenAnswers<T extends Answer>(
  context: Context,
  refs: readonly ChainAddress[],
  cache: AnswerCache<T>,
  answerOf: (view: TokenView) => T,
): Promise<T[]> {
  const { view } = context
  const ids = refs.map(({ chain, address }) => formatChainAddress(address, chain))
  const known = ids.map((id) => cache.get(id))
  const missing = refs.filter((_, index) => known[index] === undefined)
  if (missing.length === 0) return known as T[]
  const { switches } = view
  const seqs = new Map(missing.map(({ chain }) => [chain, view.readEnd(chain).seq]))
  const made = new Map<string, T>()
  for (const found of await readTokenViews(context, missing)) {
    const { chain, token } = found
    const id = formatChainAddress(token.address, chain)
    const answer = answerOf(found)
    made.set(id, answer)
    // Cached only if nothing changed since it was read.
    if (view.readEnd(chain).seq !== seqs.get(chain) || view.switches !== switches) continue
    const dependsOn = [`token/${token.address}`, `tokenWindows/${token.address}`] as const
    cache.put(chain, id, { answer, dependsOn })
  }
  return ids.flatMap((id, index) => known[index] ?? made.get(id) ?? [])
}
