import Type from 'typebox'
import { formatValue } from '../../../domain/money.ts'
import type { Scope } from '../../scope.ts'
import { knownAmount, leaveOutUnknown } from '../../shape/wire-values.ts'
import type { RestContext } from '../context.ts'
import { parsePathId, unknownPathId } from '../path-id.ts'
import { answerOf, integer, maybeInteger, maybeText, noQuery, text } from '../schemas.ts'

const TOP_PAIRS = 10
const NOT_CHECKED = -1

const schema = {
  operationId: 'contract',
  summary: 'Contract and risk of a token',
  description: 'No contract is examined yet: is_honeypot is -1 (not checked), and no risk is told.',
  tags: ['Tokens'],
  params: Type.Object({ tokenId: text }),
  querystring: noQuery,
  response: {
    200: answerOf({
      token: text,
      chain: text,
      token_name: text,
      token_symbol: text,
      decimal: maybeInteger,
      total: maybeText,
      is_honeypot: integer,
      dex: Type.Array(answerOf({ amm: text, pair: text, name: text, liquidity: maybeText })),
    }),
  },
}

/** `GET /v2/contracts/{token-id}` */
export function addContract(scope: Scope, { view, familyOf }: RestContext): void {
  scope.get('/v2/contracts/:tokenId', { schema, config: { cu: 10 } }, async (request, reply) => {
    const ref = parsePathId(request.params.tokenId, 'token', familyOf)
    reply.answerChains = [ref.chain]
    const [[reading], pairs] = await Promise.all([view.tokens([ref]), view.topPairs(ref, TOP_PAIRS)])
    const token = reading?.record
    if (token === undefined) throw unknownPathId('token')
    return {
      ...leaveOutUnknown({
        token: token.address,
        chain: ref.chain,
        token_name: token.name,
        token_symbol: token.symbol,
        decimal: token.decimals,
        total: knownAmount(token.supplyRaw, token.decimals),
        is_honeypot: NOT_CHECKED,
      }),
      dex: pairs.map(({ pair: { amm, address, token0, token1, tvlUsd } }) => ({
        amm,
        pair: address,
        name: `${token0.symbol}/${token1.symbol}`,
        ...(tvlUsd === undefined ? {} : { liquidity: formatValue(tvlUsd) }),
      })),
    }
  })
}
