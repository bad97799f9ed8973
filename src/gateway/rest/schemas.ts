import Type, { type TSchema } from 'typebox'
import { type WindowKind, windowFieldTypes } from '../shape/window-fields.ts'

/** Parts of response schemas. Fields of the interface document are always present, ours only if known. */
export const text = Type.String()
export const integer = Type.Integer()
export const maybeText = Type.Optional(Type.String())
export const maybeInteger = Type.Optional(Type.Integer())

/** The names of the fields of an answer that are not known; a title would make it a schema of its own for each use. */
export const unknownFields = Type.Array(Type.String(), {
  description:
    'Names of the unknown fields: the omitted ones, and those that are `""` or 0 because the interface requires them. Empty if all fields are known.',
})

/** An object with these fields and no other; a title makes it a named schema of the OpenAPI document. */
export function answerOf<T extends Record<string, TSchema>>(fields: T, title?: string) {
  return Type.Object(fields, { additionalProperties: false, ...(title === undefined ? {} : { title }) })
}

/** The query of an operation that takes none: what is not asked for is refused rather than overlooked. */
export const noQuery = Type.Object({}, { additionalProperties: false })

/** One of these words, the first unless said otherwise. */
export function oneOf<const T extends readonly string[]>(words: T, fallback: T[number]) {
  return Type.Enum([...words] as T[number][], { type: 'string', default: fallback })
}

/** An integer of the query, with the interface's own limits. */
export function limitOf(fallback: number, maximum: number) {
  return Type.Integer({ minimum: 1, maximum, default: fallback })
}

export function windowsSchema(kind: WindowKind): Record<string, TSchema> {
  return Object.fromEntries(
    windowFieldTypes(kind).map(({ name, isCount }) => [name, isCount ? maybeInteger : maybeText]),
  )
}

const rowFields = {
  token: text,
  chain: text,
  name: text,
  symbol: text,
  decimal: maybeInteger,
  total: maybeText,
  current_price_usd: maybeText,
  current_price_eth: maybeText,
  price_change_1d: maybeText,
  price_change_24h: maybeText,
  market_cap: maybeText,
  fdv: maybeText,
  tvl: maybeText,
  main_pair: maybeText,
  main_pair_tvl: maybeText,
  tx_volume_u_24h: maybeText,
  tx_amount_24h: maybeText,
  tx_count_24h: maybeInteger,
  holders: maybeInteger,
  launch_at: maybeInteger,
  created_at: maybeInteger,
  updated_at: integer,
  launch_price: maybeText,
  burn_amount: maybeText,
  lock_amount: maybeText,
  logo_url: maybeText,
  issue_platform: maybeText,
  platform_progress: maybeText,
  risk_score: maybeInteger,
  is_honeypot: integer,
  is_mintable: maybeInteger,
  unknown: unknownFields,
}

export const tokenRowSchema = answerOf({ ...rowFields, ...windowsSchema('token') }, 'TokenRow')

export const mainTokenRowSchema = answerOf(
  {
    ...rowFields,
    current_price_usd: text,
    market_cap: text,
    holders: integer,
    logo_url: text,
    ...windowsSchema('token'),
  },
  'MainTokenRow',
)
