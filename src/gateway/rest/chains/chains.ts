import Type from 'typebox'
import type { Scope } from '../../http/scope.ts'
import type { RestContext } from '../context.ts'
import { answerOf, noQuery, text } from '../schemas.ts'

const schema = {
  operationId: 'chains',
  summary: 'Chains of this gateway',
  tags: ['Service'],
  querystring: noQuery,
  response: {
    200: Type.Array(
      answerOf(
        {
          chain: text,
          family: Type.Enum(['evm', 'solana'], { type: 'string' }),
          amms: Type.Array(text),
          platforms: Type.Array(text),
          main_tokens: Type.Array(text),
        },
        'Chain',
      ),
    ),
  },
}

/** `GET /v2/chains` */
export function addChains(scope: Scope, { chains, mainTokensOf }: RestContext): void {
  scope.get('/v2/chains', { schema, config: { cu: 0 } }, async (_request, reply) => {
    reply.answerChains = chains.map(({ chain }) => chain)
    return chains.map(({ chain, family, amms, platforms }) => ({
      chain,
      family,
      amms: [...amms],
      platforms: [...platforms],
      main_tokens: [...mainTokensOf(chain)],
    }))
  })
}
