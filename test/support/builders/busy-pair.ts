import type { ClickHouseClient } from '@clickhouse/client'

export const BUSY_PAIR = `0x${'12'.repeat(20)}`
/** The first second of a month. */
export const FIRST_TIME = Date.UTC(2024, 0, 1) / 1_000
const MONTH_SECONDS = 29 * 86_400

export type BusyPair = {
  readonly rows: number
  /** Rows are spread over so many monthly partitions. */
  readonly months: number
  /** Each partition gets so many parts, which interleave: a page has rows of all of them. */
  readonly parts: number
  /** Every n-th row is removed, or has a second version, in a part of its own. */
  readonly removedEvery?: number
  readonly changedEvery?: number
}

/** When the row of this index happened. */
export function timeOf({ rows, months }: BusyPair, index: number): number {
  const perMonth = Math.ceil(rows / months)
  const month = Math.floor(index / perMonth)
  const start = Date.UTC(2024, month, 1) / 1_000
  return start + Math.floor(((index % perMonth) * MONTH_SECONDS) / perMonth)
}

const TIME = `toDateTime(
  toUnixTimestamp(addMonths(toDateTime({first:UInt32}, 'UTC'), intDiv(n, {per_month:UInt64})))
  + intDiv((n % {per_month:UInt64}) * ${MONTH_SECONDS}, {per_month:UInt64}), 'UTC')`

const hexOf = (salt: number, letters: number): string =>
  `concat('0x', substring(lower(concat(hex(sipHash128(n, ${salt})), hex(sipHash128(n, ${salt + 100})))), 1, ${letters}))`

const TRADES = `
  INSERT INTO trades (chain, pair, time, block, tx, log, seq, is_deleted, amm, transaction, sender, recipient, wallet,
    target_token, side, sold_token, sold_symbol, sold_decimals, sold_amount_raw, bought_token, bought_symbol,
    bought_decimals, bought_amount_raw, sold_price_usd, bought_price_usd, value_usd)
  SELECT 'eth', {pair:String}, ${TIME}, 18000000 + n, 3, 7, {seq:UInt64} + n, {is_deleted:UInt8}, 'uniswap_v3',
    ${hexOf(1, 64)}, ${hexOf(2, 40)}, ${hexOf(3, 40)}, ${hexOf(4, 40)},
    '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2', if(n % 2 = 0, 'buy', 'sell'),
    '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48', 'USDC', 6, toUInt256(n) * 1000003,
    '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2', 'WETH', 18, toUInt256(n) * 1000000000003, 1, 3000, n % 100000`

const LIQUIDITY = `
  INSERT INTO liquidity (chain, pair, time, block, tx, log, seq, is_deleted, kind, amm, transaction, provider, wallet,
    token0, token0_symbol, token0_decimals, token0_amount_raw, token1, token1_symbol, token1_decimals,
    token1_amount_raw, value_usd)
  SELECT 'eth', {pair:String}, ${TIME}, 18000000 + n, 3, 7, {seq:UInt64} + n, {is_deleted:UInt8}, 'addLiquidity',
    'uniswap_v3', ${hexOf(1, 64)}, ${hexOf(2, 40)}, ${hexOf(3, 40)},
    '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48', 'USDC', 6, toUInt256(n) * 1000003,
    '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2', 'WETH', 18, toUInt256(n) * 1000000000003, n % 100000`

const CANDLES = `
  INSERT INTO candles (chain, pair, interval, start, seq, is_deleted, usd_open, usd_high, usd_low, usd_close,
    usd_volume, trade_count, first_block, first_tx, first_log, last_block, last_tx, last_log)
  SELECT 'eth', {pair:String}, 's1', ${TIME}, {seq:UInt64} + n, {is_deleted:UInt8}, 3000 + n % 10, 3010, 2990,
    3000 + n % 7, n % 100000, 5, 18000000 + n, 0, 0, 18000000 + n, 3, 7`

const INSERTS = { trades: TRADES, liquidity: LIQUIDITY, candles: CANDLES } as const

/** So that an insert makes one part of each partition. */
const ONE_PART = {
  max_threads: 1,
  max_block_size: '1000000',
  max_insert_block_size: '1000000',
  min_insert_block_size_rows: '1000000',
  min_insert_block_size_bytes: '0',
  throw_on_max_partitions_per_insert_block: 0,
} as const

/** Fills a table with the rows of one pair; merges stay stopped where several parts are wanted. */
export async function fillBusyPair(
  client: ClickHouseClient,
  table: keyof typeof INSERTS,
  busy: BusyPair,
): Promise<void> {
  const { rows, months, parts, removedEvery, changedEvery } = busy
  const insert = (numbers: string, seq: number, isDeleted: number): Promise<unknown> =>
    client.command({
      query: `${INSERTS[table]} FROM (SELECT ${numbers})`,
      query_params: {
        ...{ pair: BUSY_PAIR, first: FIRST_TIME, per_month: Math.ceil(rows / months) },
        ...{ seq, is_deleted: isDeleted },
      },
      clickhouse_settings: ONE_PART,
    })
  if (parts > 1) await client.command({ query: `SYSTEM STOP MERGES ${table}` })
  // A single part is merged from several inserts, since one of all rows needs much memory.
  const inserts = Math.max(parts, Math.ceil(rows / 500_000))
  for (let part = 0; part < inserts; part++) {
    const count = Math.ceil((rows - part) / inserts)
    await insert(`number * ${inserts} + ${part} AS n FROM numbers(${count})`, 1, 0)
  }
  for (const [every, isDeleted] of [
    [removedEvery, 1],
    [changedEvery, 0],
  ] as const) {
    if (every === undefined) continue
    await insert(`number * ${every} AS n FROM numbers(${Math.ceil(rows / every)})`, 1 + rows, isDeleted)
  }
  if (parts === 1) await client.command({ query: `OPTIMIZE TABLE ${table} FINAL` })
}
