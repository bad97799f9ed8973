import Type from 'typebox'
import type { Token } from '../../../domain/change.ts'
import { type ChainId, formatChainId, parseChainId } from '../../../domain/ids.ts'
import { pow10, VALUE_DIGITS } from '../../../domain/money.ts'
import { type ProblemItem, RequestError } from '../../problem.ts'
import type { Scope } from '../../scope.ts'
import { tokenPrice } from '../../shape/token-price.ts'
import type { RestContext } from '../context.ts'
import { idProblemText } from '../path-id.ts'

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
  Type.Object({
    token_id: Type.String(),
    current_price_usd: Type.Optional(Type.String()),
    tvl: Type.Optional(Type.String()),
    fdv: Type.Optional(Type.String()),
    updated_at: Type.Integer(),
  }),
)

/** `POST /v2/tokens/price` */
export function addTokenPrices(scope: Scope, { view, familyOf }: RestContext): void {
  const schema = { body, response: { 200: answer } }
  scope.post('/v2/tokens/price', { schema, config: { cu: 100 } }, async (request, reply) => {
    const { token_ids, tvl_min, tx_24h_volume_min } = request.body
    const refs = parseIds(token_ids, familyOf)
    reply.answerChains = [...new Set(refs.map(({ chain }) => chain))]
    const readings = await view.tokens(refs)
    const entries = Object.create(null) as Record<string, ReturnType<typeof tokenPrice>>
    for (const [index, { address, chain }] of refs.entries()) {
      const token = readings[index]?.record
      if (token === undefined || !reaches(token, tvl_min, tx_24h_volume_min)) continue
      entries[formatChainId(address, chain)] = tokenPrice(chain, token)
    }
    return entries
  })
}

function parseIds(ids: readonly string[], familyOf: RestContext['familyOf']): ChainId[] {
  const refs = new Map<string, ChainId>()
  const problems: (ProblemItem & { readonly code: 'malformed_id' | 'unknown_chain' })[] = []
  for (const [index, id] of ids.entries()) {
    const parsed = parseChainId(id, 'token', familyOf)
    if (typeof parsed === 'string') {
      const pointer = `#/token_ids/${index}`
      problems.push({ code: parsed, pointer, detail: idProblemText(parsed, 'token') })
    } else refs.set(formatChainId(parsed.address, parsed.chain), parsed)
  }
  const [first] = problems
  if (first === undefined) return [...refs.values()]
  const items = problems.map(({ pointer, detail }) => ({ pointer, detail }))
  throw new RequestError(first.code, 'some token_ids cannot be read', items)
}

/** An unknown TVL or volume reaches no threshold; a threshold of 0 is none. */
function reaches(token: Token, tvlMin: number, volumeMin: number): boolean {
  const hasTvl = tvlMin === 0 || (token.tvlUsd ?? -1n) >= BigInt(tvlMin) * pow10(VALUE_DIGITS)
  return hasTvl && volumeMin === 0
}
