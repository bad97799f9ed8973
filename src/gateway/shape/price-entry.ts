import type { Pair } from '../../domain/change.ts'
import { amountText, priceText, valueText } from './wire-values.ts'

/** `result` of a `price` push. */
export function pricePush(prices: readonly ReturnType<typeof priceEntry>[]) {
  return { prices, topic: 'price' }
}

/** What a `price` subscription says of one pair: the pool price and the last trade price of its target token. */
export function priceEntry(chain: string, pair: Pair) {
  const { token0, token1, targetToken } = pair
  const target = [token0, token1].find((side) => side.token === targetToken)
  return {
    chain,
    pair: pair.address,
    is_main_pair: pair.isMain,
    target_token: targetToken ?? '',
    uprice: priceText(target?.priceUsd),
    last_price: priceText(pair.lastTradePriceUsd),
    reserve0: amountText(token0.reserveRaw, token0.decimals),
    reserve1: amountText(token1.reserveRaw, token1.decimals),
    price_change: '',
    price_change_24h: '',
    volume_24_u: '',
    direction: pair.lastSide ?? '',
    time: pair.updatedAt,
    change: '',
    tvl: valueText(pair.tvlUsd),
    makers_24h: '',
    tx_amount_24h: '',
    tx_count_24h: '',
  }
}
