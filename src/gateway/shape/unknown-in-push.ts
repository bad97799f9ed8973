/** Text that may be empty although it is known: a token's symbol, or an address where the protocol names none. */
const MAY_BE_EMPTY: ReadonlySet<string> = new Set([
  ...[
    'amm',
    'chain',
    'direction',
    'from_symbol',
    'to_symbol',
    'token0_symbol',
    'token1_symbol',
    'target_token',
  ],
  ...['sender', 'to', 'wallet_address', 'transaction', 'swap'],
])

type Fields = Readonly<Record<string, unknown>>

/** The `result` of a push, with the names of its unknown fields beside them: for subscribers that sent options. */
export function withUnknown(result: object): object {
  const { tx, liq, prices, kline } = result as {
    readonly tx?: Fields
    readonly liq?: Fields
    readonly prices?: readonly Fields[]
    readonly kline?: Readonly<Record<string, Fields>>
  }
  if (tx !== undefined) return { ...result, tx: named(tx) }
  if (liq !== undefined) return { ...result, liq: named(liq) }
  if (prices !== undefined) return { ...result, prices: prices.map(named) }
  if (kline === undefined) return result
  const units = Object.entries(kline).map(([unit, fields]) => [unit, named(fields)])
  return { ...result, kline: Object.fromEntries(units) }
}

/** The interface document requires these fields, so an unknown one is empty. */
function named(fields: Fields): Fields {
  const unknown = Object.keys(fields).filter((name) => fields[name] === '' && !MAY_BE_EMPTY.has(name))
  return { ...fields, unknown }
}
