import type { Pair, Token, Windows } from '../../domain/change.ts'
import {
  amount24h,
  type ChainTimes,
  change1d,
  change24h,
  count24h,
  makers24h,
  pairWindows,
  type SeenWindows,
  tokenWindows,
  volume24h,
} from './windows.ts'
import { amountText, priceText, valueText } from './wire-values.ts'

/** Inputs of a price entry: the pair, its target token, and its windows, as far as they are known. */
export type PricedPair = {
  readonly chain: string
  readonly pair: Pair
  readonly target: Token | undefined
  readonly windows: Windows | undefined
  readonly times: ChainTimes | undefined
}

/** `result` of a `price` push. */
export function pricePush(prices: readonly ReturnType<typeof priceEntry>[]) {
  return { prices, topic: 'price' }
}

/** Inputs of a quote asset's price entry: the token, its windows over all pairs, and its main pair. */
export type PricedQuote = {
  readonly chain: string
  readonly pair: Pair
  readonly token: Token
  readonly windows: Windows | undefined
  readonly times: ChainTimes | undefined
}

/**
 * What a `price` subscription says of a quote asset that is its main pair's quote: the numbers are those of the token
 * over all its pairs, seen from the token, which stands in `target_token`. Only the reserves are the main pair's.
 */
export function quoteEntry({ chain, pair, token, windows, times }: PricedQuote) {
  const seen = tokenWindows(windows, token, times)
  const own = [pair.token0, pair.token1].find((side) => side.token === token.address)
  return {
    ...entryOf(chain, pair, token, seen),
    is_main_pair: true,
    target_token: token.address,
    last_price: priceText(own?.priceUsd),
    direction: pair.lastSide === undefined ? '' : pair.lastSide === 'buy' ? 'sell' : 'buy',
    time: token.updatedAt,
    tvl: valueText(token.tvlUsd),
    tx_amount_24h: amountText(amount24h(seen), token.decimals),
  }
}

/**
 * What a `price` subscription says of one pair. `uprice` is the target token's price, which no thin pool and no
 * flash loan moves; `last_price` is what was paid in this pair.
 */
export function priceEntry({ chain, pair, target, windows, times }: PricedPair) {
  return entryOf(chain, pair, target, pairWindows(windows, pair, times))
}

function entryOf(chain: string, pair: Pair, target: Token | undefined, seen: SeenWindows) {
  const { token0, token1, targetToken } = pair
  const traded = [token0, token1].find((side) => side.token === targetToken)
  const day = change24h(seen) ?? ''
  return {
    chain,
    pair: pair.address,
    is_main_pair: pair.isMain,
    target_token: targetToken ?? '',
    uprice: priceText(target?.priceUsd),
    last_price: priceText(pair.lastTradePriceUsd),
    reserve0: amountText(token0.reserveRaw, token0.decimals),
    reserve1: amountText(token1.reserveRaw, token1.decimals),
    price_change: change1d(seen) ?? '',
    price_change_24h: day,
    volume_24_u: valueText(volume24h(seen)),
    direction: pair.lastSide ?? '',
    time: pair.updatedAt,
    change: day,
    tvl: valueText(pair.tvlUsd),
    makers_24h: countText(makers24h(seen)),
    tx_amount_24h: amountText(amount24h(seen), traded?.decimals),
    tx_count_24h: countText(count24h(seen)),
  }
}

function countText(count: number | undefined): string {
  return count === undefined ? '' : String(count)
}
