import type { Trade } from '../../domain/change.ts'
import { formatOrderKey, publicEventId } from '../../domain/order-key.ts'
import { walletProfile } from './wallet-profile.ts'
import { amountText, priceText, valueText } from './wire-values.ts'

/** Without a target token there is nothing to buy or sell, and 0 would claim a buy. */
const UNKNOWN_SWAP_TYPE = -1
const SWAP_TYPE = { buy: 0, sell: 1 } as const

/** `result` of a `tx` push. */
export function swapPush(chain: string, trade: Trade) {
  return { id: trade.pair, topic: 'tx', tx: swapTransaction(chain, trade) }
}

/** The same for `multi_tx` subscribers: without the fields that only the pair-based push has. */
export function tokenSwapPush(chain: string, trade: Trade) {
  const { tx_seq, profile, ...tx } = swapTransaction(chain, trade)
  return { id: trade.pair, topic: 'tx', tx }
}

export function swapTransaction(chain: string, trade: Trade): SwapTransaction {
  const profile = walletProfile(trade)
  const fields = listedFields(chain, trade)
  return profile === undefined ? fields : { ...fields, profile }
}

/** `profile` is present only if a holding of the wallet is known. */
type SwapTransaction = ReturnType<typeof listedFields> & { profile?: string }

function listedFields(chain: string, trade: Trade) {
  const { sold, bought } = trade
  return {
    amm: trade.amm,
    amount_eth: valueText(trade.valueNative),
    amount_usd: valueText(trade.valueUsd),
    block_number: trade.key.block,
    chain,
    from_address: sold.token,
    from_amount: amountText(sold.amountRaw, sold.decimals),
    from_price_eth: priceText(sold.priceNative),
    from_price_usd: priceText(sold.priceUsd),
    from_reserve: amountText(sold.reserveRaw, sold.decimals),
    from_symbol: sold.symbol,
    id: publicEventId(trade.key),
    pair_address: trade.pair,
    pair_liquidity_eth: valueText(trade.liquidityNative),
    pair_liquidity_usd: valueText(trade.liquidityUsd),
    sender: trade.sender,
    target_token: trade.targetToken ?? '',
    time: trade.time,
    to: trade.recipient,
    to_address: bought.token,
    to_amount: amountText(bought.amountRaw, bought.decimals),
    to_price_eth: priceText(bought.priceNative),
    to_price_usd: priceText(bought.priceUsd),
    to_reserve: amountText(bought.reserveRaw, bought.decimals),
    to_symbol: bought.symbol,
    transaction: trade.transaction,
    tx_seq: formatOrderKey(trade.key),
    tx_swap_type: trade.side === undefined ? UNKNOWN_SWAP_TYPE : SWAP_TYPE[trade.side],
    wallet_address: trade.wallet,
    wallet_tag: null,
  }
}
