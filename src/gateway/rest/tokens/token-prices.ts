import Type from 'typebox'
import { pow10, VALUE_DIGITS } from '../../../domain/money.ts'
import type { Scope } from '../../http/scope.ts'
import { jsonPayload, sendJson } from '../../http/send-json.ts'
import { type PriceAnswer, priceAnswer } from '../../shape/token-price.ts'
import type { RestContext } from '../context.ts'
import { reportPending } from '../pending-ids.ts'
import { answerOf, integer, maybeText, text, unknownFields } from '../schemas.ts'
import { chainsOf, parseTokenIds } from './token-ids.ts'
import { readTokenAnswers } from './token-views.ts'

const threshold = (fallback: number) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: fallback })

const body = Type.Object(
  {
    token_ids: Type.Array(Type.String(), { maxItems: 200 }),
    tvl_min: threshold(1_000),
    tx_24h_volume_min: threshold(0),
  },
  { additionalProperties: false, required: ['token_ids'] },
)

const answer = Type.Record(
  Type.String(),
  answerOf(
    {
      token_id: text,
      current_price_usd: maybeText,
      price_change_1d: maybeText,
      price_change_24h: maybeText,
      tvl: maybeText,
      tx_volume_u_24h: maybeText,
      fdv: maybeText,
      market_cap: maybeText,
      holders: Type.Optional(Type.Integer()),
      updated_at: integer,
      unknown: unknownFields,
    },
    'TokenPrice',
  ),
)

/** `POST /v2/tokens/price` */
export function addTokenPrices(scope: Scope, context: RestContext): void {
  const { familyOf, chains, prices, lookUps } = context
  const schema = {
    operationId: 'tokenPrices',
    summary: 'Prices of up to 200 tokens',
    description:
      'Unknown tokens are omitted. X-Pending-Ids lists up to 20 of them that are being looked up and worth asking for again.',
    tags: ['Tokens'],
    body,
    response: { 200: answer },
  }
  scope.post('/v2/tokens/price', { schema, config: { cu: 100 } }, (request, reply) => {
    const { token_ids, tvl_min, tx_24h_volume_min } = request.body
    const jsonOf = (found: readonly PriceAnswer[]): Buffer => {
      const entries = entriesOf(found, dollars(tvl_min), dollars(tx_24h_volume_min))
      return Buffer.from(`{${entries.join(',')}}`)
    }
    const known = knownPrices(prices, token_ids)
    if (known !== undefined) {
      reply.answerChains = chainsOf(known, chains)
      // Fastify awaits a returned reply.
      return void sendJson(reply, jsonOf(known)) as never
    }
    const refs = parseTokenIds(token_ids, familyOf)
    reply.answerChains = chainsOf(refs, chains)
    return readTokenAnswers(context, refs, prices, priceAnswer).then((found) => {
      if (found.length < refs.length) {
        const ids = new Set(found.map(({ id }) => id))
        reportPending(lookUps, request, reply, refs, (id) => ids.has(id))
      }
      return jsonPayload(reply, jsonOf(found))
    })
  })
}

/** Each once, if all are known from before; an id that something is known by needs no reading. */
function knownPrices(prices: RestContext['prices'], ids: readonly string[]): PriceAnswer[] | undefined {
  const found = new Set<PriceAnswer>()
  for (const id of ids) {
    const price = prices.get(id)
    if (price === undefined) return undefined
    found.add(price)
  }
  return [...found]
}

function dollars(threshold: number): bigint {
  return BigInt(threshold) * pow10(VALUE_DIGITS)
}

/** An unknown TVL or volume reaches no threshold; a threshold of 0 is none. */
function entriesOf(prices: readonly PriceAnswer[], tvlMin: bigint, volumeMin: bigint): string[] {
  const isAtLeast = (worth: bigint | undefined, least: bigint): boolean =>
    least === 0n || (worth ?? -1n) >= least
  return prices
    .filter(({ tvlUsd, volumeUsd }) => isAtLeast(tvlUsd, tvlMin) && isAtLeast(volumeUsd, volumeMin))
    .map(({ json }) => json)
}
