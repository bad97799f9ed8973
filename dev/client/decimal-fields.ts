import type { AsyncApi, OpenApi, Schema } from './describe-gateway.ts'

/** Fields that are text, not a number as text. */
const TEXTS: ReadonlySet<string> = new Set([
  ...['address', 'amm', 'chain', 'code', 'creator_address', 'cursor', 'day', 'detail', 'direction', 'event'],
  ...[
    'family',
    'from_address',
    'from_symbol',
    'holder',
    'id',
    'instance',
    'interval',
    'issue_platform',
    'item',
  ],
  ...[
    'log',
    'logo_url',
    'main_pair',
    'mark',
    'message',
    'month',
    'msg',
    'name',
    'new_main_pair',
    'next_cursor',
    'old_main_pair',
  ],
  ...[
    'operation',
    'owner',
    'pair',
    'pair_address',
    'plan',
    'pointer',
    'profile',
    'reason',
    'role',
    'sender',
    'state',
  ],
  ...['swap', 'symbol', 'tag', 'target_token', 'title', 'to', 'to_address', 'to_symbol', 'token'],
  ...['token0_address', 'token0_symbol', 'token1_address', 'token1_symbol', 'token_id', 'token_name'],
  ...['token_symbol', 'transaction', 'tx_seq', 'type', 'wallet_address'],
])

/** A number as text: its name says what it measures. */
const DECIMAL =
  /(^|_)(price|amount|volume|tvl|fdv|reserve|tax|percent|change|liquidity|makers|count)(\d|_|$)|^(open|high|low|close|high_u|low_u|high_24h|low_24h|market_cap|total|quantity|uprice|platform_progress)$/

/**
 * The names of all decimal fields of responses and pushes, for the adapter of the client. A new field of text has to be
 * listed above unless its name is that of a number: an adapter that parsed a name as a number would destroy it.
 */
export function decimalFields(openApi: OpenApi, asyncApi: AsyncApi): string[] {
  const names = new Set<string>()
  // The datafeed has the form that TradingView's library requires: numbers are numbers there.
  for (const [name, schema] of Object.entries(openApi.components.schemas))
    if (!name.startsWith('Udf')) collect(schema, names)
  for (const { payload } of Object.values(asyncApi.components.messages))
    collect(payload.properties?.['result'], names)
  const decimals = [...names].filter((name) => !TEXTS.has(name)).sort()
  const unclear = decimals.filter((name) => !DECIMAL.test(name))
  if (unclear.length > 0)
    throw new Error(`text or decimal? list them in dev/client/decimal-fields.ts: ${unclear.join(', ')}`)
  return decimals
}

function collect(schema: Schema | undefined, names: Set<string>): void {
  for (const [name, member] of Object.entries(schema?.properties ?? {})) {
    if (member.type === 'string') names.add(name)
    collect(member, names)
    if (member.items) collect(member.items, names)
  }
}
