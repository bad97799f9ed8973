import { LIQUIDITY_KINDS, SWITCH_REASONS } from '../../domain/change.ts'
import type { ContractReport } from '../../domain/contract-report.ts'
import { INTERVALS } from '../../domain/interval.ts'
import { isHoneypot } from '../../domain/risk-score.ts'
import { WINDOWS, type WindowName } from '../../domain/window.ts'
import * as layouts from '../../wire/change-layouts.ts'
import { type Columns, defineRecordTable, defineTable, type Table } from './columns.ts'
import { reportText } from './report-text.ts'

const AMOUNT = 'Nullable(UInt256)'
const PRICE = 'Nullable(Decimal(76, 40))'
const VALUE = 'Nullable(Decimal(76, 18))'
const TIME = "DateTime('UTC')"
const WORD = 'LowCardinality(String)'
const DIRECTION = "Nullable(Enum8('buy' = 1, 'sell' = 2))"

const eventKey = {
  pair: ['String', 'pair'],
  time: [TIME, 'time'],
  block: ['UInt64', 'block'],
  tx: ['UInt32', 'tx'],
  log: ['UInt32', 'log'],
} as const

const eventValues = {
  value_usd: [VALUE, 'valueUsd'],
  value_native: [VALUE, 'valueNative'],
  liquidity_usd: [VALUE, 'liquidityUsd'],
  liquidity_native: [VALUE, 'liquidityNative'],
} as const

export const tradesTable = defineTable(
  'trades',
  { full: layouts.TRADE, removed: layouts.TRADE_REMOVED },
  eventKey,
  {
    amm: [WORD, 'amm'],
    transaction: ['String', 'transaction'],
    sender: ['String', 'sender'],
    recipient: ['String', 'recipient'],
    wallet: ['String', 'wallet'],
    target_token: ['Nullable(String)', 'targetToken'],
    side: [DIRECTION, 'side'],
    ...eventSide('sold_token', 'sold', 'sold'),
    ...eventSide('bought_token', 'bought', 'bought'),
    ...eventValues,
    is_token0_sold: ['Nullable(Bool)', 'holdings.isToken0Sold'],
    wallet_native_raw: [AMOUNT, 'holdings.nativeRaw'],
    sold_held_raw: [AMOUNT, 'holdings.soldRaw'],
    sold_accounts: ['Nullable(UInt8)', 'holdings.soldAccounts'],
    bought_held_raw: [AMOUNT, 'holdings.boughtRaw'],
    bought_accounts: ['Nullable(UInt8)', 'holdings.boughtAccounts'],
  },
)

export const liquidityTable = defineTable(
  'liquidity',
  { full: layouts.LIQUIDITY, removed: layouts.LIQUIDITY_REMOVED },
  eventKey,
  {
    kind: [WORD, ['kind', LIQUIDITY_KINDS]],
    amm: [WORD, 'amm'],
    transaction: ['String', 'transaction'],
    provider: ['String', 'provider'],
    wallet: ['String', 'wallet'],
    ...eventSide('token0', 'token0', 'side0'),
    ...eventSide('token1', 'token1', 'side1'),
    ...eventValues,
  },
)

export const candlesTable = defineTable(
  'candles',
  { full: layouts.CANDLE, removed: layouts.CANDLE_REMOVED },
  {
    pair: ['String', 'pair'],
    interval: [WORD, ['interval', INTERVALS]],
    start: [TIME, 'start'],
  },
  {
    ...candleValues('usd'),
    ...candleValues('native'),
    quote_as: ["Nullable(Enum8('usd' = 1, 'native' = 2))", 'quoteAs'],
    ...candleValues('quote'),
    trade_count: ['UInt64', 'tradeCount'],
    first_block: ['UInt64', 'firstBlock'],
    first_tx: ['UInt32', 'firstTx'],
    first_log: ['UInt32', 'firstLog'],
    last_block: ['UInt64', 'lastBlock'],
    last_tx: ['UInt32', 'lastTx'],
    last_log: ['UInt32', 'lastLog'],
  },
)

export const pairsTable = defineTable(
  'pairs',
  { full: layouts.PAIR, removed: layouts.PAIR_REMOVED },
  { address: ['String', 'address'] },
  {
    amm: [WORD, 'amm'],
    ...pairSide('token0'),
    ...pairSide('token1'),
    target_token: ['Nullable(String)', 'targetToken'],
    is_main: ['Bool', 'isMain'],
    tvl_usd: [VALUE, 'tvlUsd'],
    tvl_native: [VALUE, 'tvlNative'],
    fdv_usd: [VALUE, 'fdvUsd'],
    created_at: [`Nullable(${TIME})`, 'createdAt'],
    updated_at: [TIME, 'updatedAt'],
    first_trade_at: [`Nullable(${TIME})`, 'firstTradeAt'],
    last_trade_at: [`Nullable(${TIME})`, 'lastTradeAt'],
    last_trade_price_usd: [PRICE, 'lastTradePriceUsd'],
    last_side: [DIRECTION, 'lastSide'],
    ath_price_usd: [PRICE, 'athPriceUsd'],
  },
)

export const tokensTable = defineTable(
  'tokens',
  { full: layouts.TOKEN, removed: layouts.TOKEN_REMOVED },
  { address: ['String', 'address'] },
  {
    name: ['String', 'name'],
    symbol: ['String', 'symbol'],
    decimals: ['Nullable(UInt8)', 'decimals'],
    supply_raw: [AMOUNT, 'supplyRaw'],
    price_usd: [PRICE, 'priceUsd'],
    price_native: [PRICE, 'priceNative'],
    main_pair: ['Nullable(String)', 'mainPair'],
    main_pair_tvl_usd: [VALUE, 'mainPairTvlUsd'],
    tvl_usd: [VALUE, 'tvlUsd'],
    fdv_usd: [VALUE, 'fdvUsd'],
    market_cap_usd: [VALUE, 'marketCapUsd'],
    holders: ['Nullable(UInt64)', 'holding.holders'],
    burned_raw: [AMOUNT, 'holding.burnedRaw'],
    locked_raw: [AMOUNT, 'holding.lockedRaw'],
    circulating_raw: [AMOUNT, 'holding.circulatingRaw'],
    created_at: [`Nullable(${TIME})`, 'origin.time'],
    creator: ['Nullable(String)', 'origin.creator'],
    launched_at: [`Nullable(${TIME})`, 'launch.time'],
    launch_price_usd: [PRICE, 'launch.priceUsd'],
    platform: ['Nullable(String)', 'platform.name'],
    platform_created_at: [`Nullable(${TIME})`, 'platform.createdAt'],
    platform_progress_ppm: ['Nullable(UInt32)', 'platform.progressPpm'],
    platform_graduated_at: [`Nullable(${TIME})`, 'platform.graduatedAt'],
    risk_score: ['Nullable(UInt8)', 'risk.score'],
    is_honeypot: ['Nullable(Bool)', 'risk.isHoneypot'],
    is_mintable: ['Nullable(Bool)', 'risk.isMintable'],
    updated_at: [TIME, 'updatedAt'],
  },
)

/** Windows shared by a pair and a token are stored as a row each. */
export const pairWindowsTable = windowsTable('pair', 'token')
export const tokenWindowsTable = windowsTable('token', 'pair')

export const switchesTable = defineTable(
  'switches',
  { full: layouts.SWITCH, removed: layouts.SWITCH_REMOVED },
  { token: ['String', 'token'], block: ['UInt64', 'block'] },
  {
    time: [TIME, 'time'],
    old_pair: ['String', 'oldPair'],
    new_pair: ['String', 'newPair'],
    reason: [WORD, ['reason', SWITCH_REASONS]],
  },
)

const { slots: balanceSlots } = layouts.BALANCE

export const balancesTable = defineTable(
  'balances',
  {
    full: layouts.BALANCE,
    // A removal deletes the row at the holder's previous magnitude.
    removed: { ...layouts.BALANCE, slots: { ...balanceSlots, magnitude: balanceSlots.magnitudeBefore } },
  },
  { token: ['String', 'token'], magnitude: ['UInt16', 'magnitude'], holder: ['String', 'holder'] },
  { amount_raw: ['Int256', 'amountRaw'] },
)

/** A search term of a token: one row per term. */
export type TokenTerm = {
  readonly kind: number
  readonly term: string
  readonly address: string
  readonly standing: bigint
}

export const TERM_KINDS = { symbol: 1, name: 2, word: 3 } as const

export const tokenSearchTable = defineRecordTable<TokenTerm>('token_search', {
  kind: ["Enum8('symbol' = 1, 'name' = 2, 'word' = 3)", ({ kind }) => kind],
  term: ['String', ({ term }) => term],
  address: ['String', ({ address }) => address],
  standing: ['UInt64', ({ standing }) => standing],
})

/** A removed contract has only its token. */
export type ContractRow = Pick<ContractReport, 'token'> & { readonly report: ContractReport | undefined }

export const contractsTable = defineRecordTable<ContractRow>('contracts', {
  token: ['String', ({ token }) => token],
  block: ['UInt64', ({ report }) => report?.inspection.block.number],
  time: [TIME, ({ report }) => report?.time],
  score: ['UInt8', ({ report }) => report?.score.points],
  score_version: ['UInt8', ({ report }) => report?.score.version],
  is_honeypot: ['Nullable(Bool)', ({ report }) => report && isHoneypot(report.inspection)],
  report: ['String', ({ report }) => report && reportText(report)],
})

function eventSide<
  const Token extends string,
  const Prefix extends string,
  const Side extends 'sold' | 'bought' | 'side0' | 'side1',
>(token: Token, prefix: Prefix, side: Side) {
  return {
    [token]: ['String', `${side}Token`],
    [`${prefix}_symbol`]: ['String', `${side}Symbol`],
    [`${prefix}_decimals`]: ['Nullable(UInt8)', `${side}Decimals`],
    [`${prefix}_amount_raw`]: ['UInt256', `${side}AmountRaw`],
    [`${prefix}_reserve_raw`]: [AMOUNT, `${side}ReserveRaw`],
    [`${prefix}_price_usd`]: [PRICE, `${side}PriceUsd`],
    [`${prefix}_price_native`]: [PRICE, `${side}PriceNative`],
  } as const satisfies Columns<string>
}

function candleValues<const Unit extends 'usd' | 'native' | 'quote'>(unit: Unit) {
  return {
    [`${unit}_open`]: [PRICE, `${unit}Open`],
    [`${unit}_high`]: [PRICE, `${unit}High`],
    [`${unit}_low`]: [PRICE, `${unit}Low`],
    [`${unit}_close`]: [PRICE, `${unit}Close`],
    [`${unit}_volume`]: [VALUE, `${unit}Volume`],
  } as const satisfies Columns<string>
}

function pairSide<const Side extends 'token0' | 'token1'>(side: Side) {
  return {
    [side]: ['String', `${side}Address`],
    [`${side}_symbol`]: ['String', `${side}Symbol`],
    [`${side}_decimals`]: ['Nullable(UInt8)', `${side}Decimals`],
    [`${side}_reserve_raw`]: [AMOUNT, `${side}ReserveRaw`],
    [`${side}_initial_reserve_raw`]: [AMOUNT, `${side}InitialReserveRaw`],
    [`${side}_price_usd`]: [PRICE, `${side}PriceUsd`],
    [`${side}_price_native`]: [PRICE, `${side}PriceNative`],
  } as const satisfies Columns<string>
}

function windowsTable(kind: 'pair' | 'token', other: 'pair' | 'token'): Table {
  // The table only has rows for existing owners, so the key is always set.
  const kinds = { pair: 1, token: 2 } as const
  const key = {
    kind: ["Enum8('pair' = 1, 'token' = 2)", { constant: kinds[kind] }],
    id: ['String', kind],
  } as const
  return defineTable('windows', { full: layouts.WINDOWS_LAYOUT, removed: layouts.WINDOWS_REMOVED }, key, {
    shared_with: ['Nullable(String)', other],
    ...Object.assign({}, ...WINDOWS.map(windowSums)),
    amount_raw: [AMOUNT, 'amountRaw'],
    high_usd: [PRICE, 'highUsd'],
    low_usd: [PRICE, 'lowUsd'],
    price_usd: [PRICE, 'priceUsd'],
    day: ['UInt32', 'day'],
    day_open_usd: [PRICE, 'dayOpenUsd'],
  })
}

function windowSums(name: WindowName) {
  return {
    [`buy_usd_${name}`]: [VALUE, `${name}BuyUsd`],
    [`sell_usd_${name}`]: [VALUE, `${name}SellUsd`],
    [`buys_${name}`]: ['UInt64', `${name}Buys`],
    [`sells_${name}`]: ['UInt64', `${name}Sells`],
    [`makers_${name}`]: ['UInt64', `${name}Makers`],
    [`buyers_${name}`]: ['UInt64', `${name}Buyers`],
    [`sellers_${name}`]: ['UInt64', `${name}Sellers`],
    [`open_usd_${name}`]: [PRICE, `${name}OpenUsd`],
  } as const satisfies Columns<string>
}
