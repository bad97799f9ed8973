import { type ExpectedCandle, type IntervalName, secondsOf, startOf, type Unit } from './expected-candles.ts'
import { decimal, percent, price, value } from './expected-numbers.ts'
import { type ExpectedLiquidity, type ExpectedTrade, targetOf } from './expected-pools.ts'
import { type ExpectedWindows, WINDOW_MINUTES, type WindowName } from './expected-windows.ts'

export type Row = Readonly<Record<string, unknown>>

export const CHAIN = 'local'

/** What is not known is not there. */
export function known(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([, field]) => field !== undefined))
}

export function swapRow(trade: ExpectedTrade): Row {
  const { pool, prices, isZeroSold, value: worth, tvl } = trade
  const side = (is0: boolean) => {
    const { address, symbol, decimals } = is0 ? pool.token0 : pool.token1
    const { usd, eth } = is0 ? prices.price0 : prices.price1
    return {
      address,
      symbol,
      amount: decimal(is0 ? trade.raw0 : trade.raw1, decimals),
      reserve: decimal(is0 ? trade.reserve0 : trade.reserve1, decimals),
      usd: price(usd) ?? '',
      eth: price(eth) ?? '',
    }
  }
  const from = side(isZeroSold)
  const to = side(!isZeroSold)
  const six = (index: number): string => String(index).padStart(6, '0')
  return {
    amm: pool.amm,
    amount_eth: value(worth.eth) ?? '',
    amount_usd: value(worth.usd) ?? '',
    block_number: trade.block,
    chain: CHAIN,
    from_address: from.address,
    from_amount: from.amount,
    from_price_eth: from.eth,
    from_price_usd: from.usd,
    from_reserve: from.reserve,
    from_symbol: from.symbol,
    id: `${trade.block}-${trade.log}`,
    pair_address: pool.id,
    pair_liquidity_eth: value(tvl.eth) ?? '',
    pair_liquidity_usd: value(tvl.usd) ?? '',
    sender: trade.sender,
    target_token: targetOf(pool)?.address ?? '',
    time: trade.time,
    to: trade.recipient,
    to_address: to.address,
    to_amount: to.amount,
    to_price_eth: to.eth,
    to_price_usd: to.usd,
    to_reserve: to.reserve,
    to_symbol: to.symbol,
    transaction: trade.transaction,
    tx_seq: `${trade.block}${six(trade.tx)}${six(trade.log)}`,
    tx_swap_type: trade.side === undefined ? -1 : trade.side === 'buy' ? 0 : 1,
    wallet_address: trade.wallet,
    wallet_tag: null,
  }
}

export function liquidityRow(event: ExpectedLiquidity): Row {
  const { pool, prices, value: worth, tvl } = event
  const { token0, token1 } = pool
  return {
    id: `${event.block}-${event.log}`,
    time: event.time,
    block_number: event.block,
    chain: CHAIN,
    transaction: event.transaction,
    amm: pool.amm,
    sender: event.provider,
    wallet_address: event.wallet,
    pair_address: pool.id,
    type: event.kind,
    amount_usd: value(worth.usd) ?? '',
    amount_eth: value(worth.eth) ?? '',
    pair_liquidity_usd: value(tvl.usd) ?? '',
    pair_liquidity_eth: value(tvl.eth) ?? '',
    token0_address: token0.address,
    token0_symbol: token0.symbol,
    token0_price_usd: price(prices.price0.usd) ?? '',
    token0_price_eth: price(prices.price0.eth) ?? '',
    amount0: decimal(event.raw0, token0.decimals),
    reserve0: decimal(event.reserve0, token0.decimals),
    token1_address: token1.address,
    token1_symbol: token1.symbol,
    token1_price_usd: price(prices.price1.usd) ?? '',
    token1_price_eth: price(prices.price1.eth) ?? '',
    amount1: decimal(event.raw1, token1.decimals),
    reserve1: decimal(event.reserve1, token1.decimals),
  }
}

/** Candles of REST, but for their revisions, without those whose prices are not known in this unit. */
export function klineRows(candles: readonly ExpectedCandle[], unit: Unit): Row[] {
  const rows: Row[] = []
  for (const candle of candles) {
    const bar = candle[unit]
    if (bar !== undefined) rows.push({ time: candle.start, ...barTexts(bar), count: candle.count })
  }
  return rows
}

/** The newest so many: where nothing was traded, at the last close before; none before the first trade of all. */
export function filledRows(
  rows: readonly Row[],
  interval: IntervalName,
  range: { readonly from: number; readonly until: number; readonly limit: number },
): Row[] {
  const filled: Row[] = []
  const newest = startOf(interval, range.until)
  for (let time = newest; time >= range.from && filled.length < range.limit; time -= secondsOf(interval)) {
    const last = rows.findLast((row) => Number(row['time']) <= time)
    if (last === undefined) break
    const { close } = last
    const empty = { time, open: close, high: close, low: close, close, volume: '0', count: 0 }
    filled.unshift(last['time'] === time ? last : empty)
  }
  return filled
}

export function barTexts({ open, high, low, close, volume }: NonNullable<ExpectedCandle['usd']>): Row {
  return {
    ...{ open: price(open), high: price(high), low: price(low), close: price(close) },
    volume: value(volume),
  }
}

export function pairWindowFields(windows: ExpectedWindows | undefined): Row {
  if (windows === undefined) return {}
  return Object.assign(
    {},
    ...(Object.keys(WINDOW_MINUTES) as WindowName[]).map((w) => {
      const { buyUsd, sellUsd, buys, sells, makers, buyers, sellers, openUsd } = windows.sums[w]
      return {
        [`price_change_${w}`]: percent(windows.priceUsd, openUsd),
        [`volume_u_${w}`]: value(buyUsd + sellUsd),
        [`buy_volume_u_${w}`]: value(buyUsd),
        [`sell_volume_u_${w}`]: value(sellUsd),
        [`tx_${w}_count`]: buys + sells,
        [`buys_tx_${w}_count`]: buys,
        [`sells_tx_${w}_count`]: sells,
        [`makers_${w}`]: makers,
        [`buyers_${w}`]: buyers,
        [`sellers_${w}`]: sellers,
      }
    }),
  )
}

export function tokenWindowFields(windows: ExpectedWindows | undefined): Row {
  if (windows === undefined) return {}
  return Object.assign(
    {},
    ...(['5m', '1h', '4h', '24h'] as const).map((w) => {
      const { buyUsd, sellUsd, buys, sells, makers, buyers, sellers, openUsd } = windows.sums[w]
      return {
        [`token_price_change_${w}`]: percent(windows.priceUsd, openUsd),
        [`token_tx_volume_usd_${w}`]: value(buyUsd + sellUsd),
        [`token_buy_tx_volume_usd_${w}`]: value(buyUsd),
        [`token_sell_tx_volume_usd_${w}`]: value(sellUsd),
        [`token_tx_count_${w}`]: buys + sells,
        [`token_buy_tx_count_${w}`]: buys,
        [`token_sell_tx_count_${w}`]: sells,
        [`token_makers_${w}`]: makers,
        [`token_buyers_${w}`]: buyers,
        [`token_sellers_${w}`]: sellers,
      }
    }),
  )
}

export function changeToday(windows: ExpectedWindows | undefined): string | undefined {
  return percent(windows?.priceUsd, windows?.dayOpenUsd)
}

export function change24h(windows: ExpectedWindows | undefined): string | undefined {
  return percent(windows?.priceUsd, windows?.sums['24h'].openUsd)
}

/** Values of a token that never traded. */
export function volumeUsd(windows: ExpectedWindows | undefined): bigint | undefined {
  return windows && windows.sums['24h'].buyUsd + windows.sums['24h'].sellUsd
}
