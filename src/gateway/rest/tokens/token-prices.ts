import Type from 'typebox'
import { formatChainId } from '../../../domain/ids.ts'
import { pow10, VALUE_DIGITS } from '../../../domain/money.ts'
import type { Scope } from '../../scope.ts'
import { tokenPrice } from '../../shape/token-price.ts'
import type { TokenView } from '../../shape/token-row.ts'
import { volume24h } from '../../shape/windows.ts'
import type { RestContext } from '../context.ts'
import { answerOf, integer, maybeText, text } from '../schemas.ts'
import { chainsOf, parseTokenIds } from './token-ids.ts'
import { readTokenViews } from './token-views.ts'

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
  answerOf({
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
  }),
)

/** `POST /v2/tokens/price` */
export function addTokenPrices(scope: Scope, { view, familyOf, chains }: RestContext): void {
  const schema = {
    operationId: 'tokenPrices',
    summary: 'Prices of up to 200 tokens',
    tags: ['Tokens'],
    body,
    response: { 200: answer },
  }
  scope.post('/v2/tokens/price', { schema, config: { cu: 100 } }, async (request, reply) => {
    const { token_ids, tvl_min, tx_24h_volume_min } = request.body
    const refs = parseTokenIds(token_ids, familyOf)
    reply.answerChains = chainsOf(refs, chains)
    const entries = Object.create(null) as Record<string, ReturnType<typeof tokenPrice>>
    for (const known of await readTokenViews(view, refs)) {
      if (!reaches(known, tvl_min, tx_24h_volume_min)) continue
      entries[formatChainId(known.token.address, known.chain)] = tokenPrice(known)
    }
    return entries
  })
}

/** An unknown TVL or volume reaches no threshold; a threshold of 0 is none. */
function reaches({ token, windows }: TokenView, tvlMin: number, volumeMin: number): boolean {
  const isAtLeast = (worth: bigint | undefined, dollars: number): boolean =>
    dollars === 0 || (worth ?? -1n) >= BigInt(dollars) * pow10(VALUE_DIGITS)
  return isAtLeast(token.tvlUsd, tvlMin) && isAtLeast(volume24h(windows), volumeMin)
}
