import { OURS, ofWindows, type Row, type Shape, UNKNOWN } from './record.ts'

/** For each window w of a pair. */
const PAIR_WINDOW: readonly Row[] = [
  ['price_change_w', 'percent', OURS],
  ['volume_u_w', 'decimal', OURS],
  ['buy_volume_u_w', 'decimal', OURS],
  ['sell_volume_u_w', 'decimal', OURS],
  ['tx_w_count', 'count', OURS],
  ['buys_tx_w_count', 'count', OURS],
  ['sells_tx_w_count', 'count', OURS],
  ['makers_w', 'count', OURS],
  ['buyers_w', 'count', OURS],
  ['sellers_w', 'count', OURS],
]
export const PAIR_WINDOWS = ofWindows(PAIR_WINDOW, ['1m', '5m', '15m', '1h', '4h', '24h'])

export const PAIR_DETAIL: Shape = {
  rows: [
    ['pair', 'address', OURS],
    ['chain', 'text', OURS],
    ['amm', 'text', OURS],
    ['target_token', 'address', OURS],
    ['token0_address', 'address', OURS],
    ['token0_symbol', 'text', OURS],
    ['token0_decimal', 'count', OURS],
    ['token0_price_usd', 'decimal', OURS],
    ['token0_price_eth', 'decimal', OURS],
    ['token1_address', 'address', OURS],
    ['token1_symbol', 'text', OURS],
    ['token1_decimal', 'count', OURS],
    ['token1_price_usd', 'decimal', OURS],
    ['token1_price_eth', 'decimal', OURS],
    ['reserve0', 'decimal', OURS],
    ['reserve1', 'decimal', OURS],
    ['init_reserve0', 'decimal', OURS],
    ['init_reserve1', 'decimal', OURS],
    ['tvl', 'decimal', OURS],
    ['market_cap', 'decimal', OURS],
    ['fdv', 'decimal', OURS],
    ['created_at', 'time', OURS],
    ['updated_at', 'time', OURS],
    ['first_trade_at', 'time', OURS],
    ['last_trade_at', 'time', OURS],
    ['high_u', 'decimal', OURS],
    ['low_u', 'decimal', OURS],
    ['price_ath_u', 'decimal', OURS],
    ['is_main_pair', 'boolean', OURS],
    ...PAIR_WINDOWS,
  ],
  inner: UNKNOWN,
}
