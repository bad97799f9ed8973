import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { EventRef, Pair } from '../../../domain/change.ts'
import type { ChainAddress } from '../../../domain/ids.ts'
import type { Scope } from '../../http/scope.ts'
import { existenceOf, tradingOf } from '../../market/activity.ts'
import type { EventPage, EventRange } from '../../market/history-view.ts'
import { liquidityTransaction } from '../../shape/liquidity-transaction.ts'
import { swapTransaction } from '../../shape/swap-transaction.ts'
import { formatCursor as formatLiveCursor } from '../../ws/cursor.ts'
import type { RestContext } from '../context.ts'
import { parsePathId, unknownPathId } from '../path-id.ts'
import { limitOf, text } from '../schemas.ts'
import { whenKnown } from '../when-known.ts'
import { formatCursor, parseCursor } from './cursor.ts'
import { liquidityPage, swapPage } from './schemas.ts'

const querystring = Type.Object(
  { limit: limitOf(100, 1_000), cursor: Type.Optional(Type.String({ maxLength: 128 })) },
  { additionalProperties: false, required: [] },
)
const params = Type.Object({ pairId: text })
const DESCRIPTION = `Latest first. next_cursor, if there are more, requests the next page; it stays valid through new trades
and reorgs. cursor, on the first page only, is where this history ends: a WebSocket subscription to the same pair with
{"from": cursor} continues from there without a gap or a duplicate.`

/** `GET /v2/txs/{pair-id}` and `GET /v2/txs/liq/{pair-id}` */
export function addTxs(scope: Scope, context: RestContext): void {
  const { history } = context
  const common = {
    description: DESCRIPTION,
    tags: ['Transactions'],
    params,
    querystring,
  }
  const swaps = {
    ...common,
    operationId: 'pairSwaps',
    summary: 'Swaps of a pair',
    response: { 200: swapPage },
  }
  scope.get(
    '/v2/txs/:pairId',
    { schema: swaps, config: { cu: 50, readsHistory: true } },
    async (request, reply) => {
      const { ref, pair } = await knownPair(context, request.params.pairId, request, reply)
      const activity = tradingOf(pair)
      return page(
        ref.chain,
        request.query,
        (range) => history.trades(ref, { ...range, activity }),
        (trade) => swapTransaction(ref.chain, trade),
      )
    },
  )
  const liquidity = {
    ...common,
    operationId: 'pairLiquidity',
    summary: 'Liquidity transactions of a pair',
    response: { 200: liquidityPage },
  }
  scope.get(
    '/v2/txs/liq/:pairId',
    { schema: liquidity, config: { cu: 50, readsHistory: true } },
    async (request, reply) => {
      const { ref, pair } = await knownPair(context, request.params.pairId, request, reply)
      const activity = existenceOf(pair)
      return page(
        ref.chain,
        request.query,
        (range) => history.liquidity(ref, { ...range, activity }),
        (event) => liquidityTransaction(ref.chain, event),
      )
    },
  )
}

async function knownPair(
  { view, familyOf, lookUps }: RestContext,
  id: string,
  request: Pick<FastifyRequest, 'grant'>,
  reply: Pick<FastifyReply, 'answerChains' | 'header'>,
): Promise<{ readonly ref: ChainAddress; readonly pair: Pair }> {
  const ref = parsePathId(id, 'pair', familyOf)
  reply.answerChains = [ref.chain]
  const pair = await whenKnown(lookUps, request, reply, ref, async () => {
    const [reading] = await view.pairs([ref])
    if (reading?.record === undefined) throw unknownPathId('pair')
    return reading.record
  })
  return { ref, pair }
}

async function page<T extends EventRef, Shown>(
  chain: string,
  { cursor, limit }: { cursor?: string; limit: number },
  read: (range: EventRange) => Promise<EventPage<T>>,
  show: (event: T) => Shown,
): Promise<{ txs: Shown[]; next_cursor?: string; cursor?: string }> {
  // Reads one more than the page to find out whether there is a next page.
  const before = cursor === undefined ? undefined : parseCursor(cursor)
  const { events, end } = await read({ before, limit: limit + 1 })
  const shown = events.slice(0, limit)
  const last = shown.at(-1)
  const hasMore = events.length > limit && last !== undefined
  return {
    txs: shown.map(show),
    ...(hasMore ? { next_cursor: formatCursor(last) } : {}),
    // An older page is read later: events since the first page are in neither, and its end would skip them.
    ...(cursor === undefined
      ? { cursor: formatLiveCursor(new Map([[chain, { ...end, published: 0 }]])) }
      : {}),
  }
}
