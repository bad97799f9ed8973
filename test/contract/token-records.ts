import { PAIR_WINDOWS } from './pair-records.ts'
import { type Kind, LISTED, OPTIONAL, OURS, ofWindows, type Row, type Shape, UNKNOWN } from './record.ts'

const TOKEN_INFO: readonly Row[] = [
  ['name', 'text', LISTED],
  ['symbol', 'text', LISTED],
  ['chain', 'text', LISTED],
  ['current_price_usd', 'decimal', LISTED],
  ['market_cap', 'decimal', LISTED],
  ['holders', 'count', LISTED],
  ['tvl', 'decimal', LISTED],
  ['logo_url', 'text', LISTED],
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
      inner: {
        pairs: { arrayOf: { rows: TOKEN_PAIR, inner: UNKNOWN }, max: 5 },
        token: { rows: TOKEN_INFO, inner: UNKNOWN },
      },
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
  ['market_cap', 'decimal', OURS],
  ['fdv', 'decimal', OURS],
  ['tvl', 'decimal', OURS],
  ['main_pair', 'address', OURS],
  ['main_pair_tvl', 'decimal', OURS],
  ['tx_volume_u_24h', 'decimal', OURS],
  ['tx_amount_24h', 'decimal', OURS],
  ['tx_count_24h', 'count', OURS],
  ['holders', 'count', OURS],
  ['launch_at', 'time', OURS],
  ['created_at', 'time', OURS],
  ['updated_at', 'time', OURS],
  ['launch_price', 'decimal', OURS],
  ['burn_amount', 'decimal', OURS],
  ['lock_amount', 'decimal', OURS],
  ['logo_url', 'text', OURS],
  // Only of what was launched by a platform.
  ['issue_platform', 'text', OPTIONAL],
  ['platform_progress', 'decimal', OPTIONAL],
  ['risk_score', 'count', OURS],
  ['is_honeypot', 'integer', OURS],
  ['is_mintable', 'integer', OURS],
]

export const TOKEN_ROW: Shape = { rows: [...TOKEN_ROW_FIELDS, ...TOKEN_WINDOWS], inner: UNKNOWN }

/** Whether it only looks like another one is known of what was found by its symbol. */
export const FOUND_TOKEN_ROW: Shape = {
  rows: [...TOKEN_ROW_FIELDS, ...TOKEN_WINDOWS, ['is_impostor', 'boolean', OPTIONAL]],
  inner: UNKNOWN,
}

/** What the document lists of a MainToken; the rest of the row is ours. */
const MAIN_TOKEN_FIELDS: readonly Row[] = [
  ['token', 'address', LISTED],
  ['chain', 'text', LISTED],
  ['name', 'text', LISTED],
  ['symbol', 'text', LISTED],
  ['current_price_usd', 'decimal', LISTED],
  ['market_cap', 'decimal', LISTED],
  ['holders', 'count', LISTED],
  ['tvl', 'decimal', OURS],
  ['logo_url', 'text', LISTED],
  ['updated_at', 'time', LISTED],
]
const LISTED_OF_MAIN = new Set(MAIN_TOKEN_FIELDS.map(([name]) => name))

export const MAIN_TOKEN: Shape = {
  rows: [
    ...MAIN_TOKEN_FIELDS,
    ...TOKEN_ROW_FIELDS.filter(([name]) => !LISTED_OF_MAIN.has(name)),
    ...TOKEN_WINDOWS,
  ],
  inner: UNKNOWN,
}

export const TRENDING: Shape = {
  rows: [
    ['current_page_size', 'count', LISTED],
    ['next_page', 'integer', LISTED],
    ['total', 'count', OURS],
  ],
  inner: {
    tokens: {
      arrayOf: {
        rows: [...TOKEN_ROW_FIELDS, ...TOKEN_WINDOWS],
        inner: UNKNOWN,
        onRequest: {
          trending: {
            rows: [
              ['version', { is: 1 }, OURS],
              ['score', 'count', OURS],
            ],
            inner: {
              factors: {
                arrayOf: {
                  rows: [
                    ['name', 'text', OURS],
                    ['points', 'integer', OURS],
                  ],
                },
              },
            },
          },
        },
      },
      max: 100,
    },
  },
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
    ['market_cap', 'decimal', OURS],
    ['holders', 'count', OURS],
    ['updated_at', 'time', OURS],
  ],
  inner: UNKNOWN,
}

const YES_OR_NO: Kind = { oneOf: [0, 1] }

/** The ten largest holders. */
const HOLDERS_RANK: Shape = {
  arrayOf: {
    rows: [
      ['address', 'address', OURS],
      ['quantity', 'decimal', OURS],
      ['percent', 'decimal', OURS],
      ['is_contract', YES_OR_NO, OURS],
      ['is_lp', YES_OR_NO, OURS],
      ['mark', 'text', OURS],
    ],
  },
  max: 10,
}

export const CONTRACT_FIELDS: readonly Row[] = [
  ['token', 'address', OURS],
  ['chain', 'text', OURS],
  ['token_name', 'text', OURS],
  ['token_symbol', 'text', OURS],
  ['decimal', 'count', OURS],
  ['total', 'decimal', OURS],
  ['holders', 'count', OURS],
  // Only of contracts that name one.
  ['owner', 'address', OPTIONAL],
  ['owner_percent', 'decimal', OPTIONAL],
  ['creator_address', 'address', OURS],
  ['creator_percent', 'decimal', OURS],
  ['is_proxy', YES_OR_NO, OURS],
  ['has_mint_method', YES_OR_NO, OURS],
  ['has_black_method', YES_OR_NO, OURS],
  ['transfer_pausable', YES_OR_NO, OURS],
  ['slippage_modifiable', YES_OR_NO, OURS],
  ['can_take_back_ownership', YES_OR_NO, OURS],
  ['hidden_owner', YES_OR_NO, OURS],
  ['selfdestruct', YES_OR_NO, OURS],
  ['external_call', YES_OR_NO, OURS],
  // Only of a Solana token with metadata.
  ['metadata_mutable', YES_OR_NO, OPTIONAL],
  // -1: not checked.
  ['is_honeypot', { oneOf: [1, 0, -1] }, OURS],
  ['buy_tax', 'decimal', OURS],
  ['sell_tax', 'decimal', OURS],
  ['transfer_tax', 'decimal', OURS],
  ['buy_gas', 'count', OURS],
  ['sell_gas', 'count', OURS],
  ['transfer_gas', 'count', OURS],
  ['token_lock_percent', 'decimal', OURS],
  ['pair_lock_percent', 'decimal', OURS],
  ['pair_holders', 'count', OURS],
  ['risk_level', { oneOf: [-1, 0, 1] }, OURS],
  ['risk_score', 'count', OURS],
  ['risk_version', { oneOf: [1, 2] }, OURS],
  ['checked_at_block', 'count', OURS],
  ['checked_at', 'time', OURS],
]

export const CONTRACT: Shape = {
  rows: CONTRACT_FIELDS,
  inner: {
    ...UNKNOWN,
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
    token_holders_rank: HOLDERS_RANK,
    pair_holders_rank: HOLDERS_RANK,
    risk_factors: {
      arrayOf: {
        rows: [
          ['code', 'text', OURS],
          ['points', 'count', OURS],
        ],
        inner: { evidence: { arrayOf: { kind: 'text' } } },
      },
    },
  },
}
