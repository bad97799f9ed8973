import { price, value } from './expected-numbers.ts'
import type { ExpectedLiquidity, ExpectedTrade } from './expected-pools.ts'
import type { Row } from './expected-rows.ts'
import type { ExpectedSwitch } from './expected-tokens.ts'

/** A trade as it is stored, by columns. */
export function tradeColumns(trade: ExpectedTrade): Row {
  const { pool, prices, isZeroSold } = trade
  const side = (is0: boolean, name: string) => ({
    [`${name}_token`]: (is0 ? pool.token0 : pool.token1).address,
    [`${name}_symbol`]: (is0 ? pool.token0 : pool.token1).symbol,
    [`${name}_amount_raw`]: String(is0 ? trade.raw0 : trade.raw1),
    [`${name}_reserve_raw`]: String(is0 ? trade.reserve0 : trade.reserve1),
    [`${name}_price_usd`]: price((is0 ? prices.price0 : prices.price1).usd) ?? null,
    [`${name}_price_native`]: price((is0 ? prices.price0 : prices.price1).eth) ?? null,
  })
  return {
    pair: pool.id,
    block: String(trade.block),
    tx: trade.tx,
    log: trade.log,
    amm: pool.amm,
    transaction: trade.transaction,
    sender: trade.sender,
    recipient: trade.recipient,
    wallet: trade.wallet,
    side: trade.side ?? null,
    ...side(isZeroSold, 'sold'),
    ...side(!isZeroSold, 'bought'),
    value_usd: value(trade.value.usd) ?? null,
    value_native: value(trade.value.eth) ?? null,
    liquidity_usd: value(trade.tvl.usd) ?? null,
    liquidity_native: value(trade.tvl.eth) ?? null,
  }
}

/** A liquidity event likewise. */
export function liquidityColumns(event: ExpectedLiquidity): Row {
  const { pool } = event
  return {
    pair: pool.id,
    block: String(event.block),
    tx: event.tx,
    log: event.log,
    kind: event.kind,
    amm: pool.amm,
    transaction: event.transaction,
    provider: event.provider,
    wallet: event.wallet,
    token0: pool.token0.address,
    token0_amount_raw: String(event.raw0),
    token0_reserve_raw: String(event.reserve0),
    token0_price_usd: price(event.prices.price0.usd) ?? null,
    token1: pool.token1.address,
    token1_amount_raw: String(event.raw1),
    token1_reserve_raw: String(event.reserve1),
    token1_price_usd: price(event.prices.price1.usd) ?? null,
    value_usd: value(event.value.usd) ?? null,
    value_native: value(event.value.eth) ?? null,
    liquidity_usd: value(event.tvl.usd) ?? null,
  }
}

export function switchColumns(one: ExpectedSwitch): Row {
  const { token, block, oldPair, newPair, reason } = one
  return { token, block: String(block), old_pair: oldPair, new_pair: newPair, reason }
}
