import Type from 'typebox'
import type { Scope } from '../../scope.ts'
import { tokenRow } from '../../shape/token-row.ts'
import { knownChain } from '../chain-param.ts'
import type { RestContext } from '../context.ts'
import { answerOf, integer, limitOf, text, tokenRowSchema } from '../schemas.ts'
import { readTokenViews } from './token-views.ts'

const MAX_PAGE = 1_000_000
const LAST_PAGE = -1

const schema = {
  operationId: 'trendingTokens',
  summary: 'Trending tokens of a chain, page by page',
  description: 'Ranked by dollars traded in 24 hours.',
  tags: ['Tokens'],
  querystring: Type.Object(
    {
      chain: text,
      current_page: Type.Integer({ minimum: 0, maximum: MAX_PAGE, default: 0 }),
      page_size: limitOf(50, 100),
    },
    { additionalProperties: false, required: ['chain'] },
  ),
  response: {
    200: answerOf({
      current_page_size: integer,
      next_page: integer,
      total: integer,
      tokens: Type.Array(tokenRowSchema),
    }),
  },
}

/** `GET /v2/tokens/trending` */
export function addTrendingTokens(scope: Scope, { view, familyOf }: RestContext): void {
  scope.get('/v2/tokens/trending', { schema, config: { cu: 5 } }, async (request, reply) => {
    const { current_page: page, page_size: size } = request.query
    const chain = knownChain(request.query.chain, familyOf)
    reply.answerChains = [chain]
    const { addresses, total } = await view.ranked(chain, 'volume_24h', page * size, size)
    const known = await readTokenViews(
      view,
      addresses.map((address) => ({ chain, address })),
    )
    return {
      current_page_size: known.length,
      next_page: (page + 1) * size < total ? page + 1 : LAST_PAGE,
      total,
      tokens: known.map(tokenRow),
    }
  })
}
