import Type from 'typebox'
import type { Scope } from '../../http/scope.ts'
import { mainTokenRow } from '../../shape/token-row.ts'
import { knownChain } from '../chain-param.ts'
import type { RestContext } from '../context.ts'
import { mainTokenRowSchema, text } from '../schemas.ts'
import { readTokenViews } from './token-views.ts'

/** `GET /v2/tokens/main`: the coins that a chain's other tokens are traded against. */
export function addMainTokens(scope: Scope, context: RestContext): void {
  const { familyOf, mainTokensOf } = context
  const schema = {
    operationId: 'mainTokens',
    summary: 'The main tokens of a chain',
    tags: ['Tokens'],
    querystring: Type.Object({ chain: text }, { additionalProperties: false }),
    response: { 200: Type.Array(mainTokenRowSchema) },
  }
  scope.get('/v2/tokens/main', { schema, config: { cu: 5 } }, async (request, reply) => {
    const chain = knownChain(request.query.chain, familyOf)
    reply.answerChains = [chain]
    const refs = mainTokensOf(chain).map((address) => ({ chain, address }))
    return (await readTokenViews(context, refs)).map(mainTokenRow)
  })
}
