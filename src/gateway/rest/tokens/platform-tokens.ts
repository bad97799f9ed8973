import Type from 'typebox'
import { RequestError } from '../../http/problem.ts'
import type { Scope } from '../../http/scope.ts'
import { tokenRow } from '../../shape/token-row.ts'
import { availableOf } from '../chain-param.ts'
import type { RestContext } from '../context.ts'
import { limitOf, oneOf, text, tokenRowSchema } from '../schemas.ts'
import { ORDERS, type Order, type PlatformTag, parsePlatformTag } from './platform-tag.ts'
import { readTokenViews } from './token-views.ts'

const schema = {
  operationId: 'platformTokens',
  summary: 'Tokens of a launch platform, by tag, on all chains',
  description: `meme: tokens of all launch platforms. <platform>_in_…: on the bonding curve; <platform>_out_…: graduated to a pool. hot:
ordered by \`orderby\`; new: latest creation or graduation first; in_almost: at least 80 % of the goal, most advanced first.`,
  tags: ['Tokens'],
  querystring: Type.Object(
    {
      tag: text,
      limit: limitOf(100, 300),
      orderby: oneOf(ORDERS, 'tx_volume_u_24h'),
    },
    { additionalProperties: false, required: ['tag'] },
  ),
  response: { 200: Type.Array(tokenRowSchema) },
}

/** `GET /v2/tokens/platform` */
export function addPlatformTokens(scope: Scope, context: RestContext): void {
  const { view, chains } = context
  scope.get('/v2/tokens/platform', { schema, config: { cu: 10 } }, async (request, reply) => {
    const { tag: word, limit, orderby } = request.query
    const tag = knownTag(word, orderby, chains)
    const asked = chains.filter((each) => isOn(tag, each))
    const names = availableOf(asked, view, reply).map(({ chain }) => chain)
    reply.answerChains = names
    const ranked = names.map(async (chain) => {
      const addresses = await view.ranked(chain, tag.rank, limit)
      return addresses.map((address) => ({ chain, address }))
    })
    const known = await readTokenViews(context, (await Promise.all(ranked)).flat())
    return known
      .filter(tag.isOf)
      .map((each) => ({ each, order: tag.orderOf(each) }))
      .sort((a, b) => (a.order === b.order ? 0 : a.order < b.order ? 1 : -1))
      .slice(0, limit)
      .map(({ each }) => tokenRow(each))
  })
}

function knownTag(word: string, order: Order, chains: RestContext['chains']): PlatformTag {
  const tag = parsePlatformTag(word, order)
  if (tag !== undefined && (tag.platform === undefined || chains.some((each) => isOn(tag, each)))) return tag
  const platforms = [...new Set(chains.flatMap((each) => each.platforms))]
  throw new RequestError('unknown_tag', 'unknown tag', [
    {
      pointer: '#/tag',
      detail: `is neither meme nor <platform>_(in_hot|in_new|in_almost|out_hot|out_new) with one of: ${platforms.join(', ')}`,
    },
  ])
}

function isOn({ platform }: PlatformTag, { platforms }: RestContext['chains'][number]): boolean {
  return platform === undefined || platforms.includes(platform)
}
