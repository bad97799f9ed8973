import { PAIR_WINDOWS } from './pair-records.ts'
import {
  LISTED,
  LISTED_NOT_KNOWN_YET,
  OURS,
  OURS_NOT_KNOWN_YET,
  ofWindows,
  type Row,
  type Shape,
} from './record.ts'

const TOKEN_INFO: readonly Row[] = [
  ['name', 'text', LISTED],
  ['symbol', 'text', LISTED],
  ['chain', 'text', LISTED],
  ['current_price_usd', 'decimal', LISTED],
  ['market_cap', 'decimal', LISTED_NOT_KNOWN_YET],
  ['holders', 'count', LISTED_NOT_KNOWN_YET],
  ['tvl', 'decimal', LISTED],
  ['logo_url', 'text', LISTED_NOT_KNOWN_YET],
  ['updated_at', 'time', LISTED],
]

const TOKEN_WINDOW: readonly Row[] = [
  ['token_price_change_w', 'percent', OURS],
  ['token_tx_volume_usd_w', 'decimal', OURS],
  ['token_buy_tx_volume_usd_w', 'decimal', OURS],
  ['token_sell_tx_volume_usd_w', 'decimal', OURS],
  ['token_tx_count_w', 'count', OURS],
  ['token_buy_tx_count_w', 'count', OURS],
  ['token_sell_tx_count_w', 'count', OURS],
  ['token_makers_w', 'count', OURS],
  ['token_buyers_w', 'count', OURS],
  ['token_sellers_w', 'count', OURS],
]
const TOKEN_WINDOWS = ofWindows(TOKEN_WINDOW, ['5m', '1h', '4h', '24h'])

const TOKEN_PAIR: readonly Row[] = [
  ['amm', 'text', LISTED],
  ['chain', 'text', LISTED],
  ['pair', 'address', LISTED],
  ['price_change', 'percent', LISTED],
  ['price_change_24h', 'percent', LISTED],
  ['token0_symbol', 'text', LISTED],
  ['token1_symbol', 'text', LISTED],
  ['token0_price_usd', 'decimal', LISTED],
  ['token1_price_usd', 'decimal', LISTED],
  ['volume_u', 'decimal', LISTED],
  ['updated_at', 'time', LISTED],
  ['reserve0', 'decimal', OURS],
  ['reserve1', 'decimal', OURS],
  ['token0_address', 'address', OURS],
  ['token1_address', 'address', OURS],
  ['token0_decimal', 'count', OURS],
  ['token1_decimal', 'count', OURS],
  ['tvl', 'decimal', OURS],
  ...PAIR_WINDOWS.filter(([name]) => name !== 'price_change_24h'),
]

export const TOKEN_API_RESPONSE: Shape = {
  rows: [
    ['status', { is: 1 }, LISTED],
    ['msg', { is: 'SUCCESS' }, LISTED],
    ['data_type', { is: 1 }, LISTED],
  ],
  inner: {
    data: {
      rows: [['is_audited', 'boolean', LISTED]],
      inner: { pairs: { arrayOf: { rows: TOKEN_PAIR }, max: 5 }, token: { rows: TOKEN_INFO } },
    },
  },
}

/** All fields are required by the document. */
export const TOKEN_HOLDER: Shape = {
  rows: [
    ['holder', 'address', LISTED],
    ['balance_ratio', 'number', LISTED],
    ['balance_usd', 'number', LISTED],
    ['main_coin_balance', 'number', LISTED],
    ['address', 'address', LISTED],
    ['amount_cur', 'number', LISTED],
  ],
}

const TOKEN_ROW_FIELDS: readonly Row[] = [
  ['token', 'address', OURS],
  ['chain', 'text', OURS],
  ['name', 'text', OURS],
  ['symbol', 'text', OURS],
  ['decimal', 'count', OURS],
  ['total', 'decimal', OURS],
  ['current_price_usd', 'decimal', OURS],
  ['current_price_eth', 'decimal', OURS],
  ['price_change_1d', 'percent', OURS],
  ['price_change_24h', 'percent', OURS],
  ['market_cap', 'decimal', OURS_NOT_KNOWN_YET],
  ['fdv', 'decimal', OURS],
  ['tvl', 'decimal', OURS],
  ['main_pair', 'address', OURS],
  ['main_pair_tvl', 'decimal', OURS],
  ['tx_volume_u_24h', 'decimal', OURS],
  ['tx_amount_24h', 'decimal', OURS],
  ['tx_count_24h', 'count', OURS],
  ['holders', 'count', OURS_NOT_KNOWN_YET],
  ['launch_at', 'time', OURS_NOT_KNOWN_YET],
  ['created_at', 'time', OURS_NOT_KNOWN_YET],
  ['updated_at', 'time', OURS],
  ['launch_price', 'decimal', OURS_NOT_KNOWN_YET],
  ['burn_amount', 'decimal', OURS_NOT_KNOWN_YET],
  ['lock_amount', 'decimal', OURS_NOT_KNOWN_YET],
  ['logo_url', 'text', OURS_NOT_KNOWN_YET],
  ['issue_platform', 'text', OURS_NOT_KNOWN_YET],
  ['risk_score', 'number', OURS_NOT_KNOWN_YET],
  ['is_honeypot', 'integer', OURS_NOT_KNOWN_YET],
  ['is_mintable', 'integer', OURS_NOT_KNOWN_YET],
]

export const TOKEN_ROW: Shape = { rows: [...TOKEN_ROW_FIELDS, ...TOKEN_WINDOWS] }

/** What the document lists of a MainToken; the rest of the row is ours. */
const MAIN_TOKEN_FIELDS: readonly Row[] = [
  ['token', 'address', LISTED],
  ['chain', 'text', LISTED],
  ['name', 'text', LISTED],
  ['symbol', 'text', LISTED],
  ['current_price_usd', 'decimal', LISTED],
  ['market_cap', 'decimal', LISTED_NOT_KNOWN_YET],
  ['holders', 'count', LISTED_NOT_KNOWN_YET],
  ['tvl', 'decimal', OURS],
  ['logo_url', 'text', LISTED_NOT_KNOWN_YET],
  ['updated_at', 'time', LISTED],
]
const LISTED_OF_MAIN = new Set(MAIN_TOKEN_FIELDS.map(([name]) => name))

export const MAIN_TOKEN: Shape = {
  rows: [
    ...MAIN_TOKEN_FIELDS,
    ...TOKEN_ROW_FIELDS.filter(([name]) => !LISTED_OF_MAIN.has(name)),
    ...TOKEN_WINDOWS,
  ],
}

export const TRENDING: Shape = {
  rows: [
    ['current_page_size', 'count', LISTED],
    ['next_page', 'integer', LISTED],
    ['total', 'count', OURS],
  ],
  inner: { tokens: { arrayOf: TOKEN_ROW, max: 100 } },
}

export const TOKEN_PRICE: Shape = {
  rows: [
    ['token_id', 'id', OURS],
    ['current_price_usd', 'decimal', OURS],
    ['price_change_1d', 'percent', OURS],
    ['price_change_24h', 'percent', OURS],
    ['tvl', 'decimal', OURS],
    ['tx_volume_u_24h', 'decimal', OURS],
    ['fdv', 'decimal', OURS],
    ['market_cap', 'decimal', OURS_NOT_KNOWN_YET],
    ['holders', 'count', OURS_NOT_KNOWN_YET],
    ['updated_at', 'time', OURS],
  ],
}

export const CONTRACT: Shape = {
  rows: [
    ['token', 'address', OURS],
    ['chain', 'text', OURS],
    ['token_name', 'text', OURS],
    ['token_symbol', 'text', OURS],
    ['decimal', 'count', OURS],
    ['total', 'decimal', OURS],
    ['holders', 'count', OURS_NOT_KNOWN_YET],
    ['owner', 'address', OURS_NOT_KNOWN_YET],
    ['creator_address', 'address', OURS_NOT_KNOWN_YET],
    ['creator_percent', 'decimal', OURS_NOT_KNOWN_YET],
    ['is_proxy', 'integer', OURS_NOT_KNOWN_YET],
    ['has_mint_method', 'integer', OURS_NOT_KNOWN_YET],
    ['has_black_method', 'integer', OURS_NOT_KNOWN_YET],
    ['transfer_pausable', 'integer', OURS_NOT_KNOWN_YET],
    ['slippage_modifiable', 'integer', OURS_NOT_KNOWN_YET],
    ['can_take_back_ownership', 'integer', OURS_NOT_KNOWN_YET],
    ['hidden_owner', 'integer', OURS_NOT_KNOWN_YET],
    ['selfdestruct', 'integer', OURS_NOT_KNOWN_YET],
    ['external_call', 'integer', OURS_NOT_KNOWN_YET],
    // -1: not checked.
    ['is_honeypot', { is: -1 }, OURS],
    ['buy_tax', 'decimal', OURS_NOT_KNOWN_YET],
    ['sell_tax', 'decimal', OURS_NOT_KNOWN_YET],
    ['transfer_tax', 'decimal', OURS_NOT_KNOWN_YET],
    ['buy_gas', 'decimal', OURS_NOT_KNOWN_YET],
    ['sell_gas', 'decimal', OURS_NOT_KNOWN_YET],
    ['token_lock_percent', 'decimal', OURS_NOT_KNOWN_YET],
    ['pair_lock_percent', 'decimal', OURS_NOT_KNOWN_YET],
    ['pair_holders', 'count', OURS_NOT_KNOWN_YET],
    ['token_holders_rank', 'text', OURS_NOT_KNOWN_YET],
    ['pair_holders_rank', 'text', OURS_NOT_KNOWN_YET],
    ['risk_level', 'integer', OURS_NOT_KNOWN_YET],
    ['risk_score', 'number', OURS_NOT_KNOWN_YET],
    ['risk_factors', 'text', OURS_NOT_KNOWN_YET],
  ],
  inner: {
    dex: {
      arrayOf: {
        rows: [
          ['amm', 'text', OURS],
          ['pair', 'address', OURS],
          ['name', 'text', OURS],
          ['liquidity', 'decimal', OURS],
        ],
      },
    },
  },
}
