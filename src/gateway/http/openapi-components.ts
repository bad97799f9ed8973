/** The tags of operations, in the order that documentation lists them. */
export const TAGS = [
  { name: 'Tokens', description: 'Prices, search, rankings, holders and contract risk' },
  { name: 'Pairs', description: 'Pools and bonding curves' },
  { name: 'Candles', description: 'Open, high, low, close and volume by interval' },
  { name: 'Transactions', description: 'Swaps and liquidity transactions' },
  { name: 'UDF', description: "Datafeed for TradingView's charting library" },
  { name: 'Service', description: 'Chains, usage and status' },
]

export const PROBLEM_SCHEMA = {
  type: 'object',
  title: 'Problem',
  description: 'RFC 9457 problem details',
  required: ['type', 'title', 'status', 'detail', 'instance', 'code'],
  properties: {
    type: { type: 'string', format: 'uri' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    instance: { type: 'string', description: 'Request ID' },
    code: { type: 'string', description: 'Stable machine code: see docs/errors.md' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        title: 'ProblemItem',
        required: ['pointer', 'detail'],
        properties: { pointer: { type: 'string' }, detail: { type: 'string' } },
      },
    },
  },
}

/** Failures that every operation may return. */
export const REFUSALS = {
  400: {
    name: 'BadRequest',
    description:
      'Malformed request, unknown id, or limit exceeded; an unknown id with `Retry-After` is being looked up',
  },
  401: { name: 'Unauthorized', description: 'API key missing or invalid' },
  403: { name: 'Forbidden', description: 'API key expired or revoked' },
  429: {
    name: 'TooManyRequests',
    description:
      'Rate limit, concurrent history requests or credit units exhausted; retry after `Retry-After` seconds',
  },
  500: { name: 'ServerError', description: 'Server error; retry after `Retry-After` seconds' },
  503: { name: 'ChainUnavailable', description: 'Chain unavailable; retry after `Retry-After` seconds' },
} as const

export type Node = { readonly [key: string]: unknown }

/** Moves every schema with a title into `schemas`, so that generated clients have named types. */
export function nameSchemas(node: unknown, schemas: Map<string, Node>): unknown {
  if (Array.isArray(node)) return node.map((item) => nameSchemas(item, schemas))
  if (!isNode(node)) return node
  const entries = Object.entries(node).map(
    ([key, value]) => [key, key === 'example' ? value : nameSchemas(value, schemas)] as const,
  )
  const { title, ...schema } = Object.fromEntries(entries) as Node
  if (typeof title !== 'string') return schema
  const known = schemas.get(title)
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema))
    throw new Error(`two schemas are named ${title}`)
  schemas.set(title, schema)
  return { $ref: `#/components/schemas/${title}` }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null
}
