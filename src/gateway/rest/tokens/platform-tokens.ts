import Type from 'typebox'
import type { Scope } from '../../scope.ts'
import type { RestContext } from '../context.ts'
import { limitOf, oneOf, text, tokenRowSchema } from '../schemas.ts'

const schema = {
  operationId: 'platformTokens',
  summary: 'Tokens of a launch platform, by tag',
  description: 'No launch platform is read yet, so no token carries a tag and every answer is empty.',
  tags: ['Tokens'],
  querystring: Type.Object(
    {
      tag: text,
      limit: limitOf(100, 300),
      orderby: oneOf(['tx_volume_u_24h', 'main_pair_tvl'], 'tx_volume_u_24h'),
    },
    { additionalProperties: false, required: ['tag'] },
  ),
  response: { 200: Type.Array(tokenRowSchema) },
}

/** `GET /v2/tokens/platform` */
export function addPlatformTokens(scope: Scope, { chains }: RestContext): void {
  scope.get('/v2/tokens/platform', { schema, config: { cu: 10 } }, async (_request, reply) => {
    reply.answerChains = chains.map(({ chain }) => chain)
    return []
  })
}
