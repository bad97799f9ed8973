import Type from 'typebox'
import { formatChainAddress } from '../../../domain/ids.ts'
import type { Scope } from '../../http/scope.ts'
import { tokenRow } from '../../shape/token-row.ts'
import type { RestContext } from '../context.ts'
import { reportPending } from '../pending-ids.ts'
import { tokenRowSchema } from '../schemas.ts'
import { chainsOf, parseTokenIds } from './token-ids.ts'
import { readTokenViews } from './token-views.ts'

const body = Type.Object(
  { token_ids: Type.Array(Type.String(), { maxItems: 50 }) },
  { additionalProperties: false },
)

/** `POST /v2/tokens/search` */
export function addTokenBatch(scope: Scope, context: RestContext): void {
  const { familyOf, chains, lookUps } = context
  const schema = {
    operationId: 'tokenBatch',
    summary: 'Details of up to 50 tokens',
    description:
      'Unknown tokens are omitted. X-Pending-Ids lists up to 20 of them that are being looked up and worth asking for again.',
    tags: ['Tokens'],
    body,
    response: { 200: Type.Record(Type.String(), tokenRowSchema) },
  }
  scope.post('/v2/tokens/search', { schema, config: { cu: 100 } }, async (request, reply) => {
    const refs = parseTokenIds(request.body.token_ids, familyOf)
    reply.answerChains = chainsOf(refs, chains)
    const rows = Object.create(null) as Record<string, ReturnType<typeof tokenRow>>
    for (const known of await readTokenViews(context, refs)) {
      rows[formatChainAddress(known.token.address, known.chain)] = tokenRow(known)
    }
    reportPending(lookUps, request, reply, refs, (id) => rows[id] !== undefined)
    return rows
  })
}
