import Type from 'typebox'
import { answerOf, text } from '../schemas.ts'

/** Responses that the charting library expects, as far as we support them. */

const flag = Type.Boolean()
const integer = Type.Integer()
const numbers = Type.Optional(Type.Array(Type.Number()))
const resolutions = Type.Array(text)

export const configAnswer = answerOf(
  {
    supports_search: flag,
    supports_group_request: flag,
    supports_marks: flag,
    supports_timescale_marks: flag,
    supports_time: flag,
    supported_resolutions: resolutions,
  },
  'UdfConfig',
)

export const symbolAnswer = answerOf(
  {
    ticker: text,
    name: text,
    description: text,
    type: text,
    session: text,
    timezone: text,
    exchange: text,
    listed_exchange: text,
    minmov: integer,
    pricescale: integer,
    has_intraday: flag,
    has_seconds: flag,
    seconds_multipliers: Type.Array(text),
    has_daily: flag,
    has_weekly_and_monthly: flag,
    supported_resolutions: resolutions,
    data_status: text,
  },
  'UdfSymbol',
)

export const searchAnswer = Type.Array(
  answerOf(
    {
      symbol: text,
      full_name: text,
      description: text,
      exchange: text,
      ticker: text,
      type: text,
    },
    'UdfSearchResult',
  ),
)

/** `s` is `ok`, or `no_data` and nothing else. */
export const historyAnswer = answerOf(
  {
    s: text,
    t: Type.Optional(Type.Array(integer)),
    o: numbers,
    h: numbers,
    l: numbers,
    c: numbers,
    v: numbers,
  },
  'UdfHistory',
)
