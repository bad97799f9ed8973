import { type ClickHouseClient, createClient } from '@clickhouse/client'
import type {
  Candle,
  CandleValues,
  EventSide,
  LiquidityEvent,
  MainPairSwitch,
  Pair,
  PairSide,
  Token,
  Trade,
  Windows,
} from '../../../src/domain/change.ts'
import { isInterval } from '../../../src/domain/interval.ts'
import { PRICE_DIGITS, parseFixed, VALUE_DIGITS } from '../../../src/domain/money.ts'
import { balanceId, candleId, switchId, tradeId, type VersionedTable, type World } from '../builders/story.ts'
import type { HeldBalance } from './change-tables.ts'

type Row = Record<string, string | number | boolean | null>

/** Reads the rows of a chain from ClickHouse into records, independently of the code that writes them. */
export async function readWorld(url: string, database: string, chain: string): Promise<World> {
  const client = createClient({ url, database })
  try {
    const rows = (table: string): Promise<Row[]> => readRows(client, table, chain)
    return {
      trades: tableOf(await rows('trades'), tradeOf, tradeId),
      liquidity: tableOf(await rows('liquidity'), liquidityOf, tradeId),
      candles: tableOf(await rows('candles'), candleOf, candleId),
      pairs: tableOf(await rows('pairs'), pairOf, ({ address }) => address),
      tokens: tableOf(await rows('tokens'), tokenOf, ({ address }) => address),
      windows: tableOf(await rows('windows'), windowsOf, (_, row) => `${row['kind']}/${row['id']}`),
      switches: tableOf(await rows('switches'), switchOf, switchId),
      balances: tableOf(await rows('balances'), balanceOf, balanceId),
    }
  } finally {
    await client.close()
  }
}

async function readRows(client: ClickHouseClient, table: string, chain: string): Promise<Row[]> {
  const answer = await client.query({
    query: `SELECT * FROM ${table} FINAL WHERE chain = {chain:String}`,
    query_params: { chain },
    format: 'JSONEachRow',
    clickhouse_settings: {
      date_time_output_format: 'unix_timestamp',
      output_format_json_quote_64bit_integers: 1,
      output_format_json_quote_decimals: 1,
    },
  })
  return answer.json<Row>()
}

function tableOf<T>(
  rows: readonly Row[],
  read: (row: Row) => T,
  idOf: (record: T, row: Row) => string,
): VersionedTable<T> {
  const table: VersionedTable<T> = new Map()
  for (const row of rows) {
    const record = read(row)
    const id = idOf(record, row)
    if (table.has(id)) throw new Error(`two rows of ${id}`)
    table.set(id, { seq: Number(row['seq']), record })
  }
  return table
}

function tradeOf(row: Row): Trade {
  const holdings = holdingsOf(row)
  return {
    key: key(row, ''),
    time: Number(row['time']),
    pair: text(row, 'pair'),
    amm: text(row, 'amm'),
    transaction: text(row, 'transaction'),
    sender: text(row, 'sender'),
    recipient: text(row, 'recipient'),
    wallet: text(row, 'wallet'),
    targetToken: optionalText(row, 'target_token'),
    side: direction(row, 'side'),
    sold: sideOf(row, 'sold_token', 'sold'),
    bought: sideOf(row, 'bought_token', 'bought'),
    valueUsd: value(row, 'value_usd'),
    valueNative: value(row, 'value_native'),
    liquidityUsd: value(row, 'liquidity_usd'),
    liquidityNative: value(row, 'liquidity_native'),
    ...(holdings !== undefined && { holdings }),
  }
}

function holdingsOf(row: Row): Trade['holdings'] {
  if (row['is_token0_sold'] === null) return undefined
  const side = (name: 'sold' | 'bought') => {
    const amountRaw = optionalRaw(row, `${name}_held_raw`)
    return amountRaw === undefined ? undefined : { amountRaw, accounts: Number(row[`${name}_accounts`]) }
  }
  return {
    isToken0Sold: Boolean(row['is_token0_sold']),
    nativeRaw: optionalRaw(row, 'wallet_native_raw'),
    sold: side('sold'),
    bought: side('bought'),
  }
}

function liquidityOf(row: Row): LiquidityEvent {
  return {
    key: key(row, ''),
    time: Number(row['time']),
    pair: text(row, 'pair'),
    kind: text(row, 'kind') as LiquidityEvent['kind'],
    amm: text(row, 'amm'),
    transaction: text(row, 'transaction'),
    provider: text(row, 'provider'),
    wallet: text(row, 'wallet'),
    side0: sideOf(row, 'token0', 'token0'),
    side1: sideOf(row, 'token1', 'token1'),
    valueUsd: value(row, 'value_usd'),
    valueNative: value(row, 'value_native'),
    liquidityUsd: value(row, 'liquidity_usd'),
    liquidityNative: value(row, 'liquidity_native'),
  }
}

function sideOf(row: Row, token: string, prefix: string): EventSide {
  return {
    token: text(row, token),
    symbol: text(row, `${prefix}_symbol`),
    decimals: optionalNumber(row, `${prefix}_decimals`),
    amountRaw: BigInt(text(row, `${prefix}_amount_raw`)),
    reserveRaw: optionalRaw(row, `${prefix}_reserve_raw`),
    priceUsd: price(row, `${prefix}_price_usd`),
    priceNative: price(row, `${prefix}_price_native`),
  }
}

function windowsOf(row: Row): Windows {
  const [id, other] = [text(row, 'id'), optionalText(row, 'shared_with')]
  return {
    pair: row['kind'] === 'pair' ? id : other,
    token: row['kind'] === 'token' ? id : other,
    lengths: ['1m', '5m', '15m', '1h', '4h', '24h'].map((name) => ({
      buyUsd: value(row, `buy_usd_${name}`),
      sellUsd: value(row, `sell_usd_${name}`),
      buys: Number(row[`buys_${name}`]),
      sells: Number(row[`sells_${name}`]),
      makers: Number(row[`makers_${name}`]),
      buyers: Number(row[`buyers_${name}`]),
      sellers: Number(row[`sellers_${name}`]),
      openUsd: price(row, `open_usd_${name}`),
    })),
    amountRaw: optionalRaw(row, 'amount_raw'),
    highUsd: price(row, 'high_usd'),
    lowUsd: price(row, 'low_usd'),
    priceUsd: price(row, 'price_usd'),
    day: Number(row['day']),
    dayOpenUsd: price(row, 'day_open_usd'),
  }
}

function switchOf(row: Row): MainPairSwitch {
  return {
    token: text(row, 'token'),
    block: Number(row['block']),
    time: Number(row['time']),
    oldPair: text(row, 'old_pair'),
    newPair: text(row, 'new_pair'),
    reason: text(row, 'reason') as MainPairSwitch['reason'],
  }
}

function candleOf(row: Row): Candle {
  const interval = text(row, 'interval')
  if (!isInterval(interval)) throw new Error(`not an interval: ${interval}`)
  const values = (unit: string): CandleValues | undefined => {
    const [open, high, low, close] = ['open', 'high', 'low', 'close'].map((name) =>
      price(row, `${unit}_${name}`),
    )
    const volume = value(row, `${unit}_volume`)
    if (open === undefined || high === undefined || low === undefined) return undefined
    if (close === undefined) return undefined
    return { open, high, low, close, volume }
  }
  return {
    pair: text(row, 'pair'),
    interval,
    start: Number(row['start']),
    usd: values('usd'),
    native: values('native'),
    quote: values(row['quote_as'] === null ? 'quote' : text(row, 'quote_as')),
    tradeCount: Number(row['trade_count']),
    firstTrade: key(row, 'first_'),
    lastTrade: key(row, 'last_'),
  }
}

function pairOf(row: Row): Pair {
  const side = (prefix: string): PairSide => ({
    token: text(row, prefix),
    symbol: text(row, `${prefix}_symbol`),
    decimals: optionalNumber(row, `${prefix}_decimals`),
    reserveRaw: optionalRaw(row, `${prefix}_reserve_raw`),
    initialReserveRaw: optionalRaw(row, `${prefix}_initial_reserve_raw`),
    priceUsd: price(row, `${prefix}_price_usd`),
    priceNative: price(row, `${prefix}_price_native`),
  })
  return {
    address: text(row, 'address'),
    amm: text(row, 'amm'),
    token0: side('token0'),
    token1: side('token1'),
    targetToken: optionalText(row, 'target_token'),
    isMain: row['is_main'] === true,
    tvlUsd: value(row, 'tvl_usd'),
    tvlNative: value(row, 'tvl_native'),
    fdvUsd: value(row, 'fdv_usd'),
    createdAt: optionalNumber(row, 'created_at'),
    updatedAt: Number(row['updated_at']),
    firstTradeAt: optionalNumber(row, 'first_trade_at'),
    lastTradeAt: optionalNumber(row, 'last_trade_at'),
    lastTradePriceUsd: price(row, 'last_trade_price_usd'),
    lastSide: direction(row, 'last_side'),
    athPriceUsd: price(row, 'ath_price_usd'),
  }
}

function tokenOf(row: Row): Token {
  return {
    address: text(row, 'address'),
    name: text(row, 'name'),
    symbol: text(row, 'symbol'),
    decimals: optionalNumber(row, 'decimals'),
    supplyRaw: optionalRaw(row, 'supply_raw'),
    priceUsd: price(row, 'price_usd'),
    priceNative: price(row, 'price_native'),
    mainPair: optionalText(row, 'main_pair'),
    mainPairTvlUsd: value(row, 'main_pair_tvl_usd'),
    tvlUsd: value(row, 'tvl_usd'),
    fdvUsd: value(row, 'fdv_usd'),
    marketCapUsd: value(row, 'market_cap_usd'),
    holding:
      row['burned_raw'] === null
        ? undefined
        : {
            holders: optionalNumber(row, 'holders'),
            burnedRaw: BigInt(text(row, 'burned_raw')),
            lockedRaw: BigInt(text(row, 'locked_raw')),
            circulatingRaw: optionalRaw(row, 'circulating_raw'),
          },
    origin:
      row['created_at'] === null
        ? undefined
        : { time: Number(row['created_at']), creator: text(row, 'creator') },
    launch:
      row['launched_at'] === null
        ? undefined
        : { time: Number(row['launched_at']), priceUsd: price(row, 'launch_price_usd') },
    platform:
      row['platform'] === null
        ? undefined
        : {
            name: text(row, 'platform'),
            createdAt: optionalNumber(row, 'platform_created_at'),
            progressPpm: optionalNumber(row, 'platform_progress_ppm'),
            graduatedAt: optionalNumber(row, 'platform_graduated_at'),
          },
    risk:
      row['risk_score'] === null
        ? undefined
        : {
            score: Number(row['risk_score']),
            isHoneypot: (row['is_honeypot'] as boolean | null) ?? undefined,
            isMintable: row['is_mintable'] === true,
          },
    updatedAt: Number(row['updated_at']),
  }
}

function balanceOf(row: Row): HeldBalance {
  return {
    token: text(row, 'token'),
    holder: text(row, 'holder'),
    amountRaw: BigInt(text(row, 'amount_raw')),
  }
}

function key(row: Row, prefix: string): Trade['key'] {
  return {
    block: Number(row[`${prefix}block`]),
    tx: Number(row[`${prefix}tx`]),
    log: Number(row[`${prefix}log`]),
  }
}

function price(row: Row, column: string): bigint | undefined {
  return fixed(row, column, PRICE_DIGITS)
}

function value(row: Row, column: string): bigint | undefined {
  return fixed(row, column, VALUE_DIGITS)
}

function fixed(row: Row, column: string, digits: number): bigint | undefined {
  const known = optionalText(row, column)
  if (known === undefined) return undefined
  const parsed = parseFixed(known, digits)
  if (parsed === undefined) throw new Error(`${column} is not a decimal: ${known}`)
  return parsed
}

function direction(row: Row, column: string): Trade['side'] {
  return optionalText(row, column) as Trade['side']
}

function optionalRaw(row: Row, column: string): bigint | undefined {
  const known = optionalText(row, column)
  return known === undefined ? undefined : BigInt(known)
}

function optionalNumber(row: Row, column: string): number | undefined {
  return row[column] === null ? undefined : Number(row[column])
}

function optionalText(row: Row, column: string): string | undefined {
  return row[column] === null ? undefined : text(row, column)
}

function text(row: Row, column: string): string {
  const found = row[column]
  if (typeof found !== 'string') throw new Error(`${column} is ${found}, not text`)
  return found
}
