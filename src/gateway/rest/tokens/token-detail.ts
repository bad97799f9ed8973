import Type from 'typebox'
import type { Answer } from '../../cache/answer-cache.ts'
import type { Scope } from '../../http/scope.ts'
import { sendAnswer } from '../../http/send-json.ts'
import { tokenDetail } from '../../shape/token-detail.ts'
import type { RestContext } from '../context.ts'
import { parsePathId, unknownPathId } from '../path-id.ts'
import { answerOf, maybeInteger, maybeText, noQuery, text, unknownFields, windowsSchema } from '../schemas.ts'
import { whenKnown } from '../when-known.ts'

const TOP_PAIRS = 5

const tokenInfo = answerOf(
  {
    name: text,
    symbol: text,
    chain: text,
    current_price_usd: text,
    market_cap: text,
    holders: Type.Integer(),
    tvl: text,
    logo_url: text,
    updated_at: Type.Integer(),
    unknown: unknownFields,
  },
  'TokenSummary',
)

const tokenPair = answerOf(
  {
    ...windowsSchema('pair'),
    amm: text,
    chain: text,
    pair: text,
    price_change: text,
    price_change_24h: text,
    token0_symbol: text,
    token1_symbol: text,
    token0_price_usd: text,
    token1_price_usd: text,
    volume_u: text,
    updated_at: Type.Integer(),
    token0_address: text,
    token1_address: text,
    token0_decimal: maybeInteger,
    token1_decimal: maybeInteger,
    reserve0: maybeText,
    reserve1: maybeText,
    tvl: maybeText,
    unknown: unknownFields,
  },
  'TokenPair',
)

const answer = answerOf(
  {
    status: Type.Integer(),
    msg: text,
    data_type: Type.Integer(),
    data: answerOf(
      {
        is_audited: Type.Boolean(),
        pairs: Type.Array(tokenPair, { maxItems: TOP_PAIRS }),
        token: tokenInfo,
      },
      'TokenWithPairs',
    ),
  },
  'TokenDetail',
)

const schema = {
  operationId: 'tokenDetail',
  summary: 'A token and its top 5 pairs',
  tags: ['Tokens'],
  params: Type.Object({ tokenId: text }),
  querystring: noQuery,
  response: { 200: answer },
}

/** `GET /v2/tokens/{token-id}` */
export function addTokenDetail(
  scope: Scope,
  { view, familyOf, answers, listingOf, lookUps }: RestContext,
): void {
  scope.get('/v2/tokens/:tokenId', { schema, config: { cu: 5 } }, (request, reply) => {
    const ref = parsePathId(request.params.tokenId, 'token', familyOf)
    reply.answerChains = [ref.chain]
    const { chain, address } = ref
    const keptAs = `token/${address}-${chain}`
    reply.keptAs = keptAs
    const answer = (): Answer | Promise<Answer> =>
      answers.getOrMake(chain, keptAs, async () => {
        const [[reading], pairs] = await Promise.all([view.tokens([ref]), view.topPairs(ref, TOP_PAIRS)])
        if (reading?.record === undefined) throw unknownPathId('token')
        // Its pools may have been found since it became known.
        if (reading.record.priceUsd === undefined) lookUps.note(ref, request.grant?.keyId)
        const detail = tokenDetail(chain, reading.record, pairs, view.head(chain), listingOf(chain, address))
        const ofPairs = pairs.flatMap(
          ({ pair }) => [`pair/${pair.address}`, `pairWindows/${pair.address}`] as const,
        )
        return {
          answer: { json: Buffer.from(JSON.stringify(detail)) },
          dependsOn: [`token/${address}`, `pairsOf/${address}`, ...ofPairs],
        }
      })
    return sendAnswer(reply, whenKnown(lookUps, request, reply, ref, answer))
  })
}
