import Type, { type Static } from 'typebox'
import type { Pair } from '../../../domain/change.ts'
import type { ChainAddress } from '../../../domain/ids.ts'
import { INTERVALS } from '../../../domain/interval.ts'
import type { AnswerHeaders } from '../../http/answer-headers.ts'
import { RequestError } from '../../http/problem.ts'
import type { Scope } from '../../http/scope.ts'
import { tradingOf } from '../../market/activity.ts'
import { filledRows, KLINE_UNITS, type KlineRow, klineRows } from '../../shape/kline-rows.ts'
import { formatCursor } from '../../ws/cursor.ts'
import type { RestContext } from '../context.ts'
import { parsePathId, unknownPathId } from '../path-id.ts'
import { answerOf, integer, limitOf, maybeInteger, oneOf, text } from '../schemas.ts'
import { whenKnown } from '../when-known.ts'

const MAX_TIME = 2 ** 32 - 1

const querystring = Type.Object(
  {
    interval: oneOf(INTERVALS, 'k1'),
    from: Type.Integer({ minimum: 0, maximum: MAX_TIME, default: 0 }),
    to: Type.Integer({ minimum: 0, maximum: MAX_TIME, default: MAX_TIME }),
    limit: limitOf(300, 1_000),
    unit: oneOf(KLINE_UNITS, 'usd'),
    fill: oneOf(['true', 'false'], 'false'),
  },
  { additionalProperties: false, required: [] },
)

const answer = Type.Array(
  answerOf(
    {
      time: integer,
      open: text,
      high: text,
      low: text,
      close: text,
      volume: text,
      count: integer,
      revision: maybeInteger,
    },
    'Candle',
  ),
)

const DESCRIPTION = `The latest candles that start between from and to (Unix seconds), oldest first. fill=true adds empty candles at the
last close for intervals without trades, from the first trade on. revision grows when a candle changes. unit=quote returns prices
and volume in the pair's quote token, even if that token has no price. X-Cursor is where these candles end: a WebSocket
subscription to the same series with {"from": cursor} continues from there without a gap or a duplicate.`

/** `GET /v2/klines/pair/{pair-id}` and `GET /v2/klines/token/{token-id}`: of a token, its main pair's. */
export function addKlines(scope: Scope, context: RestContext): void {
  const { view, familyOf, lookUps } = context
  const common = { description: DESCRIPTION, tags: ['Candles'], querystring, response: { 200: answer } }
  const pairSchema = {
    ...common,
    operationId: 'pairKlines',
    summary: 'Candles of a pair',
    params: Type.Object({ pairId: text }),
  }
  scope.get(
    '/v2/klines/pair/:pairId',
    { schema: pairSchema, config: { cu: 10, readsHistory: true } },
    async (request, reply) => {
      const ref = parsePathId(request.params.pairId, 'pair', familyOf)
      reply.answerChains = [ref.chain]
      const pair = await whenKnown(lookUps, request, reply, ref, async () => {
        const [reading] = await view.pairs([ref])
        if (reading?.record === undefined) throw unknownPathId('pair')
        return reading.record
      })
      return readKlines(context, ref, request.query, pair, reply)
    },
  )
  const tokenSchema = {
    ...common,
    operationId: 'tokenKlines',
    summary: "Candles of a token's main pair",
    params: Type.Object({ tokenId: text }),
  }
  scope.get(
    '/v2/klines/token/:tokenId',
    { schema: tokenSchema, config: { cu: 10, readsHistory: true } },
    async (request, reply) => {
      const ref = parsePathId(request.params.tokenId, 'token', familyOf)
      reply.answerChains = [ref.chain]
      const { mainPair } = await whenKnown(lookUps, request, reply, ref, async () => {
        const [reading] = await view.tokens([ref])
        if (reading?.record === undefined) throw unknownPathId('token')
        return reading.record
      })
      if (mainPair === undefined) return []
      const pair = { chain: ref.chain, address: mainPair }
      const [pairReading] = await view.pairs([pair])
      // The candles of a pair are of its target: a quote asset that is no pair's target has none.
      if (pairReading?.record?.targetToken !== ref.address) return []
      return readKlines(context, pair, request.query, pairReading.record, reply)
    },
  )
}

async function readKlines(
  { history, view }: RestContext,
  { chain, address }: ChainAddress,
  { interval, from, to, limit, unit, fill }: Static<typeof querystring>,
  pair: Pair | undefined,
  reply: AnswerHeaders,
): Promise<KlineRow[]> {
  if (from > to) {
    throw new RequestError('malformed_request', 'from must not be after to', [
      { pointer: '#/from', detail: 'must not be after to' },
    ])
  }
  const series = { chain, pair: address, interval }
  const activity = pair && tradingOf(pair)
  const { candles, end } = await history.candles(series, { from, to, limit, activity })
  reply.header('X-Cursor', formatCursor(new Map([[chain, { ...end, published: 0 }]])))
  const rows = klineRows(candles, unit)
  if (fill === 'false') return rows
  // Intervals without trades at the beginning repeat the close of the last candle before them.
  const isCut = rows.length === limit || from === 0
  const earlier = { from: 0, to: from - 1, limit: 1, activity }
  const before = isCut ? [] : (await history.candles(series, earlier)).candles
  const until = Math.min(to, view.head(chain)?.time ?? 0)
  const filled = filledRows([...klineRows(before, unit), ...rows], interval, until, limit)
  return filled.filter(({ time }) => time >= from)
}
