import type {
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
  Windows,
} from '../../../domain/change.ts'
import { ChaintapeError } from '../../../domain/errors.ts'
import { PRICE_DIGITS, parseFixed, VALUE_DIGITS } from '../../../domain/money.ts'
import type { OrderKey } from '../../../domain/order-key.ts'
import type { WalletHolding } from '../../../domain/wallet-balances.ts'
import { WINDOWS } from '../../../domain/window.ts'

/** A row as JSON, with times in Unix seconds and large integers and decimals as strings. */
export type Row = { readonly [column: string]: string | number | boolean | null }

export function candleRefOf(row: Row): CandleRef {
  return {
    pair: text(row, 'pair'),
    interval: text(row, 'interval') as CandleRef['interval'],
    start: number(row, 'start'),
  }
}

export function candleOf(row: Row): Candle {
  const usd = candleValues(row, 'usd')
  const native = candleValues(row, 'native')
  const quoteAs = optionalText(row, 'quote_as')
  return {
    ...candleRefOf(row),
    usd,
    native,
    quote: quoteAs === 'usd' ? usd : quoteAs === 'native' ? native : candleValues(row, 'quote'),
    tradeCount: number(row, 'trade_count'),
    firstTrade: orderKey(row, 'first_'),
    lastTrade: orderKey(row, 'last_'),
  }
}

export function eventRefOf(row: Row): EventRef {
  return { key: orderKey(row, ''), time: number(row, 'time'), pair: text(row, 'pair') }
}

export function tradeOf(row: Row): Trade {
  const holdings = tradeHoldingsOf(row)
  return {
    ...eventRefOf(row),
    amm: text(row, 'amm'),
    transaction: text(row, 'transaction'),
    sender: text(row, 'sender'),
    recipient: text(row, 'recipient'),
    wallet: text(row, 'wallet'),
    targetToken: optionalText(row, 'target_token'),
    side: optionalText(row, 'side') as Trade['side'],
    sold: eventSide(row, 'sold_token', 'sold'),
    bought: eventSide(row, 'bought_token', 'bought'),
    ...eventValues(row),
    ...(holdings !== undefined && { holdings }),
  }
}

function tradeHoldingsOf(row: Row): Trade['holdings'] {
  const isToken0Sold = row['is_token0_sold']
  if (typeof isToken0Sold !== 'boolean') return undefined
  return {
    isToken0Sold,
    nativeRaw: raw(row, 'wallet_native_raw'),
    sold: walletHolding(row, 'sold'),
    bought: walletHolding(row, 'bought'),
  }
}

function walletHolding(row: Row, side: 'sold' | 'bought'): WalletHolding | undefined {
  const amountRaw = raw(row, `${side}_held_raw`)
  return amountRaw === undefined ? undefined : { amountRaw, accounts: number(row, `${side}_accounts`) }
}

export function liquidityOf(row: Row): LiquidityEvent {
  return {
    ...eventRefOf(row),
    kind: text(row, 'kind') as LiquidityEvent['kind'],
    amm: text(row, 'amm'),
    transaction: text(row, 'transaction'),
    provider: text(row, 'provider'),
    wallet: text(row, 'wallet'),
    side0: eventSide(row, 'token0', 'token0'),
    side1: eventSide(row, 'token1', 'token1'),
    ...eventValues(row),
  }
}

export function pairOf(row: Row): Pair {
  return {
    address: text(row, 'address'),
    amm: text(row, 'amm'),
    token0: pairSide(row, 'token0'),
    token1: pairSide(row, 'token1'),
    targetToken: optionalText(row, 'target_token'),
    isMain: row['is_main'] === true,
    tvlUsd: value(row, 'tvl_usd'),
    tvlNative: value(row, 'tvl_native'),
    fdvUsd: value(row, 'fdv_usd'),
    createdAt: optionalNumber(row, 'created_at'),
    updatedAt: number(row, 'updated_at'),
    firstTradeAt: optionalNumber(row, 'first_trade_at'),
    lastTradeAt: optionalNumber(row, 'last_trade_at'),
    lastTradePriceUsd: price(row, 'last_trade_price_usd'),
    lastSide: optionalText(row, 'last_side') as Pair['lastSide'],
    athPriceUsd: price(row, 'ath_price_usd'),
  }
}

export function tokenOf(row: Row): Token {
  return {
    address: text(row, 'address'),
    name: text(row, 'name'),
    symbol: text(row, 'symbol'),
    decimals: optionalNumber(row, 'decimals'),
    supplyRaw: raw(row, 'supply_raw'),
    priceUsd: price(row, 'price_usd'),
    priceNative: price(row, 'price_native'),
    mainPair: optionalText(row, 'main_pair'),
    mainPairTvlUsd: value(row, 'main_pair_tvl_usd'),
    tvlUsd: value(row, 'tvl_usd'),
    fdvUsd: value(row, 'fdv_usd'),
    marketCapUsd: value(row, 'market_cap_usd'),
    holding: holdingOf(row),
    origin: originOf(row),
    launch: launchOf(row),
    platform: platformOf(row),
    risk: riskOf(row),
    updatedAt: number(row, 'updated_at'),
  }
}

function holdingOf(row: Row): Token['holding'] {
  const burnedRaw = raw(row, 'burned_raw')
  if (burnedRaw === undefined) return undefined
  return {
    holders: optionalNumber(row, 'holders'),
    burnedRaw,
    lockedRaw: known(row, 'locked_raw', raw),
    circulatingRaw: raw(row, 'circulating_raw'),
  }
}

function originOf(row: Row): Token['origin'] {
  const time = optionalNumber(row, 'created_at')
  return time === undefined ? undefined : { time, creator: text(row, 'creator') }
}

function launchOf(row: Row): Token['launch'] {
  const time = optionalNumber(row, 'launched_at')
  return time === undefined ? undefined : { time, priceUsd: price(row, 'launch_price_usd') }
}

function platformOf(row: Row): Token['platform'] {
  const name = optionalText(row, 'platform')
  if (name === undefined) return undefined
  return {
    name,
    createdAt: optionalNumber(row, 'platform_created_at'),
    progressPpm: optionalNumber(row, 'platform_progress_ppm'),
    graduatedAt: optionalNumber(row, 'platform_graduated_at'),
  }
}

function riskOf(row: Row): Token['risk'] {
  const score = optionalNumber(row, 'risk_score')
  if (score === undefined) return undefined
  const isHoneypot = row['is_honeypot'] as boolean | null
  return { score, isHoneypot: isHoneypot ?? undefined, isMintable: row['is_mintable'] === true }
}

export function windowsOf(row: Row): Windows {
  const [id, other] = [text(row, 'id'), optionalText(row, 'shared_with')]
  const isPair = row['kind'] === 'pair'
  return {
    pair: isPair ? id : other,
    token: isPair ? other : id,
    lengths: WINDOWS.map((name) => ({
      buyUsd: value(row, `buy_usd_${name}`),
      sellUsd: value(row, `sell_usd_${name}`),
      buys: number(row, `buys_${name}`),
      sells: number(row, `sells_${name}`),
      makers: number(row, `makers_${name}`),
      buyers: number(row, `buyers_${name}`),
      sellers: number(row, `sellers_${name}`),
      openUsd: price(row, `open_usd_${name}`),
    })),
    amountRaw: raw(row, 'amount_raw'),
    highUsd: price(row, 'high_usd'),
    lowUsd: price(row, 'low_usd'),
    priceUsd: price(row, 'price_usd'),
    day: number(row, 'day'),
    dayOpenUsd: price(row, 'day_open_usd'),
  }
}

export function switchOf(row: Row): MainPairSwitch {
  return {
    token: text(row, 'token'),
    block: number(row, 'block'),
    time: number(row, 'time'),
    oldPair: text(row, 'old_pair'),
    newPair: text(row, 'new_pair'),
    reason: text(row, 'reason') as MainPairSwitch['reason'],
  }
}

export function text(row: Row, column: string): string {
  const found = row[column]
  if (typeof found !== 'string') throw unreadable(row, column)
  return found
}

export function number(row: Row, column: string): number {
  const found = Number(row[column] ?? Number.NaN)
  if (!Number.isSafeInteger(found)) throw unreadable(row, column)
  return found
}

function candleValues(row: Row, unit: 'usd' | 'native' | 'quote'): CandleValues | undefined {
  if (row[`${unit}_open`] === null) return undefined
  return {
    open: known(row, `${unit}_open`, price),
    high: known(row, `${unit}_high`, price),
    low: known(row, `${unit}_low`, price),
    close: known(row, `${unit}_close`, price),
    volume: value(row, `${unit}_volume`),
  }
}

function eventSide(row: Row, token: string, prefix: string): EventSide {
  return {
    token: text(row, token),
    symbol: text(row, `${prefix}_symbol`),
    decimals: optionalNumber(row, `${prefix}_decimals`),
    amountRaw: known(row, `${prefix}_amount_raw`, raw),
    reserveRaw: raw(row, `${prefix}_reserve_raw`),
    priceUsd: price(row, `${prefix}_price_usd`),
    priceNative: price(row, `${prefix}_price_native`),
  }
}

function eventValues(row: Row): Pick<Trade, 'valueUsd' | 'valueNative' | 'liquidityUsd' | 'liquidityNative'> {
  return {
    valueUsd: value(row, 'value_usd'),
    valueNative: value(row, 'value_native'),
    liquidityUsd: value(row, 'liquidity_usd'),
    liquidityNative: value(row, 'liquidity_native'),
  }
}

function pairSide(row: Row, name: 'token0' | 'token1'): PairSide {
  return {
    token: text(row, name),
    symbol: text(row, `${name}_symbol`),
    decimals: optionalNumber(row, `${name}_decimals`),
    reserveRaw: raw(row, `${name}_reserve_raw`),
    initialReserveRaw: raw(row, `${name}_initial_reserve_raw`),
    priceUsd: price(row, `${name}_price_usd`),
    priceNative: price(row, `${name}_price_native`),
  }
}

function orderKey(row: Row, prefix: string): OrderKey {
  return {
    block: number(row, `${prefix}block`),
    tx: number(row, `${prefix}tx`),
    log: number(row, `${prefix}log`),
  }
}

function price(row: Row, column: string): bigint | undefined {
  return fixed(row, column, PRICE_DIGITS)
}

function value(row: Row, column: string): bigint | undefined {
  return fixed(row, column, VALUE_DIGITS)
}

export function raw(row: Row, column: string): bigint | undefined {
  return fixed(row, column, 0)
}

function fixed(row: Row, column: string, digits: number): bigint | undefined {
  const found = row[column]
  if (found === null) return undefined
  const parsed = typeof found === 'string' ? parseFixed(found, digits) : undefined
  if (parsed === undefined) throw unreadable(row, column)
  return parsed
}

function known(row: Row, column: string, read: (row: Row, column: string) => bigint | undefined): bigint {
  const found = read(row, column)
  if (found === undefined) throw unreadable(row, column)
  return found
}

function optionalText(row: Row, column: string): string | undefined {
  return row[column] === null ? undefined : text(row, column)
}

export function optionalNumber(row: Row, column: string): number | undefined {
  return row[column] === null ? undefined : number(row, column)
}

function unreadable(row: Row, column: string): ChaintapeError {
  return new ChaintapeError('message_unreadable', `column ${column} of ClickHouse holds ${row[column]}`)
}
