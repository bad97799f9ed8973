import { decodeEventLog, type Hex, type TransactionReceipt } from 'viem'
import { uniswapV2Factory, uniswapV2Pair } from '../../dev/market/artifacts.ts'
import type { Market } from '../../dev/market/market.ts'

/**
 * What the answers must be, computed from the node's receipts alone. Nothing of `src/` is used: the events are
 * decoded by the exchange's own ABI, and the arithmetic is written out again here, so that a mistake in the
 * product cannot hide in its expectation.
 */

const INTERVALS = {
  s1: 1,
  k1: 60,
  k5: 300,
  k15: 900,
  k30: 1800,
  k60: 3600,
  k120: 7200,
  k240: 14_400,
  k1440: 86_400,
}
const PRICE = 40
const VALUE = 18

import { CountedPrice } from './counted-price.ts'

export type TokenInfo = { address: string; symbol: string; name: string; decimals: number; supply: bigint }

export type Bar = { open: string; high: string; low: string; close: string; volume: string; time: number }

export type Expected = {
  /** Pushes of topic `tx`, by pair, in order. */
  swaps: Map<string, Record<string, unknown>[]>
  /** `<interval>/<start>` to candle, by pair. */
  candles: Map<string, Map<string, { usd: Bar; eth: Bar }>>
  pairs: Map<string, PairState>
  nativeUsd: bigint
}

export type PairState = {
  address: string
  token0: TokenInfo
  token1: TokenInfo
  reserve0: bigint
  reserve1: bigint
  init0: bigint
  init1: bigint
  createdAt: number
  updatedAt: number
  firstTradeAt: number | undefined
  lastTradeAt: number | undefined
  lastPrice: bigint
  ath: bigint
  direction: string
  target: TokenInfo
  /** Pool prices in dollars and native coins. */
  usd0: bigint
  usd1: bigint
  eth0: bigint
  eth1: bigint
  tvlUsd: bigint
  tvlEth: bigint
  /** Quote coins for one target, as it counts for others. */
  counted: CountedPrice
  /** By that, the target's price in dollars. */
  targetUsd: bigint
}

export async function expectedMarket(
  market: Market,
  tokens: readonly TokenInfo[],
  stable: string,
  lastBlock: number,
): Promise<Expected> {
  const native = market.weth.toLowerCase()
  const info = new Map(tokens.map((token) => [token.address, token]))
  const expected: Expected = { swaps: new Map(), candles: new Map(), pairs: new Map(), nativeUsd: 0n }
  for (let number = 1; number <= lastBlock; number++) {
    const time = await market.timeOf(number)
    for (const receipt of await market.receipts(number)) {
      for (const log of receipt.logs) {
        const address = log.address.toLowerCase()
        const pair = expected.pairs.get(address)
        if (address === market.factory.toLowerCase()) {
          const event = decodeEventLog({ abi: uniswapV2Factory.abi, data: log.data, topics: log.topics })
          // One parameter has no name, so the decoder gives a list.
          const args = event.args as unknown as readonly [Hex, Hex, Hex]
          const created = newPair(args, info, native, stable, time)
          expected.pairs.set(created.address, created)
        } else if (pair !== undefined) {
          const event = decodeEventLog({ abi: uniswapV2Pair.abi, data: log.data, topics: log.topics })
          if (event.eventName === 'Sync') sync(expected, pair, event.args as never, native, time)
          if (event.eventName === 'Swap') {
            swap(expected, pair, event.args as never, receipt, log.logIndex, native, time)
          }
        }
      }
    }
    endBlock(expected, native, stable)
  }
  return expected
}

/** Only now does what happened in the block count for others. */
function endBlock(expected: Expected, native: string, stable: string): void {
  const changed = [...expected.pairs.values()].filter((pair) => pair.counted.endBlock())
  for (const { target, token0, token1, counted } of changed) {
    const isAnchor = target.address === native && [token0.address, token1.address].includes(stable)
    if (isAnchor) expected.nativeUsd = counted.value ?? 0n
  }
  for (const pair of changed) {
    const quote = pair.target === pair.token0 ? pair.token1 : pair.token0
    const { usd } = worth(quote.address, expected.nativeUsd, native)
    pair.targetUsd = ((pair.counted.value ?? 0n) * usd) / one()
  }
}

function newPair(
  [address0, address1, address]: readonly [Hex, Hex, Hex],
  info: ReadonlyMap<string, TokenInfo>,
  native: string,
  stable: string,
  time: number,
): PairState {
  const token0 = get(info, address0.toLowerCase())
  const token1 = get(info, address1.toLowerCase())
  // Against the stablecoin everything else is the target; against the native coin every token but the stablecoin.
  const quote = [token0, token1].some(({ address }) => address === stable) ? stable : native
  return {
    address: address.toLowerCase(),
    token0,
    token1,
    reserve0: 0n,
    reserve1: 0n,
    init0: 0n,
    init1: 0n,
    createdAt: time,
    updatedAt: time,
    firstTradeAt: undefined,
    lastTradeAt: undefined,
    lastPrice: 0n,
    ath: 0n,
    direction: '',
    target: token0.address === quote ? token1 : token0,
    usd0: 0n,
    usd1: 0n,
    eth0: 0n,
    eth1: 0n,
    tvlUsd: 0n,
    tvlEth: 0n,
    counted: new CountedPrice(),
    targetUsd: 0n,
  }
}

function sync(
  expected: Expected,
  pair: PairState,
  args: { reserve0: bigint; reserve1: bigint },
  native: string,
  time: number,
): void {
  pair.reserve0 = args.reserve0
  pair.reserve1 = args.reserve1
  pair.init0 ||= args.reserve0
  pair.init1 ||= args.reserve1
  pair.updatedAt = time
  const targetIs0 = pair.target === pair.token0
  const quote = targetIs0 ? pair.token1 : pair.token0
  const targetReserve = targetIs0 ? pair.reserve0 : pair.reserve1
  const quoteReserve = targetIs0 ? pair.reserve1 : pair.reserve0
  const inQuote = ratio(quoteReserve, quote.decimals, targetReserve, pair.target.decimals)
  pair.counted.ask(inQuote)
  const { usd: quoteUsd, eth: quoteEth } = worth(quote.address, expected.nativeUsd, native)
  const targetUsd = (inQuote * quoteUsd) / 10n ** BigInt(PRICE)
  const targetEth = pair.target.address === native ? one() : (inQuote * quoteEth) / 10n ** BigInt(PRICE)
  pair.usd0 = targetIs0 ? targetUsd : quoteUsd
  pair.usd1 = targetIs0 ? quoteUsd : targetUsd
  pair.eth0 = targetIs0 ? targetEth : quoteEth
  pair.eth1 = targetIs0 ? quoteEth : targetEth
  const { token0, token1, reserve0, reserve1 } = pair
  pair.tvlUsd = value(reserve0, token0.decimals, pair.usd0) + value(reserve1, token1.decimals, pair.usd1)
  pair.tvlEth = value(reserve0, token0.decimals, pair.eth0) + value(reserve1, token1.decimals, pair.eth1)
}

function swap(
  expected: Expected,
  pair: PairState,
  args: {
    sender: Hex
    to: Hex
    amount0In: bigint
    amount1In: bigint
    amount0Out: bigint
    amount1Out: bigint
  },
  receipt: TransactionReceipt,
  logIndex: number,
  native: string,
  time: number,
): void {
  const sells0 = args.amount0In > args.amount0Out
  const amount0 = sells0 ? args.amount0In - args.amount0Out : args.amount0Out - args.amount0In
  const amount1 = sells0 ? args.amount1Out - args.amount1In : args.amount1In - args.amount1Out
  const targetIs0 = pair.target === pair.token0
  const quote = targetIs0 ? pair.token1 : pair.token0
  const targetRaw = targetIs0 ? amount0 : amount1
  const quoteRaw = targetIs0 ? amount1 : amount0
  const { usd: quoteUsd, eth: quoteEth } = worth(quote.address, expected.nativeUsd, native)
  const inQuote = ratio(quoteRaw, quote.decimals, targetRaw, pair.target.decimals)
  const isNative = pair.target.address === native
  const priceUsd = (inQuote * quoteUsd) / one()
  const priceEth = isNative ? one() : (inQuote * quoteEth) / one()
  const valueUsd = value(quoteRaw, quote.decimals, quoteUsd)
  const valueEth = isNative ? value(targetRaw, 18, one()) : value(quoteRaw, quote.decimals, quoteEth)
  const direction = sells0 === targetIs0 ? 'sell' : 'buy'
  pair.firstTradeAt ??= time
  pair.lastTradeAt = time
  pair.lastPrice = priceUsd
  pair.direction = direction
  if (priceUsd > pair.ath) pair.ath = priceUsd

  const side = (is0: boolean) => {
    const token = is0 ? pair.token0 : pair.token1
    const isTarget = token === pair.target
    return {
      address: token.address,
      symbol: token.symbol,
      amount: decimal(is0 ? amount0 : amount1, token.decimals),
      reserve: decimal(is0 ? pair.reserve0 : pair.reserve1, token.decimals),
      usd: decimal(isTarget ? priceUsd : quoteUsd, PRICE),
      eth: decimal(isTarget ? priceEth : quoteEth, PRICE),
    }
  }
  const from = side(sells0)
  const to = side(!sells0)
  const block = Number(receipt.blockNumber)
  const six = (index: number): string => String(index).padStart(6, '0')
  const push = {
    amm: 'uniswap_v2',
    amount_eth: decimal(valueEth, VALUE),
    amount_usd: decimal(valueUsd, VALUE),
    block_number: block,
    chain: 'local',
    from_address: from.address,
    from_amount: from.amount,
    from_price_eth: from.eth,
    from_price_usd: from.usd,
    from_reserve: from.reserve,
    from_symbol: from.symbol,
    id: `${block}-${logIndex}`,
    pair_address: pair.address,
    pair_liquidity_eth: decimal(pair.tvlEth, VALUE),
    pair_liquidity_usd: decimal(pair.tvlUsd, VALUE),
    sender: args.sender.toLowerCase(),
    target_token: pair.target.address,
    time,
    to: args.to.toLowerCase(),
    to_address: to.address,
    to_amount: to.amount,
    to_price_eth: to.eth,
    to_price_usd: to.usd,
    to_reserve: to.reserve,
    to_symbol: to.symbol,
    transaction: receipt.transactionHash,
    tx_seq: `${block}${six(receipt.transactionIndex)}${six(logIndex)}`,
    tx_swap_type: direction === 'buy' ? 0 : 1,
    wallet_address: receipt.from.toLowerCase(),
    wallet_tag: null,
  }
  append(expected.swaps, pair.address, push)
  const candles = expected.candles.get(pair.address) ?? new Map<string, { usd: Bar; eth: Bar }>()
  expected.candles.set(pair.address, candles)
  const starts = Object.entries(INTERVALS).map(([name, seconds]) => [name, time - (time % seconds)] as const)
  for (const [name, start] of [...starts, ['k10080', monday(time)] as const]) {
    const known = candles.get(`${name}/${start}`)
    candles.set(`${name}/${start}`, {
      usd: extend(known?.usd, start, priceUsd, valueUsd),
      eth: extend(known?.eth, start, priceEth, valueEth),
    })
  }
}

const bars = new WeakMap<Bar, { high: bigint; low: bigint; volume: bigint }>()

function extend(known: Bar | undefined, time: number, price: bigint, volume: bigint): Bar {
  const before = known === undefined ? undefined : bars.get(known)
  const high = before === undefined || price > before.high ? price : before.high
  const low = before === undefined || price < before.low ? price : before.low
  const total = (before?.volume ?? 0n) + volume
  const bar = {
    open: known?.open ?? decimal(price, PRICE),
    high: decimal(high, PRICE),
    low: decimal(low, PRICE),
    close: decimal(price, PRICE),
    volume: decimal(total, VALUE),
    time,
  }
  bars.set(bar, { high, low, volume: total })
  return bar
}

/** The Monday of that week, by the calendar. */
function monday(time: number): number {
  const date = new Date(time * 1000)
  const daysSince = (date.getUTCDay() + 6) % 7
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() - daysSince) / 1000
}

function worth(quote: string, nativeUsd: bigint, native: string): { usd: bigint; eth: bigint } {
  if (quote === native) return { usd: nativeUsd, eth: one() }
  return { usd: one(), eth: nativeUsd === 0n ? 0n : 10n ** BigInt(2 * PRICE) / nativeUsd }
}

/** Whole quote coins for one whole base coin. */
function ratio(quoteRaw: bigint, quoteDecimals: number, baseRaw: bigint, baseDecimals: number): bigint {
  return (quoteRaw * 10n ** BigInt(PRICE + baseDecimals)) / (baseRaw * 10n ** BigInt(quoteDecimals))
}

function value(raw: bigint, decimals: number, price: bigint): bigint {
  return (raw * price) / 10n ** BigInt(decimals + PRICE - VALUE)
}

function one(): bigint {
  return 10n ** BigInt(PRICE)
}

export function decimal(fixed: bigint, digits: number): string {
  const text = fixed.toString().padStart(digits + 1, '0')
  const whole = text.slice(0, text.length - digits)
  const fraction = text.slice(text.length - digits).replace(/0+$/, '')
  return fraction === '' ? whole : `${whole}.${fraction}`
}

function get<K, V>(map: ReadonlyMap<K, V>, key: K): V {
  const found = map.get(key)
  if (found === undefined) throw new Error(`no ${String(key)}`)
  return found
}

function append<K, V>(map: Map<K, V[]>, key: K, item: V): void {
  map.set(key, [...(map.get(key) ?? []), item])
}
