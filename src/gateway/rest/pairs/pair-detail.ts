import Type from 'typebox'
import type { Scope } from '../../scope.ts'
import { pairDetail } from '../../shape/pair-detail.ts'
import type { RestContext } from '../context.ts'
import { parsePathId, unknownPathId } from '../path-id.ts'

const text = Type.String()
const maybeText = Type.Optional(Type.String())
const maybeInteger = Type.Optional(Type.Integer())

const answer = Type.Object({
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
  price_ath_u: maybeText,
  is_main_pair: Type.Boolean(),
})

const schema = { params: Type.Object({ pairId: text }), response: { 200: answer } }

/** `GET /v2/pairs/{pair-id}` */
export function addPairDetail(scope: Scope, { view, familyOf }: RestContext): void {
  scope.get('/v2/pairs/:pairId', { schema, config: { cu: 5 } }, async (request, reply) => {
    const ref = parsePathId(request.params.pairId, 'pair', familyOf)
    reply.answerChains = [ref.chain]
    const [reading] = await view.pairs([ref])
    if (reading?.record === undefined) throw unknownPathId('pair')
    return pairDetail(ref.chain, reading.record)
  })
}
