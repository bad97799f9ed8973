import Type from 'typebox'
import type { Pair } from '../../../domain/change.ts'
import { type ChainAddress, formatChainAddress, parseChainAddress } from '../../../domain/ids.ts'
import type { Interval } from '../../../domain/interval.ts'
import type { Scope } from '../../http/scope.ts'
import { tradingOf } from '../../market/activity.ts'
import { klineRows } from '../../shape/kline-rows.ts'
import type { RestContext } from '../context.ts'
import { parsePathId, unknownPathId } from '../path-id.ts'
import { noQuery, text } from '../schemas.ts'
import { configAnswer, historyAnswer, searchAnswer, symbolAnswer } from './schemas.ts'

/** Names of our intervals in the charting library. */
const RESOLUTIONS: Readonly<Record<string, Interval>> = {
  '1S': 's1',
  '1': 'k1',
  '5': 'k5',
  '15': 'k15',
  '30': 'k30',
  '60': 'k60',
  '120': 'k120',
  '240': 'k240',
  '1D': 'k1440',
  D: 'k1440',
  '1W': 'k10080',
  W: 'k10080',
}
const OFFERED = ['1S', '1', '5', '15', '30', '60', '120', '240', '1D', '1W']
const MAX_TIME = 2 ** 32 - 1
const MAX_BARS = 1_000
/** So that prices from 1e-10 up can be drawn: a price scale is the library's to choose finer. */
const PRICE_SCALE = 10 ** 10

const time = Type.Integer({ minimum: 0, maximum: MAX_TIME })
const tags = ['UDF']

/** The datafeed protocol that TradingView's charting library speaks; a symbol is a pair-id. */
export function addUdf(scope: Scope, context: RestContext): void {
  const { view, history, familyOf, chains } = context

  const configSchema = {
    operationId: 'udfConfig',
    summary: 'Capabilities of the datafeed',
    tags,
    querystring: noQuery,
    response: { 200: configAnswer },
  }
  scope.get('/udf/config', { schema: configSchema }, async () => ({
    supports_search: true,
    supports_group_request: false,
    supports_marks: false,
    supports_timescale_marks: false,
    supports_time: true,
    supported_resolutions: OFFERED,
  }))

  const timeSchema = {
    operationId: 'udfTime',
    summary: 'Server time',
    tags,
    querystring: noQuery,
  }
  scope.get('/udf/time', { schema: timeSchema }, async (_request, reply) =>
    reply.type('text/plain').send(String(Math.floor(Date.now() / 1_000))),
  )

  const symbolQuery = Type.Object({ symbol: text }, { additionalProperties: false })
  const symbolSchema = {
    operationId: 'udfSymbols',
    summary: 'A pair as a symbol',
    tags,
    querystring: symbolQuery,
    response: { 200: symbolAnswer },
  }
  scope.get('/udf/symbols', { schema: symbolSchema, config: { cu: 5 } }, async (request, reply) => {
    const ref = parsePathId(request.query.symbol, 'pair', familyOf, 'symbol')
    reply.answerChains = [ref.chain]
    const [reading] = await view.pairs([ref])
    if (reading?.record === undefined) throw unknownPathId('pair', 'symbol')
    return symbolInfo(ref, reading.record)
  })

  const searchSchema = {
    operationId: 'udfSearch',
    summary: 'Pairs of a token, or the pair itself',
    tags,
    querystring: Type.Object(
      {
        query: text,
        type: Type.Optional(text),
        exchange: Type.Optional(text),
        limit: Type.Integer({ minimum: 1, maximum: 30, default: 10 }),
      },
      { additionalProperties: false, required: ['query'] },
    ),
    response: { 200: searchAnswer },
  }
  scope.get('/udf/search', { schema: searchSchema, config: { cu: 5 } }, async (request, reply) => {
    const { limit } = request.query
    const query = withoutCapitals(request.query.query)
    reply.answerChains = chains.map(({ chain }) => chain)
    const found: { ref: ChainAddress; pair: Pair }[] = []
    const asPair = parseChainAddress(query, 'pair', familyOf)
    const asToken = parseChainAddress(query, 'token', familyOf)
    if (typeof asPair !== 'string') {
      const [reading] = await view.pairs([asPair])
      if (reading?.record !== undefined) found.push({ ref: asPair, pair: reading.record })
    }
    if (typeof asToken !== 'string') {
      for (const { pair } of await view.topPairs(asToken, limit)) {
        found.push({ ref: { chain: asToken.chain, address: pair.address }, pair })
      }
    }
    return found.slice(0, limit).map(({ ref, pair }) => {
      const { ticker, name, description, exchange, type } = symbolInfo(ref, pair)
      return { symbol: ticker, full_name: name, description, exchange, ticker, type }
    })
  })

  const historySchema = {
    operationId: 'udfHistory',
    summary: 'Bars of a pair, in dollars',
    tags,
    querystring: Type.Object(
      {
        symbol: text,
        resolution: Type.Enum(Object.keys(RESOLUTIONS), { type: 'string' }),
        from: time,
        to: time,
        countback: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_TIME })),
        currencyCode: Type.Optional(text),
      },
      { additionalProperties: false },
    ),
    response: { 200: historyAnswer },
  }
  scope.get(
    '/udf/history',
    { schema: historySchema, config: { cu: 10, readsHistory: true } },
    async (request, reply) => {
      const { symbol, resolution, from, to, countback } = request.query
      const ref = parsePathId(symbol, 'pair', familyOf, 'symbol')
      reply.answerChains = [ref.chain]
      const [reading] = await view.pairs([ref])
      if (reading?.record === undefined) throw unknownPathId('pair', 'symbol')
      const series = { chain: ref.chain, pair: ref.address, interval: RESOLUTIONS[resolution] as Interval }
      // `countback` bars are wanted even if they begin before `from`; `to` itself is not included.
      const range = {
        from: countback === undefined ? from : 0,
        to: to - 1,
        limit: Math.min(countback ?? MAX_BARS, MAX_BARS),
        activity: tradingOf(reading.record),
      }
      const rows = to === 0 ? [] : klineRows((await history.candles(series, range)).candles, 'usd')
      if (rows.length === 0) return { s: 'no_data' }
      return {
        s: 'ok',
        t: rows.map((row) => row.time),
        o: rows.map((row) => Number(row.open)),
        h: rows.map((row) => Number(row.high)),
        l: rows.map((row) => Number(row.low)),
        c: rows.map((row) => Number(row.close)),
        v: rows.map((row) => Number(row.volume)),
      }
    },
  )
}

function symbolInfo({ chain, address }: ChainAddress, { token0, token1, targetToken, amm }: Pair) {
  const [base, quote] = targetToken === token1.token ? [token1, token0] : [token0, token1]
  const ticker = formatChainAddress(address, chain)
  return {
    ticker,
    name: `${base.symbol}/${quote.symbol}`,
    description: `${base.symbol}/${quote.symbol} on ${amm}, ${chain}`,
    type: 'crypto',
    session: '24x7',
    timezone: 'Etc/UTC',
    exchange: amm,
    listed_exchange: amm,
    minmov: 1,
    pricescale: PRICE_SCALE,
    has_intraday: true,
    has_seconds: true,
    seconds_multipliers: ['1'],
    has_daily: true,
    has_weekly_and_monthly: true,
    supported_resolutions: OFFERED,
    data_status: 'streaming',
  }
}

/** TradingView's adapter sends what the user typed in capitals, which an id of an EVM chain does not need. */
function withoutCapitals(query: string): string {
  return /^0x/i.test(query) ? query.toLowerCase() : query
}
