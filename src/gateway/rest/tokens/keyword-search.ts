import Type from 'typebox'
import { type ChainId, normaliseAddress } from '../../../domain/ids.ts'
import type { Scope } from '../../scope.ts'
import { tokenRow } from '../../shape/token-row.ts'
import { knownChain } from '../chain-param.ts'
import type { RestContext } from '../context.ts'
import { limitOf, oneOf, text, tokenRowSchema } from '../schemas.ts'
import { readTokenViews } from './token-views.ts'

const MAX_KEYWORD = 100

/** How the interface calls what tokens can be ordered by. */
const ORDERS = ['tx_volume_u_24h', 'market_cap', 'main_pair_tvl', 'fdv'] as const

const schema = {
  operationId: 'keywordSearch',
  summary: 'Tokens by symbol or address',
  description: `An address is matched exactly; anything else by symbol, whatever its case: those that are equal first, then those
that begin with it. market_cap orders by fdv until circulating supplies are known.`,
  tags: ['Tokens'],
  querystring: Type.Object(
    {
      keyword: Type.String({ minLength: 1, maxLength: MAX_KEYWORD }),
      chain: Type.Optional(text),
      limit: limitOf(100, 300),
      orderby: oneOf(ORDERS, 'tx_volume_u_24h'),
    },
    { additionalProperties: false, required: ['keyword'] },
  ),
  response: { 200: Type.Array(tokenRowSchema) },
}

/** `GET /v2/tokens` */
export function addKeywordSearch(scope: Scope, { view, history, chains, familyOf }: RestContext): void {
  scope.get('/v2/tokens', { schema, config: { cu: 5 } }, async (request, reply) => {
    const { keyword, chain, limit, orderby } = request.query
    const wanted = chains.filter((each) => chain === undefined || each.chain === knownChain(chain, familyOf))
    reply.answerChains = wanted.map((each) => each.chain)
    const byAddress = wanted.flatMap(({ chain: name, family }): ChainId[] => {
      const address = normaliseAddress(family, 'token', keyword)
      return address === undefined ? [] : [{ chain: name, address }]
    })
    const refs =
      byAddress.length > 0
        ? byAddress
        : await history.tokensBySymbol({
            chains: wanted.map((each) => each.chain),
            symbol: keyword,
            order: orderby === 'market_cap' ? 'fdv' : orderby,
            limit,
          })
    return (await readTokenViews(view, refs)).slice(0, limit).map(tokenRow)
  })
}
