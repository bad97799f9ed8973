import Type from 'typebox'
import type { Scope } from '../../scope.ts'
import { tokenHolders } from '../../shape/token-holders.ts'
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
  description: `Largest first. X-Holders-Complete is false while older transfers are still being read, or where the token's
balances change without transfers: then who is listed, and with how much, is not all there is to know.
X-Native-Balances is unknown where no node could be asked in time; main_coin_balance is 0 then.`,
  tags: ['Tokens'],
  params: Type.Object({ tokenId: text }),
  querystring: Type.Object({ limit: limitOf(100, 100) }, { additionalProperties: false, required: [] }),
  response: { 200: Type.Array(holder) },
}

/** `GET /v2/tokens/top100/{token-id}` */
export function addTopHolders(
  scope: Scope,
  { view, holders, familyOf, nativeDecimalsOf }: RestContext,
): void {
  scope.get('/v2/tokens/top100/:tokenId', { schema, config: { cu: 10 } }, async (request, reply) => {
    const ref = parsePathId(request.params.tokenId, 'token', familyOf)
    reply.answerChains = [ref.chain]
    const [reading] = await view.tokens([ref])
    const token = reading?.record
    if (token === undefined) throw unknownPathId('token')
    const top = (await holders.top(ref)).slice(0, request.query.limit)
    const accounts = await holders.accounts(
      ref.chain,
      top.map(({ holder: address }) => address),
    )
    reply.header('x-holders-complete', String(token.holding !== undefined))
    if (accounts === undefined) reply.header('x-native-balances', 'unknown')
    return tokenHolders(token, top, accounts, nativeDecimalsOf(ref.chain))
  })
}
