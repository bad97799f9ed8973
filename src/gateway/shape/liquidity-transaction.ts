import type { LiquidityEvent } from '../../domain/change.ts'
import { publicEventId } from '../../domain/order-key.ts'
import { amountText, priceText, valueText } from './wire-values.ts'

/** `result` of a `liq` push. */
export function liquidityPush(chain: string, event: LiquidityEvent) {
  return { id: event.pair, topic: 'liq', liq: liquidityTransaction(chain, event) }
}

export function liquidityTransaction(chain: string, event: LiquidityEvent) {
  const { side0, side1 } = event
  return {
    id: publicEventId(event.key),
    time: event.time,
    block_number: event.key.block,
    chain,
    transaction: event.transaction,
    amm: event.amm,
    sender: event.provider,
    wallet_address: event.wallet,
    pair_address: event.pair,
    type: event.kind,
    amount_usd: valueText(event.valueUsd),
    amount_eth: valueText(event.valueNative),
    pair_liquidity_usd: valueText(event.liquidityUsd),
    pair_liquidity_eth: valueText(event.liquidityNative),
    token0_address: side0.token,
    token0_symbol: side0.symbol,
    token0_price_usd: priceText(side0.priceUsd),
    token0_price_eth: priceText(side0.priceNative),
    amount0: amountText(side0.amountRaw, side0.decimals),
    reserve0: amountText(side0.reserveRaw, side0.decimals),
    token1_address: side1.token,
    token1_symbol: side1.symbol,
    token1_price_usd: priceText(side1.priceUsd),
    token1_price_eth: priceText(side1.priceNative),
    amount1: amountText(side1.amountRaw, side1.decimals),
    reserve1: amountText(side1.reserveRaw, side1.decimals),
  }
}
