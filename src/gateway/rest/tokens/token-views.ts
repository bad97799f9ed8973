import type { ChainId } from '../../../domain/ids.ts'
import type { TokenView } from '../../shape/token-row.ts'
import type { RestContext } from '../context.ts'

/** Those tokens that are known, with their windows, in the order they were asked for. */
export async function readTokenViews(
  { view, listingOf }: Pick<RestContext, 'view' | 'listingOf'>,
  refs: readonly ChainId[],
): Promise<TokenView[]> {
  const [tokens, windows] = await Promise.all([
    view.tokens(refs),
    view.windows(refs.map((ref) => ({ ...ref, kind: 'token' as const }))),
  ])
  return refs.flatMap(({ chain }, index): TokenView[] => {
    const token = tokens[index]?.record
    if (token === undefined) return []
    const listing = listingOf(chain, token.address)
    return [{ chain, token, windows: windows[index]?.record, headTime: view.head(chain)?.time, listing }]
  })
}
