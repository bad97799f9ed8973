import type { Form, Names } from './ws-form.ts'

/**
 * Every push of the interface document's WebSocket part, and of what was decided where it is silent. It is
 * written by hand from these two, so that it can disagree with the code.
 */

const tokenSwap: Form = {
  ...{
    amm: 'string!',
    amount_eth: 'decimal',
    amount_usd: 'decimal',
    block_number: 'integer',
    chain: '"local"',
  },
  ...{
    from_address: 'address',
    from_amount: 'decimal',
    from_price_eth: 'decimal',
    from_price_usd: 'decimal',
  },
  ...{ from_reserve: 'decimal', from_symbol: 'string!', id: 'event id', pair_address: 'address' },
  ...{
    pair_liquidity_eth: 'decimal',
    pair_liquidity_usd: 'decimal',
    sender: 'address',
    target_token: 'address',
  },
  ...{ time: 'seconds', to: 'address', to_address: 'address', to_amount: 'decimal', to_price_eth: 'decimal' },
  ...{ to_price_usd: 'decimal', to_reserve: 'decimal', to_symbol: 'string!', transaction: 'string!' },
  ...{ tx_swap_type: '0|1', wallet_address: 'address', wallet_tag: 'null' },
}

const candle = {
  ...{
    open: 'decimal',
    high: 'decimal',
    low: 'decimal',
    close: 'decimal',
    volume: 'decimal',
    time: 'seconds',
  },
}

const dollars = {
  ...candle,
  ...{ amount_24h: 'decimal', change: 'decimal', change_v2: 'decimal', count_24h: 'decimal' },
  ...{ high_24h: 'decimal', low_24h: 'decimal', swap: '""', volume_24h: 'decimal' },
}

const kline = {
  id: 'string!',
  interval: '"15"',
  kline: {
    eth: candle,
    usd: dollars,
  },
  topic: '"kline"',
}

const push = (result: Form, more: Record<string, Form> = {}): Form => ({
  ...{ id: 'integer', jsonrpc: '"2.0"', result, sent_time: 'milliseconds' },
  ...more,
})

const numbered = { cursor: 'string!', seq: 'integer' }

/** By the name under which the test subscribes. */
export const PUSHES: Readonly<
  Record<string, { readonly params: (names: Names) => unknown[]; readonly form: Form }>
> = {
  tx: {
    params: ({ pair }) => ['tx', pair, 'local'],
    form: push({
      id: 'address',
      topic: '"tx"',
      tx: { ...tokenSwap, tx_seq: 'decimal', 'profile?': 'string!' },
    }),
  },
  multi_tx: {
    params: ({ token }) => ['multi_tx', token, 'local'],
    form: push({ id: 'address', topic: '"tx"', tx: tokenSwap }),
  },
  'multi_tx of the other side': {
    params: ({ native }) => ['multi_tx', native, 'local'],
    form: push({ id: 'address', topic: '"tx"', tx: tokenSwap }),
  },
  liq: {
    params: ({ pair }) => ['liq', pair, 'local'],
    form: push({
      id: 'address',
      topic: '"liq"',
      liq: {
        ...{
          id: 'event id',
          time: 'seconds',
          block_number: 'integer',
          chain: '"local"',
          transaction: 'string!',
        },
        ...{ amm: 'string!', sender: 'address', wallet_address: 'address', pair_address: 'address' },
        ...{ type: '"addLiquidity"|"removeLiquidity"|"createPair"|"collectFee"' },
        ...{ amount_usd: 'decimal', amount_eth: 'decimal', pair_liquidity_usd: 'decimal' },
        ...{ pair_liquidity_eth: 'decimal', token0_address: 'address', token0_symbol: 'string!' },
        ...{
          token0_price_usd: 'decimal',
          token0_price_eth: 'decimal',
          amount0: 'decimal',
          reserve0: 'decimal',
        },
        ...{ token1_address: 'address', token1_symbol: 'string!', token1_price_usd: 'decimal' },
        ...{ token1_price_eth: 'decimal', amount1: 'decimal', reserve1: 'decimal' },
      },
    }),
  },
  kline: { params: ({ pair }) => ['kline', pair, 'k15', 'local'], form: push(kline) },
  'kline of seconds': {
    params: ({ pair }) => ['kline', pair, 's1', 'local'],
    form: push({ ...kline, interval: '"s1"' }),
  },
  multi_kline: {
    params: ({ pair }) => ['multi_kline', [pair, 'k15', 'local'], [pair, 'k10080', 'local']],
    form: push({ ...kline, interval: '"15"|"10080"' }),
  },
  price: {
    params: ({ pair, token }) => ['price', [`${token}-local`, `${pair}-local`]],
    form: push({
      prices: [
        {
          ...{ chain: '"local"', pair: 'address', is_main_pair: 'boolean', target_token: 'address' },
          ...{ uprice: 'decimal', last_price: 'decimal', reserve0: 'decimal', reserve1: 'decimal' },
          ...{ price_change: 'decimal', price_change_24h: 'decimal', volume_24_u: 'decimal' },
          ...{ direction: '"buy"|"sell"', time: 'seconds', change: 'decimal', tvl: 'decimal' },
          ...{ makers_24h: 'decimal', tx_amount_24h: 'decimal', tx_count_24h: 'decimal' },
        },
      ],
      topic: '"price"',
    }),
  },
  'tx with a cursor': {
    params: ({ stablePair }) => ['tx', stablePair, 'local', { cursor: true }],
    form: push(
      {
        id: 'address',
        topic: '"tx"',
        tx: { ...tokenSwap, tx_seq: 'decimal', 'profile?': 'string!', unknown: 'names' },
      },
      numbered,
    ),
  },
  'kline with revisions': {
    params: ({ pair }) => ['kline', pair, 'k30', 'local', { reorg: true }],
    form: push({
      ...kline,
      interval: '"30"',
      kline: { eth: { ...candle, unknown: 'names' }, usd: { ...dollars, unknown: 'names' } },
      revision: 'integer',
    }),
  },
}

/** Retractions, for subscriptions with `reorg`. */
export const REVERT: Form = push({ id: 'address', ids: ['event id'], topic: '"revert"' }, numbered)

/** No topic, no sent_time. */
export const SWITCH: Form = {
  id: 'integer',
  jsonrpc: '"2.0"',
  result: {
    data: {
      ...{ chain: '"local"', event: '"switch_main_pair"', id: 'string!', new_main_pair: 'address' },
      ...{ old_main_pair: 'address', tag: 'string', token: 'address' },
      new_main_pair_data: {
        ...{ amm: 'string!', chain: '"local"', init_reserve0: 'number', init_reserve1: 'number' },
        ...{
          pair: 'address',
          reserve0: 'number',
          reserve1: 'number',
          tag: 'string',
          target_token: 'address',
        },
        ...{ token0_address: 'address', token0_decimal: 'integer', token0_symbol: 'string!' },
        ...{ token1_address: 'address', token1_decimal: 'integer', token1_symbol: 'string!', tvl: 'number' },
      },
    },
    status: '"ok"',
  },
}

export const SHUTDOWN: Form = {
  jsonrpc: '"2.0"',
  method: '"shutdown"',
  params: [{ reconnect_after_ms: 'integer' }],
}
