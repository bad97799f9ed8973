import { LISTED, OPTIONAL, OURS, type Row, type Shape } from './record.ts'

const SWAP: readonly Row[] = [
  ['amm', 'text', LISTED],
  ['amount_eth', 'decimal', LISTED],
  ['amount_usd', 'decimal', LISTED],
  ['block_number', 'count', LISTED],
  ['chain', 'text', LISTED],
  ['from_address', 'address', LISTED],
  ['from_amount', 'decimal', LISTED],
  ['from_price_eth', 'decimal', LISTED],
  ['from_price_usd', 'decimal', LISTED],
  ['from_reserve', 'decimal', LISTED],
  ['from_symbol', 'text', LISTED],
  ['id', 'id', LISTED],
  ['pair_address', 'address', LISTED],
  ['pair_liquidity_eth', 'decimal', LISTED],
  ['pair_liquidity_usd', 'decimal', LISTED],
  // Only where the chain reports the wallet's holdings.
  ['profile', 'text', OPTIONAL],
  ['sender', 'address', LISTED],
  ['target_token', 'address', LISTED],
  ['time', 'time', LISTED],
  ['to', 'address', LISTED],
  ['to_address', 'address', LISTED],
  ['to_amount', 'decimal', LISTED],
  ['to_price_eth', 'decimal', LISTED],
  ['to_price_usd', 'decimal', LISTED],
  ['to_reserve', 'decimal', LISTED],
  ['to_symbol', 'text', LISTED],
  ['transaction', 'hash', LISTED],
  ['tx_seq', 'decimal', LISTED],
  ['tx_swap_type', 'integer', LISTED],
  ['wallet_address', 'address', LISTED],
  ['wallet_tag', { is: null }, LISTED],
]

const LIQUIDITY: readonly Row[] = [
  ['id', 'id', LISTED],
  ['time', 'time', LISTED],
  ['block_number', 'count', LISTED],
  ['chain', 'text', LISTED],
  ['transaction', 'hash', LISTED],
  ['amm', 'text', LISTED],
  ['sender', 'address', LISTED],
  ['wallet_address', 'address', LISTED],
  ['pair_address', 'address', LISTED],
  ['type', 'text', LISTED],
  ['amount_usd', 'decimal', LISTED],
  ['amount_eth', 'decimal', LISTED],
  ['pair_liquidity_usd', 'decimal', LISTED],
  ['pair_liquidity_eth', 'decimal', LISTED],
  ...['0', '1'].flatMap((side): Row[] => [
    [`token${side}_address`, 'address', LISTED],
    [`token${side}_symbol`, 'text', LISTED],
    [`token${side}_price_usd`, 'decimal', LISTED],
    [`token${side}_price_eth`, 'decimal', LISTED],
    [`amount${side}`, 'decimal', LISTED],
    [`reserve${side}`, 'decimal', LISTED],
  ]),
]

const CURSORS: readonly Row[] = [
  ['next_cursor', 'text', OPTIONAL],
  ['cursor', 'text', OPTIONAL],
]
export const SWAP_PAGE: Shape = { rows: CURSORS, inner: { txs: { arrayOf: { rows: SWAP }, max: 1_000 } } }
export const LIQUIDITY_PAGE: Shape = {
  rows: CURSORS,
  inner: { txs: { arrayOf: { rows: LIQUIDITY }, max: 1_000 } },
}

export const KLINE: Shape = {
  rows: [
    ['time', 'time', OURS],
    ['open', 'decimal', OURS],
    ['high', 'decimal', OURS],
    ['low', 'decimal', OURS],
    ['close', 'decimal', OURS],
    ['volume', 'decimal', OURS],
    ['count', 'count', OURS],
    // An empty candle that was filled in has none.
    ['revision', 'count', OPTIONAL],
  ],
}

export const CHAIN: Shape = {
  rows: [
    ['chain', 'text', OURS],
    ['family', 'text', OURS],
  ],
  inner: { amms: { arrayOf: { kind: 'text' } }, main_tokens: { arrayOf: { kind: 'address' } } },
}

const QUANTILES: Shape = {
  rows: [
    ['p50', 'count', OURS],
    ['p99', 'count', OURS],
  ],
}

export const STATUS: Shape = {
  rows: [['time', 'time', OURS]],
  inner: {
    chains: {
      arrayOf: {
        rows: [
          ['chain', 'text', OURS],
          ['block', 'count', OURS],
          ['block_time', 'time', OURS],
          ['final_block', 'count', OURS],
          ['lag_ms', 'count', OURS],
          ['is_complete', 'boolean', OURS],
          ['is_available', 'boolean', OURS],
          ['generation', 'count', OURS],
        ],
        inner: {
          faults: {
            arrayOf: {
              rows: [
                ['role', 'text', OURS],
                ['code', 'text', OURS],
                ['since', 'time', OURS],
              ],
            },
          },
          quarantined: {
            arrayOf: {
              rows: [
                ['log', 'text', OURS],
                ['sequence', 'count', OURS],
              ],
            },
          },
        },
        // After the first run of a reconciler, during a refold, and while live blocks are pushed.
        onRequest: {
          freshness: {
            rows: [['window_seconds', 'count', OURS]],
            inner: {
              block_to_push_ms: QUANTILES,
              announcement_to_push_ms: QUANTILES,
            },
          },
          refold: {
            rows: [
              ['generation', 'count', OURS],
              ['state', 'text', OURS],
            ],
          },
          reconciliation: {
            rows: [
              ['time', 'time', OURS],
              ['from_block', 'count', OURS],
              ['to_block', 'count', OURS],
              ['node_blocks', 'count', OURS],
              ['rows', 'count', OURS],
              ['documents', 'count', OURS],
              ['skipped_documents', 'count', OURS],
              ['differences', 'count', OURS],
            ],
          },
        },
      },
    },
  },
}

export const USAGE: Shape = {
  rows: [
    ['plan', 'text', OURS],
    ['month', 'text', OURS],
    ['cu_limit', 'count', OURS],
    ['cu_used', 'count', OURS],
    ['cu_remaining', 'count', OURS],
    ['reset_at', 'count', OURS],
  ],
  inner: {
    days: {
      arrayOf: {
        rows: [['day', 'text', OURS]],
        inner: {
          operations: {
            arrayOf: {
              rows: [
                ['operation', 'text', OURS],
                ['requests', 'count', OURS],
                ['cu', 'count', OURS],
              ],
            },
          },
        },
      },
    },
  },
}

/** The datafeed: the names are those that the charting library expects. */
export const UDF_CONFIG: Shape = {
  rows: [
    ['supports_search', { is: true }, LISTED],
    ['supports_group_request', { is: false }, LISTED],
    ['supports_marks', 'boolean', LISTED],
    ['supports_timescale_marks', 'boolean', LISTED],
    ['supports_time', { is: true }, LISTED],
  ],
  inner: { supported_resolutions: { arrayOf: { kind: 'text' } } },
}

export const UDF_SYMBOL: Shape = {
  rows: [
    ['ticker', 'id', LISTED],
    ['name', 'text', LISTED],
    ['description', 'text', LISTED],
    ['type', { is: 'crypto' }, LISTED],
    ['session', { is: '24x7' }, LISTED],
    ['timezone', { is: 'Etc/UTC' }, LISTED],
    ['exchange', 'text', LISTED],
    ['listed_exchange', 'text', LISTED],
    ['minmov', { is: 1 }, LISTED],
    ['pricescale', 'count', LISTED],
    ['has_intraday', { is: true }, LISTED],
    ['has_seconds', { is: true }, LISTED],
    ['has_daily', { is: true }, LISTED],
    ['has_weekly_and_monthly', { is: true }, LISTED],
    ['data_status', { is: 'streaming' }, LISTED],
  ],
  inner: {
    supported_resolutions: { arrayOf: { kind: 'text' } },
    seconds_multipliers: { arrayOf: { kind: 'text' } },
  },
}

export const UDF_FOUND: Shape = {
  rows: [
    ['symbol', 'id', LISTED],
    ['full_name', 'text', LISTED],
    ['description', 'text', LISTED],
    ['exchange', 'text', LISTED],
    ['ticker', 'id', LISTED],
    ['type', { is: 'crypto' }, LISTED],
  ],
}

export const UDF_HISTORY: Shape = {
  rows: [['s', { is: 'ok' }, LISTED]],
  inner: {
    t: { arrayOf: { kind: 'time' }, max: 1_000 },
    ...Object.fromEntries(
      ['o', 'h', 'l', 'c', 'v'].map((name) => [name, { arrayOf: { kind: 'number' as const } }]),
    ),
  },
}
