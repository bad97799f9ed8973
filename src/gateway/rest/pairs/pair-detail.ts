import Type from 'typebox'
import type { Answer } from '../../cache/answer-cache.ts'
import type { Scope } from '../../http/scope.ts'
import { sendAnswer } from '../../http/send-json.ts'
import { pairDetail } from '../../shape/pair-detail.ts'
import type { RestContext } from '../context.ts'
import { parsePathId, unknownPathId } from '../path-id.ts'
import { answerOf, maybeInteger, maybeText, noQuery, text, unknownFields, windowsSchema } from '../schemas.ts'
import { whenKnown } from '../when-known.ts'

const answer = answerOf(
  {
    pair: text,
    chain: text,
    amm: text,
    target_token: maybeText,
    token0_address: text,
    token0_symbol: text,
    token0_decimal: maybeInteger,
    token0_price_usd: maybeText,
    token0_price_eth: maybeText,
    token1_address: text,
    token1_symbol: text,
    token1_decimal: maybeInteger,
    token1_price_usd: maybeText,
    token1_price_eth: maybeText,
    reserve0: maybeText,
    reserve1: maybeText,
    init_reserve0: maybeText,
    init_reserve1: maybeText,
    tvl: maybeText,
    fdv: maybeText,
    created_at: maybeInteger,
    updated_at: Type.Integer(),
    first_trade_at: maybeInteger,
    last_trade_at: maybeInteger,
    high_u: maybeText,
    low_u: maybeText,
    market_cap: maybeText,
    price_ath_u: maybeText,
    is_main_pair: Type.Boolean(),
    ...windowsSchema('pair'),
    unknown: unknownFields,
  },
  'Pair',
)

const schema = {
  operationId: 'pairDetail',
  summary: 'A pair',
  tags: ['Pairs'],
  params: Type.Object({ pairId: text }),
  querystring: noQuery,
  response: { 200: answer },
}

/** `GET /v2/pairs/{pair-id}` */
export function addPairDetail(scope: Scope, { view, familyOf, answers, lookUps }: RestContext): void {
  scope.get('/v2/pairs/:pairId', { schema, config: { cu: 5 } }, (request, reply) => {
    const ref = parsePathId(request.params.pairId, 'pair', familyOf)
    reply.answerChains = [ref.chain]
    const { chain, address } = ref
    const keptAs = `pair/${address}-${chain}`
    reply.keptAs = keptAs
    const answer = (): Answer | Promise<Answer> =>
      answers.getOrMake(chain, keptAs, async () => {
        const [[reading], [windows]] = await Promise.all([
          view.pairs([ref]),
          view.windows([{ ...ref, kind: 'pair' }]),
        ])
        const pair = reading?.record
        if (pair === undefined) throw unknownPathId('pair')
        const targets = pair.targetToken === undefined ? [] : [{ chain, address: pair.targetToken }]
        const [target] = await view.tokens(targets)
        const detail = pairDetail(chain, pair, windows?.record, target?.record, view.head(chain))
        return {
          answer: { json: Buffer.from(JSON.stringify(detail)) },
          dependsOn: [
            ...targets.map((token) => `token/${token.address}` as const),
            ...([`pair/${address}`, `pairWindows/${address}`] as const),
          ],
        }
      })
    return sendAnswer(reply, whenKnown(lookUps, request, reply, ref, answer))
  })
}
