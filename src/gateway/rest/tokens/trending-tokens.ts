import Type from 'typebox'
import { TRENDING_FACTORS, TRENDING_VERSION } from '../../../domain/trending.ts'
import type { Scope } from '../../http/scope.ts'
import { tokenRow } from '../../shape/token-row.ts'
import { knownChain } from '../chain-param.ts'
import type { RestContext } from '../context.ts'
import { answerOf, integer, limitOf, oneOf, text, tokenRowSchema } from '../schemas.ts'
import { type RankedToken, rankTokens } from './rank-tokens.ts'
import { createRankings } from './rankings.ts'
import { readTokenViews } from './token-views.ts'

const MAX_PAGE = 1_000_000
const LAST_PAGE = -1

const trendingRowSchema = answerOf(
  {
    ...tokenRowSchema.properties,
    trending: Type.Optional(
      answerOf(
        {
          version: integer,
          score: integer,
          factors: Type.Array(answerOf({ name: text, points: integer }, 'TrendingFactor')),
        },
        'TrendingScore',
      ),
    ),
  },
  'TrendingToken',
)

const schema = {
  operationId: 'trendingTokens',
  summary: 'Trending tokens of a chain, page by page',
  description: `Ranked by volume and wallets in 1, 4 and 24 hours, liquidity and age, with a penalty for wash trading: docs/trending.md
has the formula. explain=true adds the version of the formula, the score and the points of each factor to each row. Pages that a key requests
within two minutes of its page 0 come from the same ranking.`,
  tags: ['Tokens'],
  querystring: Type.Object(
    {
      chain: text,
      current_page: Type.Integer({ minimum: 0, maximum: MAX_PAGE, default: 0 }),
      page_size: limitOf(50, 100),
      explain: oneOf(['true', 'false'], 'false'),
    },
    { additionalProperties: false, required: ['chain'] },
  ),
  response: {
    200: answerOf(
      {
        current_page_size: integer,
        next_page: integer,
        total: integer,
        tokens: Type.Array(trendingRowSchema),
      },
      'TrendingPage',
    ),
  },
}

/** `GET /v2/tokens/trending` */
export function addTrendingTokens(scope: Scope, context: RestContext): void {
  const { familyOf, view } = context
  const rankings = createRankings({
    rank: (chain) => rankTokens(context, chain),
    generationOf: (chain) => view.generation(chain),
    now: Date.now,
    logger: scope.log,
  })
  scope.get('/v2/tokens/trending', { schema, config: { cu: 5 } }, async (request, reply) => {
    const { current_page: page, page_size: size, explain } = request.query
    const chain = knownChain(request.query.chain, familyOf)
    reply.answerChains = [chain]
    const ranking = await rankings.of(request.grant?.keyId ?? '', chain, page)
    const ranked = ranking.slice(page * size, (page + 1) * size)
    const known = await readTokenViews(
      context,
      ranked.map(({ address }) => ({ chain, address })),
    )
    const explained = new Map(explain === 'true' ? ranked.map((each) => [each.address, each]) : [])
    return {
      current_page_size: known.length,
      next_page: (page + 1) * size < ranking.length ? page + 1 : LAST_PAGE,
      total: ranking.length,
      tokens: known.map((view) => ({ ...tokenRow(view), ...explanation(explained.get(view.token.address)) })),
    }
  })
}

function explanation(ranked: RankedToken | undefined) {
  if (ranked === undefined) return {}
  const factors = TRENDING_FACTORS.map((name) => ({ name, points: ranked.factors[name] }))
  return { trending: { version: TRENDING_VERSION, score: ranked.score, factors } }
}
