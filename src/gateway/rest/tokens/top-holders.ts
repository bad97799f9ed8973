import Type from 'typebox'
import type { Scope } from '../../scope.ts'
import type { RestContext } from '../context.ts'
import { parsePathId, unknownPathId } from '../path-id.ts'
import { answerOf, limitOf, text } from '../schemas.ts'

const number = Type.Number()
const holder = answerOf({
  holder: text,
  balance_ratio: number,
  balance_usd: number,
  main_coin_balance: number,
  address: text,
  amount_cur: number,
})

const schema = {
  operationId: 'topHolders',
  summary: 'The largest holders of a token',
  description: 'Balances are not read yet: X-Holders-Complete is false, and there is nobody to list.',
  tags: ['Tokens'],
  params: Type.Object({ tokenId: text }),
  querystring: Type.Object({ limit: limitOf(100, 100) }, { additionalProperties: false, required: [] }),
  response: { 200: Type.Array(holder) },
}

/** `GET /v2/tokens/top100/{token-id}` */
export function addTopHolders(scope: Scope, { view, familyOf }: RestContext): void {
  scope.get('/v2/tokens/top100/:tokenId', { schema, config: { cu: 10 } }, async (request, reply) => {
    const ref = parsePathId(request.params.tokenId, 'token', familyOf)
    reply.answerChains = [ref.chain]
    const [reading] = await view.tokens([ref])
    if (reading?.record === undefined) throw unknownPathId('token')
    reply.header('x-holders-complete', 'false')
    return []
  })
}
