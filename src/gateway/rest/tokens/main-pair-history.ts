import Type from 'typebox'
import { SWITCH_REASONS } from '../../../domain/change.ts'
import type { Scope } from '../../http/scope.ts'
import type { RestContext } from '../context.ts'
import { parsePathId, unknownPathId } from '../path-id.ts'
import { answerOf, integer, limitOf, text } from '../schemas.ts'
import { whenKnown } from '../when-known.ts'

const mainPairChange = answerOf(
  {
    time: integer,
    block_number: integer,
    old_main_pair: text,
    new_main_pair: text,
    reason: Type.Enum([...SWITCH_REASONS], { type: 'string' }),
  },
  'MainPairChange',
)

const schema = {
  operationId: 'mainPairHistory',
  summary: 'Changes of the main pair of a token',
  description: `Latest first, as of the writer's last batch. reason is deeper (the new pair is deeper by more than the margin), emptied
(the depth of the old pair is unknown) or graduated (the old pair is the bonding curve that launched the token, and it closed).`,
  tags: ['Tokens'],
  params: Type.Object({ tokenId: text }),
  querystring: Type.Object({ limit: limitOf(50, 100) }, { additionalProperties: false, required: [] }),
  response: { 200: Type.Array(mainPairChange) },
}

/** `GET /v2/tokens/main-pairs/{token-id}` */
export function addMainPairHistory(scope: Scope, { view, history, familyOf, lookUps }: RestContext): void {
  const config = { cu: 10, readsHistory: true }
  scope.get('/v2/tokens/main-pairs/:tokenId', { schema, config }, async (request, reply) => {
    const ref = parsePathId(request.params.tokenId, 'token', familyOf)
    reply.answerChains = [ref.chain]
    await whenKnown(lookUps, request, reply, ref, async () => {
      const [reading] = await view.tokens([ref])
      if (reading?.record === undefined) throw unknownPathId('token')
    })
    const switches = await history.switches(ref, request.query.limit)
    return switches.map(({ time, block, oldPair, newPair, reason }) => ({
      ...{ time, block_number: block, old_main_pair: oldPair, new_main_pair: newPair, reason },
    }))
  })
}
