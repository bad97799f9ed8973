import type { ChainId } from '../../../domain/ids.ts'
import type { MarketReader } from '../../market-view.ts'
import type { TokenView } from '../../shape/token-row.ts'

/** Those tokens that are known, with their windows, in the order they were asked for. */
export async function readTokenViews(view: MarketReader, refs: readonly ChainId[]): Promise<TokenView[]> {
  const [tokens, windows] = await Promise.all([
    view.tokens(refs),
    view.windows(refs.map((ref) => ({ ...ref, kind: 'token' as const }))),
  ])
  return refs.flatMap(({ chain }, index): TokenView[] => {
    const token = tokens[index]?.record
    if (token === undefined) return []
    return [{ chain, token, windows: windows[index]?.record, headTime: view.head(chain)?.time }]
  })
}
