import type {
  Candle,
  CandleRef,
  Pair,
  PairSide,
  Token,
  Trade,
  TradeRef,
  TradeSide,
} from '../../domain/change.ts'
import { ChaintapeError } from '../../domain/errors.ts'
import { formatPrice, formatValue, type Price, type Value } from '../../domain/money.ts'

/** As it stands in JSON. Large integers and decimals are text: a JSON number would lose digits. */
export type Cell = string | number | boolean | null

export type Column<T> = readonly [name: string, cell: (record: T) => Cell]

/** What of a record goes into which column. Chain, seq and is_deleted are in every table and not listed. */
export type Table<Key, Full extends Key> = {
  readonly name: TableName
  readonly key: readonly Column<Key>[]
  readonly rest: readonly Column<Full>[]
}

export type TableName = 'trades' | 'candles' | 'pairs' | 'tokens'

const MAX_TIME = 2 ** 32 - 1
const MAX_RAW = 2n ** 256n - 1n

export const tradesTable: Table<TradeRef, Trade> = {
  name: 'trades',
  key: [
    ['pair', (trade) => trade.pair],
    ['time', (trade) => time(trade.time)],
    ['block', (trade) => trade.key.block],
    ['tx', (trade) => trade.key.tx],
    ['log', (trade) => trade.key.log],
  ],
  rest: [
    ['amm', (trade) => trade.amm],
    ['transaction', (trade) => trade.transaction],
    ['sender', (trade) => trade.sender],
    ['recipient', (trade) => trade.recipient],
    ['wallet', (trade) => trade.wallet],
    ['target_token', (trade) => trade.targetToken ?? null],
    ['side', (trade) => trade.side ?? null],
    ...tradeSide('sold', (trade) => trade.sold),
    ...tradeSide('bought', (trade) => trade.bought),
    ['value_usd', (trade) => value(trade.valueUsd)],
    ['value_native', (trade) => value(trade.valueNative)],
    ['liquidity_usd', (trade) => value(trade.liquidityUsd)],
    ['liquidity_native', (trade) => value(trade.liquidityNative)],
  ],
}

export const candlesTable: Table<CandleRef, Candle> = {
  name: 'candles',
  key: [
    ['pair', (candle) => candle.pair],
    ['interval', (candle) => candle.interval],
    ['start', (candle) => time(candle.start)],
  ],
  rest: [
    ...candleValues('usd'),
    ...candleValues('native'),
    ['trade_count', (candle) => candle.tradeCount],
    ['first_block', (candle) => candle.firstTrade.block],
    ['first_tx', (candle) => candle.firstTrade.tx],
    ['first_log', (candle) => candle.firstTrade.log],
    ['last_block', (candle) => candle.lastTrade.block],
    ['last_tx', (candle) => candle.lastTrade.tx],
    ['last_log', (candle) => candle.lastTrade.log],
  ],
}

export const pairsTable: Table<Pick<Pair, 'address'>, Pair> = {
  name: 'pairs',
  key: [['address', (pair) => pair.address]],
  rest: [
    ['amm', (pair) => pair.amm],
    ...pairSide('token0'),
    ...pairSide('token1'),
    ['target_token', (pair) => pair.targetToken ?? null],
    ['is_main', (pair) => pair.isMain],
    ['tvl_usd', (pair) => value(pair.tvlUsd)],
    ['tvl_native', (pair) => value(pair.tvlNative)],
    ['fdv_usd', (pair) => value(pair.fdvUsd)],
    ['created_at', (pair) => optionalTime(pair.createdAt)],
    ['updated_at', (pair) => time(pair.updatedAt)],
    ['first_trade_at', (pair) => optionalTime(pair.firstTradeAt)],
    ['last_trade_at', (pair) => optionalTime(pair.lastTradeAt)],
    ['last_trade_price_usd', (pair) => price(pair.lastTradePriceUsd)],
    ['last_side', (pair) => pair.lastSide ?? null],
    ['ath_price_usd', (pair) => price(pair.athPriceUsd)],
  ],
}

export const tokensTable: Table<Pick<Token, 'address'>, Token> = {
  name: 'tokens',
  key: [['address', (token) => token.address]],
  rest: [
    ['name', (token) => text(token.name)],
    ['symbol', (token) => text(token.symbol)],
    ['decimals', (token) => token.decimals ?? null],
    ['supply_raw', (token) => optionalRaw(token.supplyRaw)],
    ['price_usd', (token) => price(token.priceUsd)],
    ['price_native', (token) => price(token.priceNative)],
    ['main_pair', (token) => token.mainPair ?? null],
    ['main_pair_tvl_usd', (token) => value(token.mainPairTvlUsd)],
    ['tvl_usd', (token) => value(token.tvlUsd)],
    ['fdv_usd', (token) => value(token.fdvUsd)],
    ['updated_at', (token) => time(token.updatedAt)],
  ],
}

function tradeSide(prefix: 'sold' | 'bought', of: (trade: Trade) => TradeSide): Column<Trade>[] {
  return [
    [`${prefix}_token`, (trade) => of(trade).token],
    [`${prefix}_symbol`, (trade) => text(of(trade).symbol)],
    [`${prefix}_decimals`, (trade) => of(trade).decimals ?? null],
    [`${prefix}_amount_raw`, (trade) => raw(of(trade).amountRaw)],
    [`${prefix}_reserve_raw`, (trade) => optionalRaw(of(trade).reserveRaw)],
    [`${prefix}_price_usd`, (trade) => price(of(trade).priceUsd)],
    [`${prefix}_price_native`, (trade) => price(of(trade).priceNative)],
  ]
}

function candleValues(unit: 'usd' | 'native'): Column<Candle>[] {
  return [
    [`${unit}_open`, (candle) => price(candle[unit]?.open)],
    [`${unit}_high`, (candle) => price(candle[unit]?.high)],
    [`${unit}_low`, (candle) => price(candle[unit]?.low)],
    [`${unit}_close`, (candle) => price(candle[unit]?.close)],
    [`${unit}_volume`, (candle) => value(candle[unit]?.volume)],
  ]
}

function pairSide(name: 'token0' | 'token1'): Column<Pair>[] {
  const of = (pair: Pair): PairSide => pair[name]
  return [
    [name, (pair) => of(pair).token],
    [`${name}_symbol`, (pair) => text(of(pair).symbol)],
    [`${name}_decimals`, (pair) => of(pair).decimals ?? null],
    [`${name}_reserve_raw`, (pair) => optionalRaw(of(pair).reserveRaw)],
    [`${name}_initial_reserve_raw`, (pair) => optionalRaw(of(pair).initialReserveRaw)],
    [`${name}_price_usd`, (pair) => price(of(pair).priceUsd)],
    [`${name}_price_native`, (pair) => price(of(pair).priceNative)],
  ]
}

function price(known: Price | undefined): Cell {
  return known === undefined ? null : formatPrice(known)
}

function value(known: Value | undefined): Cell {
  return known === undefined ? null : formatValue(known)
}

// The server wraps an integer that is too large around instead of refusing it.
function raw(amount: bigint): Cell {
  if (amount < 0n || amount > MAX_RAW) throw unstorable(`amount ${amount}`)
  return amount.toString()
}

function optionalRaw(known: bigint | undefined): Cell {
  return known === undefined ? null : raw(known)
}

function optionalTime(known: number | undefined): Cell {
  return known === undefined ? null : time(known)
}

/** Unix seconds at full width: the server takes four digits for a year. */
function time(seconds: number): Cell {
  if (!Number.isInteger(seconds) || seconds < 0 || seconds > MAX_TIME) throw unstorable(`time ${seconds}`)
  return String(seconds).padStart(10, '0')
}

/** Whatever a token calls itself, half a surrogate pair in it would make the server refuse the whole batch. */
function text(given: string): Cell {
  return given.toWellFormed()
}

function unstorable(what: string): ChaintapeError {
  return new ChaintapeError('message_unreadable', `no column can hold ${what}`)
}
