import Type from 'typebox'
import { type ChainAddress, formatChainAddress, normaliseAddress } from '../../../domain/ids.ts'
import type { Scope } from '../../http/scope.ts'
import { jsonPayload } from '../../http/send-json.ts'
import { tokenRow } from '../../shape/token-row.ts'
import { availableOf, knownChain } from '../chain-param.ts'
import type { ChainInfo, RestContext } from '../context.ts'
import { answerOf, limitOf, oneOf, text, tokenRowSchema } from '../schemas.ts'
import { parseKeyword } from './keyword-match.ts'
import {
  type RankedMatch,
  rankMatches,
  type SearchedToken,
  searchedToken,
  TOKEN_ORDERS,
  type TokenOrder,
} from './rank-matches.ts'
import { readTokenAnswers, readTokenViews } from './token-views.ts'

const MAX_KEYWORD = 100
/** Beyond these, only tokens with the most TVL in their main pair are ranked: more than any response can hold. */
const MAX_CANDIDATES = 400

const schema = {
  operationId: 'keywordSearch',
  summary: 'Tokens by address, symbol or name',
  description: `An address matches exactly. Other keywords match symbols, ignoring case and confusable letters: equal symbols first, then
symbols that start with the keyword; from three letters on, also names and the words in them. Within each group the genuine token comes
before tokens of its chain with the same or a confusable symbol, which have is_impostor; then \`orderby\` decides, unknown values
last. If there are more than ${MAX_CANDIDATES} matches, only those with the most liquidity in their main pair are ranked.`,
  tags: ['Tokens'],
  querystring: Type.Object(
    {
      keyword: Type.String({ minLength: 1, maxLength: MAX_KEYWORD }),
      chain: Type.Optional(text),
      limit: limitOf(100, 300),
      orderby: oneOf(TOKEN_ORDERS, 'tx_volume_u_24h'),
    },
    { additionalProperties: false, required: ['keyword'] },
  ),
  response: {
    200: Type.Array(
      answerOf({ ...tokenRowSchema.properties, is_impostor: Type.Optional(Type.Boolean()) }, 'TokenMatch'),
    ),
  },
}

/** `GET /v2/tokens` */
export function addKeywordSearch(scope: Scope, context: RestContext): void {
  const { chains, familyOf, view } = context
  scope.get('/v2/tokens', { schema, config: { cu: 5 } }, async (request, reply) => {
    const { keyword, chain, limit, orderby } = request.query
    const asked = chains.filter((each) => chain === undefined || each.chain === knownChain(chain, familyOf))
    const wanted = availableOf(asked, view, reply)
    reply.answerChains = wanted.map((each) => each.chain)
    const byAddress = wanted.flatMap(({ chain: name, family }): ChainAddress[] => {
      const address = normaliseAddress(family, 'token', keyword)
      return address === undefined ? [] : [{ chain: name, address }]
    })
    if (byAddress.length > 0) return (await readTokenViews(context, byAddress)).slice(0, limit).map(tokenRow)
    const found = await searchTokens(context, { chains: wanted, typed: keyword, order: orderby, limit })
    const rows = found.map(({ token: { json }, isImpostor }) =>
      isImpostor === undefined ? json : `${json.slice(0, -1)},"is_impostor":${isImpostor}}`,
    )
    return jsonPayload(reply, Buffer.from(`[${rows.join(',')}]`))
  })
}

type Search = {
  readonly chains: readonly ChainInfo[]
  readonly typed: string
  readonly order: TokenOrder
  readonly limit: number
}

/** By symbol and name, best first. */
async function searchTokens(
  context: RestContext,
  { chains, typed, order, limit }: Search,
): Promise<RankedMatch[]> {
  const keyword = parseKeyword(typed)
  if (keyword.skeleton === '') return []
  // They may have no main pair to stand by, and nobody may stand before them.
  const main = chains.flatMap(({ chain }) =>
    context.mainTokensOf(chain).map((address): ChainAddress => ({ chain, address })),
  )
  const matches = await context.history.tokenMatches({
    chains: chains.map(({ chain }) => chain),
    skeleton: keyword.skeleton,
    lastKind: keyword.isForNames ? 'word' : 'symbol',
    limit: MAX_CANDIDATES,
  })
  const idOf = ({ chain, address }: ChainAddress): string => formatChainAddress(address, chain)
  const candidates = new Map([...main, ...matches].map((ref) => [idOf(ref), ref]))
  const mainIds = new Set(main.map(idOf))
  const tokens = await readTokenAnswers(context, [...candidates.values()], context.searched, searchedToken)
  const isMain = (token: SearchedToken): boolean => mainIds.has(idOf(token))
  return rankMatches(tokens, { keyword, order, isMain }).slice(0, limit)
}
