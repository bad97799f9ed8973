import assert from 'node:assert/strict'
import type { ExpectedAnswers } from './expected-answers.ts'
import { type IntervalName, startOf } from './expected-candles.ts'
import type { ExpectedChain } from './expected-chain.ts'
import { decimal, price, value } from './expected-numbers.ts'
import { targetOf } from './expected-pools.ts'
import { barTexts, CHAIN, change24h, changeToday, type Row, swapRow, volumeUsd } from './expected-rows.ts'

/** `tx` of a `multi_tx` push: without the fields that only the pair-based push has. */
export function tokenSwapRow(trade: Parameters<typeof swapRow>[0]): Row {
  const { tx_seq, ...row } = swapRow(trade)
  return row
}

/** `result` of the last push of each candle of a series that no fork has cut through. */
export function klineResults(
  expected: ExpectedChain,
  answers: ExpectedAnswers,
  pair: string,
  interval: IntervalName,
): Row[] {
  const trades = expected.tradesOf(pair)
  const decimals = targetOf(answers.pool(pair))?.decimals
  return answers.candles(pair, interval).map(({ start, usd, eth }) => {
    const last = trades.findLast(({ time }) => startOf(interval, time) === start)
    assert.ok(usd !== undefined && eth !== undefined && last !== undefined && decimals !== undefined)
    const windows = expected.pairWindows(pair, { number: last.block, time: last.time })
    const day = windows?.sums['24h']
    assert.ok(windows !== undefined && day !== undefined)
    const around = {
      amount_24h: decimal(windows.amountRaw, decimals),
      change: change24h(windows),
      change_v2: changeToday(windows),
      count_24h: String(day.buys + day.sells),
      high_24h: price(windows.highUsd),
      low_24h: price(windows.lowUsd),
      swap: '',
      volume_24h: value(volumeUsd(windows)),
    }
    return {
      id: `${pair}-${CHAIN}`,
      interval: interval.replace(/^k/, ''),
      kline: { eth: { ...barTexts(eth), time: start }, usd: { ...barTexts(usd), ...around, time: start } },
      topic: 'kline',
    }
  })
}

/** What is said of a main pair that was traded in the newest block. */
export function priceRow(expected: ExpectedChain, answers: ExpectedAnswers, pair: string): Row {
  const pool = answers.pool(pair)
  const [target, windows] = [targetOf(pool), expected.pairWindows(pair)]
  const { last, token0, token1 } = pool
  const day = windows?.sums['24h']
  assert.ok(target !== undefined && last?.time === expected.head.time && day !== undefined)
  return {
    chain: CHAIN,
    pair,
    is_main_pair: true,
    target_token: target.address,
    uprice: price(windows?.priceUsd),
    last_price: price((pool.target0 ? last.prices.price0 : last.prices.price1).usd),
    reserve0: decimal(pool.reserve0, token0.decimals),
    reserve1: decimal(pool.reserve1, token1.decimals),
    price_change: changeToday(windows),
    price_change_24h: change24h(windows),
    volume_24_u: value(volumeUsd(windows)),
    direction: last.side,
    time: last.time,
    change: change24h(windows),
    tvl: value(pool.tvl.usd),
    makers_24h: String(day.makers),
    tx_amount_24h: decimal(windows?.amountRaw ?? 0n, target.decimals),
    tx_count_24h: String(day.buys + day.sells),
  }
}
