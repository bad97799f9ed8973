import Type from 'typebox'
import type { ChainAddress } from '../../../domain/ids.ts'
import type { Answer } from '../../cache/answer-cache.ts'
import type { Scope } from '../../http/scope.ts'
import { sendAnswer } from '../../http/send-json.ts'
import { tokenHolders } from '../../shape/token-holders.ts'
import type { RestContext } from '../context.ts'
import { parsePathId, unknownPathId } from '../path-id.ts'
import { answerOf, limitOf, text } from '../schemas.ts'
import { whenKnown } from '../when-known.ts'
import { hasAll } from './holders-view.ts'

const number = Type.Number()
const holder = answerOf(
  {
    holder: text,
    balance_ratio: number,
    balance_usd: number,
    main_coin_balance: number,
    address: text,
    amount_cur: number,
  },
  'Holder',
)

const schema = {
  operationId: 'topHolders',
  summary: 'The largest holders of a token',
  description: `Largest first. X-Holders-Complete is false while older transfers are still being read or written, or if the token's balances change
without transfers (rebasing, fee on transfer): the list is then incomplete. X-Holders-Reason says why, if a reader answered: history_open
(older transfers are being read) or logs_unavailable (no node of the operator serves them). X-Native-Balances is "unknown" if no node answered in time;
main_coin_balance is then 0.`,
  tags: ['Tokens'],
  params: Type.Object({ tokenId: text }),
  querystring: Type.Object({ limit: limitOf(100, 100) }, { additionalProperties: false, required: [] }),
  response: { 200: Type.Array(holder) },
}

/** As old as this an answer may be on top of the list it was made of. */
const TTL_MS = 1_000

/** `GET /v2/tokens/top100/{token-id}` */
export function addTopHolders(scope: Scope, context: RestContext): void {
  const { answers, wantedHolders, familyOf, lookUps } = context
  scope.get('/v2/tokens/top100/:tokenId', { schema, config: { cu: 10 } }, (request, reply) => {
    const ref = parsePathId(request.params.tokenId, 'token', familyOf)
    const { chain, address } = ref
    const { limit } = request.query
    reply.answerChains = [chain]
    wantedHolders.ask([ref], request.grant?.keyId ?? '')
    const answer = (): Answer | Promise<Answer> =>
      answers.getOrMake(chain, `top${limit}/${address}-${chain}`, async () => ({
        answer: await topHolders(context, ref, limit),
        dependsOn: [`token/${address}`],
        ttlMs: TTL_MS,
      }))
    return sendAnswer(reply, whenKnown(lookUps, request, reply, ref, answer))
  })
}

async function topHolders(
  { view, holders, nativeDecimalsOf, familyOf }: RestContext,
  ref: ChainAddress,
  limit: number,
): Promise<Answer> {
  const [reading] = await view.tokens([ref])
  const token = reading?.record
  if (token === undefined) throw unknownPathId('token')
  const count = token.holding?.holders
  const all = await holders.top(ref, count)
  const top = all.slice(0, limit)
  const addresses = top.map(({ holder: address }) => address)
  const [accounts, reason] = await Promise.all([
    holders.accounts(ref.chain, addresses),
    count === undefined && familyOf(ref.chain) === 'evm' ? holders.incompleteBecause(ref) : undefined,
  ])
  const rows = tokenHolders(token, top, accounts, nativeDecimalsOf(ref.chain))
  return {
    json: Buffer.from(JSON.stringify(rows)),
    headers: {
      'x-holders-complete': String(hasAll(all, count)),
      ...(reason !== undefined && { 'x-holders-reason': reason }),
      ...(accounts === undefined && { 'x-native-balances': 'unknown' }),
    },
  }
}
