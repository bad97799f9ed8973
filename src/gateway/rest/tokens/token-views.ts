import type { Token, Windows } from '../../../domain/change.ts'
import type { ChainId } from '../../../domain/ids.ts'
import type { Reading } from '../../market-view.ts'
import type { TokenView } from '../../shape/token-row.ts'
import type { RestContext } from '../context.ts'

type Context = Pick<RestContext, 'view' | 'listingOf'>

/** Those tokens that are known, with their windows, in the order they were asked for. */
export async function readTokenViews(context: Context, refs: readonly ChainId[]): Promise<TokenView[]> {
  const [tokens, windows] = await Promise.all([context.view.tokens(refs), readWindows(context, refs)])
  return viewsOf(context, refs, tokens, windows)
}

/** The same without windows, where few of them will be told. */
export async function readBareViews(context: Context, refs: readonly ChainId[]): Promise<TokenView[]> {
  return viewsOf(context, refs, await context.view.tokens(refs), [])
}

export function readWindows(
  { view }: Pick<RestContext, 'view'>,
  refs: readonly ChainId[],
): Promise<Reading<Windows>[]> {
  return view.windows(refs.map(({ chain, address }) => ({ chain, address, kind: 'token' as const })))
}

function viewsOf(
  { view, listingOf }: Context,
  refs: readonly ChainId[],
  tokens: readonly Reading<Token>[],
  windows: readonly Reading<Windows>[],
): TokenView[] {
  return refs.flatMap(({ chain }, index): TokenView[] => {
    const token = tokens[index]?.record
    if (token === undefined) return []
    const listing = listingOf(chain, token.address)
    return [{ chain, token, windows: windows[index]?.record, headTime: view.head(chain)?.time, listing }]
  })
}
