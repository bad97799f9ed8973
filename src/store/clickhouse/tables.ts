import type {
  Balance,
  Candle,
  CandleRef,
  CandleValues,
  EventRef,
  EventSide,
  LiquidityEvent,
  MainPairSwitch,
  Pair,
  PairSide,
  Token,
  Trade,
  WindowSums,
  Windows,
} from '../../domain/change.ts'
import type { ContractReport } from '../../domain/contract-report.ts'
import { quoteUnit } from '../../domain/quote-unit.ts'
import { isHoneypot } from '../../domain/risk-score.ts'
import type { SearchTerm } from '../../domain/search-text.ts'
import { WINDOWS } from '../../domain/window.ts'
import {
  type Cell,
  countCell,
  NULL,
  optionalCountCell,
  optionalFlagCell,
  optionalRawCell,
  optionalTextCell,
  optionalTimeCell,
  priceCell,
  rawCell,
  signedRawCell,
  textCell,
  timeCell,
  valueCell,
  wholeDollarsCell,
} from './cells.ts'
import { reportText } from './report-text.ts'

export type Column<T> = readonly [name: string, cell: (record: T) => Cell]

/** What of a record goes into which column. Chain, seq and is_deleted are in every table and not listed. */
export type Table<Key, Full extends Key> = {
  readonly name: TableName
  readonly key: readonly Column<Key>[]
  readonly rest: readonly Column<Full>[]
}

export const TABLE_NAMES = [
  'trades',
  'liquidity',
  'candles',
  'pairs',
  'tokens',
  'windows',
  'switches',
  'balances',
  'token_search',
  'contracts',
] as const

export type TableName = (typeof TABLE_NAMES)[number]

/** Windows that a pair and a token have in common are a row of each. */
export type WindowsKey = { readonly kind: 'pair' | 'token'; readonly id: string }
export type WindowsOf = WindowsKey & { readonly windows: Windows }

/** What a token is found by: a row for each of its terms. */
export type FoundToken = SearchTerm & { readonly token: Token }

export type SwitchKey = Pick<MainPairSwitch, 'token' | 'block'>

const eventKey: readonly Column<EventRef>[] = [
  ['pair', ({ pair }) => textCell(pair)],
  ['time', ({ time }) => timeCell(time)],
  ['block', ({ key }) => countCell(key.block)],
  ['tx', ({ key }) => countCell(key.tx)],
  ['log', ({ key }) => countCell(key.log)],
]

export const tradesTable: Table<EventRef, Trade> = {
  name: 'trades',
  key: eventKey,
  rest: [
    ['amm', (trade) => textCell(trade.amm)],
    ['transaction', (trade) => textCell(trade.transaction)],
    ['sender', (trade) => textCell(trade.sender)],
    ['recipient', (trade) => textCell(trade.recipient)],
    ['wallet', (trade) => textCell(trade.wallet)],
    ['target_token', (trade) => optionalTextCell(trade.targetToken)],
    ['side', (trade) => trade.side ?? NULL],
    ...eventSide<Trade>('sold_token', 'sold', (trade) => trade.sold),
    ...eventSide<Trade>('bought_token', 'bought', (trade) => trade.bought),
    ['value_usd', (trade) => valueCell(trade.valueUsd)],
    ['value_native', (trade) => valueCell(trade.valueNative)],
    ['liquidity_usd', (trade) => valueCell(trade.liquidityUsd)],
    ['liquidity_native', (trade) => valueCell(trade.liquidityNative)],
  ],
}

export const liquidityTable: Table<EventRef, LiquidityEvent> = {
  name: 'liquidity',
  key: eventKey,
  rest: [
    ['kind', (event) => event.kind],
    ['amm', (event) => textCell(event.amm)],
    ['transaction', (event) => textCell(event.transaction)],
    ['provider', (event) => textCell(event.provider)],
    ['wallet', (event) => textCell(event.wallet)],
    ...eventSide<LiquidityEvent>('token0', 'token0', (event) => event.side0),
    ...eventSide<LiquidityEvent>('token1', 'token1', (event) => event.side1),
    ['value_usd', (event) => valueCell(event.valueUsd)],
    ['value_native', (event) => valueCell(event.valueNative)],
    ['liquidity_usd', (event) => valueCell(event.liquidityUsd)],
    ['liquidity_native', (event) => valueCell(event.liquidityNative)],
  ],
}

export const candlesTable: Table<CandleRef, Candle> = {
  name: 'candles',
  key: [
    ['pair', (candle) => textCell(candle.pair)],
    ['interval', (candle) => candle.interval],
    ['start', (candle) => timeCell(candle.start)],
  ],
  rest: [
    ...candleValues('usd', ({ usd }) => usd),
    ...candleValues('native', ({ native }) => native),
    ['quote_as', (candle) => quoteUnit(candle) ?? NULL],
    ...candleValues('quote', (candle) => (quoteUnit(candle) === undefined ? candle.quote : undefined)),
    ['trade_count', (candle) => countCell(candle.tradeCount)],
    ['first_block', (candle) => countCell(candle.firstTrade.block)],
    ['first_tx', (candle) => countCell(candle.firstTrade.tx)],
    ['first_log', (candle) => countCell(candle.firstTrade.log)],
    ['last_block', (candle) => countCell(candle.lastTrade.block)],
    ['last_tx', (candle) => countCell(candle.lastTrade.tx)],
    ['last_log', (candle) => countCell(candle.lastTrade.log)],
  ],
}

export const pairsTable: Table<Pick<Pair, 'address'>, Pair> = {
  name: 'pairs',
  key: [['address', (pair) => textCell(pair.address)]],
  rest: [
    ['amm', (pair) => textCell(pair.amm)],
    ...pairSide('token0'),
    ...pairSide('token1'),
    ['target_token', (pair) => optionalTextCell(pair.targetToken)],
    ['is_main', (pair) => (pair.isMain ? '1' : '0')],
    ['tvl_usd', (pair) => valueCell(pair.tvlUsd)],
    ['tvl_native', (pair) => valueCell(pair.tvlNative)],
    ['fdv_usd', (pair) => valueCell(pair.fdvUsd)],
    ['created_at', (pair) => optionalTimeCell(pair.createdAt)],
    ['updated_at', (pair) => timeCell(pair.updatedAt)],
    ['first_trade_at', (pair) => optionalTimeCell(pair.firstTradeAt)],
    ['last_trade_at', (pair) => optionalTimeCell(pair.lastTradeAt)],
    ['last_trade_price_usd', (pair) => priceCell(pair.lastTradePriceUsd)],
    ['last_side', (pair) => pair.lastSide ?? NULL],
    ['ath_price_usd', (pair) => priceCell(pair.athPriceUsd)],
  ],
}

export const tokensTable: Table<Pick<Token, 'address'>, Token> = {
  name: 'tokens',
  key: [['address', (token) => textCell(token.address)]],
  rest: [
    ['name', (token) => textCell(token.name)],
    ['symbol', (token) => textCell(token.symbol)],
    ['decimals', (token) => optionalCountCell(token.decimals)],
    ['supply_raw', (token) => optionalRawCell(token.supplyRaw)],
    ['price_usd', (token) => priceCell(token.priceUsd)],
    ['price_native', (token) => priceCell(token.priceNative)],
    ['main_pair', (token) => optionalTextCell(token.mainPair)],
    ['main_pair_tvl_usd', (token) => valueCell(token.mainPairTvlUsd)],
    ['tvl_usd', (token) => valueCell(token.tvlUsd)],
    ['fdv_usd', (token) => valueCell(token.fdvUsd)],
    ['market_cap_usd', (token) => valueCell(token.marketCapUsd)],
    ['holders', ({ holding }) => optionalCountCell(holding?.holders)],
    ['burned_raw', ({ holding }) => optionalRawCell(holding?.burnedRaw)],
    ['locked_raw', ({ holding }) => optionalRawCell(holding?.lockedRaw)],
    ['circulating_raw', ({ holding }) => optionalRawCell(holding?.circulatingRaw)],
    ['created_at', ({ origin }) => optionalTimeCell(origin?.time)],
    ['creator', ({ origin }) => optionalTextCell(origin?.creator)],
    ['launched_at', ({ launch }) => optionalTimeCell(launch?.time)],
    ['launch_price_usd', ({ launch }) => priceCell(launch?.priceUsd)],
    ['platform', ({ platform }) => optionalTextCell(platform?.name)],
    ['platform_created_at', ({ platform }) => optionalTimeCell(platform?.createdAt)],
    ['platform_progress_ppm', ({ platform }) => optionalCountCell(platform?.progressPpm)],
    ['platform_graduated_at', ({ platform }) => optionalTimeCell(platform?.graduatedAt)],
    ['risk_score', ({ risk }) => optionalCountCell(risk?.score)],
    ['is_honeypot', ({ risk }) => optionalFlagCell(risk?.isHoneypot)],
    ['is_mintable', ({ risk }) => optionalFlagCell(risk?.isMintable)],
    ['updated_at', (token) => timeCell(token.updatedAt)],
  ],
}

export const windowsTable: Table<WindowsKey, WindowsOf> = {
  name: 'windows',
  key: [
    ['kind', ({ kind }) => kind],
    ['id', ({ id }) => textCell(id)],
  ],
  rest: [
    ['shared_with', ({ kind, windows }) => optionalTextCell(kind === 'pair' ? windows.token : windows.pair)],
    ...WINDOWS.flatMap((name, at) => windowSums(name, ({ windows }) => windows.lengths[at] as WindowSums)),
    ['amount_raw', ({ windows }) => optionalRawCell(windows.amountRaw)],
    ['high_usd', ({ windows }) => priceCell(windows.highUsd)],
    ['low_usd', ({ windows }) => priceCell(windows.lowUsd)],
    ['price_usd', ({ windows }) => priceCell(windows.priceUsd)],
    ['day', ({ windows }) => countCell(windows.day)],
    ['day_open_usd', ({ windows }) => priceCell(windows.dayOpenUsd)],
  ],
}

export const switchesTable: Table<SwitchKey, MainPairSwitch> = {
  name: 'switches',
  key: [
    ['token', ({ token }) => textCell(token)],
    ['block', ({ block }) => countCell(block)],
  ],
  rest: [
    ['time', ({ time }) => timeCell(time)],
    ['old_pair', ({ oldPair }) => textCell(oldPair)],
    ['new_pair', ({ newPair }) => textCell(newPair)],
    ['reason', ({ reason }) => reason],
  ],
}

/** A row stands among those of about the same amount, so that the largest are found together. */
export type BalanceRow = Pick<Balance, 'token' | 'holder'> & { readonly magnitude: number }

export const balancesTable: Table<BalanceRow, BalanceRow & Balance> = {
  name: 'balances',
  key: [
    ['token', ({ token }) => textCell(token)],
    ['magnitude', ({ magnitude }) => countCell(magnitude)],
    ['holder', ({ holder }) => textCell(holder)],
  ],
  rest: [['amount_raw', ({ amountRaw }) => signedRawCell(amountRaw)]],
}

export const tokenSearchTable: Table<FoundToken, FoundToken> = {
  name: 'token_search',
  key: [
    ['kind', ({ kind }) => kind],
    ['term', ({ term }) => textCell(term)],
    ['address', ({ token }) => textCell(token.address)],
  ],
  rest: [['standing', ({ token }) => wholeDollarsCell(token.mainPairTvlUsd)]],
}

export const contractsTable: Table<Pick<ContractReport, 'token'>, ContractReport> = {
  name: 'contracts',
  key: [['token', ({ token }) => textCell(token)]],
  rest: [
    ['block', ({ inspection }) => countCell(inspection.block.number)],
    ['time', ({ time }) => timeCell(time)],
    ['score', ({ score }) => countCell(score.points)],
    ['score_version', ({ score }) => countCell(score.version)],
    ['is_honeypot', ({ inspection }) => optionalFlagCell(isHoneypot(inspection))],
    ['report', (report) => textCell(reportText(report))],
  ],
}

function eventSide<T>(token: string, prefix: string, of: (event: T) => EventSide): Column<T>[] {
  return [
    [token, (event) => textCell(of(event).token)],
    [`${prefix}_symbol`, (event) => textCell(of(event).symbol)],
    [`${prefix}_decimals`, (event) => optionalCountCell(of(event).decimals)],
    [`${prefix}_amount_raw`, (event) => rawCell(of(event).amountRaw)],
    [`${prefix}_reserve_raw`, (event) => optionalRawCell(of(event).reserveRaw)],
    [`${prefix}_price_usd`, (event) => priceCell(of(event).priceUsd)],
    [`${prefix}_price_native`, (event) => priceCell(of(event).priceNative)],
  ]
}

function candleValues(unit: string, of: (candle: Candle) => CandleValues | undefined): Column<Candle>[] {
  return [
    [`${unit}_open`, (candle) => priceCell(of(candle)?.open)],
    [`${unit}_high`, (candle) => priceCell(of(candle)?.high)],
    [`${unit}_low`, (candle) => priceCell(of(candle)?.low)],
    [`${unit}_close`, (candle) => priceCell(of(candle)?.close)],
    [`${unit}_volume`, (candle) => valueCell(of(candle)?.volume)],
  ]
}

function pairSide(name: 'token0' | 'token1'): Column<Pair>[] {
  const of = (pair: Pair): PairSide => pair[name]
  return [
    [name, (pair) => textCell(of(pair).token)],
    [`${name}_symbol`, (pair) => textCell(of(pair).symbol)],
    [`${name}_decimals`, (pair) => optionalCountCell(of(pair).decimals)],
    [`${name}_reserve_raw`, (pair) => optionalRawCell(of(pair).reserveRaw)],
    [`${name}_initial_reserve_raw`, (pair) => optionalRawCell(of(pair).initialReserveRaw)],
    [`${name}_price_usd`, (pair) => priceCell(of(pair).priceUsd)],
    [`${name}_price_native`, (pair) => priceCell(of(pair).priceNative)],
  ]
}

function windowSums(name: string, of: (record: WindowsOf) => WindowSums): Column<WindowsOf>[] {
  return [
    [`buy_usd_${name}`, (record) => valueCell(of(record).buyUsd)],
    [`sell_usd_${name}`, (record) => valueCell(of(record).sellUsd)],
    [`buys_${name}`, (record) => countCell(of(record).buys)],
    [`sells_${name}`, (record) => countCell(of(record).sells)],
    [`makers_${name}`, (record) => countCell(of(record).makers)],
    [`buyers_${name}`, (record) => countCell(of(record).buyers)],
    [`sellers_${name}`, (record) => countCell(of(record).sellers)],
    [`open_usd_${name}`, (record) => priceCell(of(record).openUsd)],
  ]
}
