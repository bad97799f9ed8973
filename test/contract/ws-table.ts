/**
 * Every message form of the interface document's WebSocket part, and of what was decided where it is silent. It is
 * written by hand from these two, so that it can disagree with the code.
 */

/** `string!` is one that must not be empty; a text in quotes is that very text; `?` at the end of a name: may be missing. */
export type Form = string | readonly [Form] | { readonly [field: string]: Form }

/** What does not fit, each with its place. */
export function misfits(form: Form, value: unknown, place = ''): string[] {
  if (typeof form === 'string')
    return fitsWord(form, value) ? [] : [`${place}: ${JSON.stringify(value)} is not ${form}`]
  if (Array.isArray(form)) {
    if (!Array.isArray(value) || value.length === 0) return [`${place} is no filled array`]
    return value.flatMap((each, index) => misfits(form[0] as Form, each, `${place}/${index}`))
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${place} is no object`]
  const fields = new Map(Object.entries(form).map(([name, each]) => [name.replace('?', ''), each]))
  const known = value as Record<string, unknown>
  const missing = Object.keys(form).filter((name) => !name.endsWith('?') && !Object.hasOwn(known, name))
  return [
    ...missing.map((name) => `${place}/${name} is missing`),
    ...Object.entries(known).flatMap(([name, each]) => {
      const expected = fields.get(name)
      return expected === undefined
        ? [`${place}/${name} is too much`]
        : misfits(expected, each, `${place}/${name}`)
    }),
  ]
}

function fitsWord(word: string, value: unknown): boolean {
  switch (word) {
    case 'string':
      return typeof value === 'string'
    case 'string!':
      return typeof value === 'string' && value !== ''
    case 'decimal':
      return typeof value === 'string' && /^-?(0|[1-9]\d*)(\.\d*[1-9])?$/.test(value)
    case 'address':
      return typeof value === 'string' && /^0x[0-9a-f]{40}$/.test(value)
    case 'event id':
      return typeof value === 'string' && /^\d+-\d+$/.test(value)
    case 'integer':
      return Number.isSafeInteger(value)
    case 'seconds':
      return Number.isSafeInteger(value) && Number(value) < 1e11
    case 'milliseconds':
      return Number.isSafeInteger(value) && Number(value) > 1e12
    case 'number':
      return typeof value === 'number'
    case 'boolean':
      return typeof value === 'boolean'
    case 'names':
      return Array.isArray(value) && value.every((name) => typeof name === 'string')
    case 'anything':
      return value !== undefined
    case 'null':
      return value === null
    default:
      return word === JSON.stringify(value) || word.split('|').includes(JSON.stringify(value))
  }
}

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
    form: push({ id: 'address', topic: '"tx"', tx: { ...tokenSwap, tx_seq: 'decimal' } }),
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
      { id: 'address', topic: '"tx"', tx: { ...tokenSwap, tx_seq: 'decimal', unknown: 'names' } },
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

/** What a fork takes back, for who asks. */
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

export type Names = {
  readonly pair: string
  readonly stablePair: string
  readonly token: string
  readonly native: string
  /** Of the chain's log: part of every cursor. */
  readonly epoch: string
}

const cursorAt = (epoch: string, seq: number, version = 1) =>
  `c1.${Buffer.from(JSON.stringify([['local', epoch, seq, 1, version, 1, 0]])).toString('base64url')}`
const NOBODY = `0x${'b'.repeat(40)}`
const request = (method: string, params: unknown) => ({ jsonrpc: '2.0', id: 7, method, params })
const failure = (code: number, data?: Form, id: Form = '7'): Form => ({
  ...{
    jsonrpc: '"2.0"',
    id,
    error: { code: String(code), message: 'string!', ...(data === undefined ? {} : { data }) },
  },
})
const ok = (action: string, params: Form, more: Record<string, Form> = {}): Form => ({
  ...{
    jsonrpc: '"2.0"',
    id: '7',
    result: { status: '"ok"', action: JSON.stringify(action), params, ...more },
  },
})

/** What is sent (an object, or the very text), and the form of what comes back. */
export const ANSWERS: readonly (readonly [string, (names: Names) => unknown, Form])[] = [
  ['ping by hand', () => ({ method: 'ping' }), { jsonrpc: '"2.0"', id: 'null', result: '"pong"' }],
  ['ping', () => request('ping', []), { jsonrpc: '"2.0"', id: '7', result: '"pong"' }],
  ['subscribe', ({ pair }) => request('subscribe', ['liq', pair, 'local']), ok('subscribe', ['string!'])],
  [
    'the same twice',
    ({ pair }) => [
      request('subscribe', ['liq', pair, 'local']),
      request('subscribe', ['liq', pair, 'local']),
    ],
    [ok('subscribe', ['string!'])],
  ],
  [
    'unsubscribe',
    ({ pair }) => request('unsubscribe', ['liq', pair, 'local']),
    ok('unsubscribe', ['string!']),
  ],
  [
    'a good item and a bad one',
    ({ stablePair }) =>
      request('subscribe', ['multi_kline', [stablePair, 's1', 'local'], [NOBODY, 's1', 'local']]),
    {
      ...{ jsonrpc: '"2.0"', id: '7' },
      result: {
        status: '"ok"',
        action: '"subscribe"',
        params: 'anything',
        rejected: [{ item: JSON.stringify(`${NOBODY}-local`), reason: '"unknown_pair"' }],
      },
    },
  ],
  [
    'with a cursor',
    ({ pair }) => request('subscribe', ['liq', pair, 'local', { cursor: true }]),
    {
      jsonrpc: '"2.0"',
      id: '7',
      result: { status: '"ok"', action: '"subscribe"', params: 'anything', cursor: 'string!' },
    },
  ],
  [
    'a cursor of a log that is gone',
    ({ pair }) =>
      request('subscribe', [
        'liq',
        pair,
        'local',
        { from: `c1.${Buffer.from('[["local","gone",1,1,1,1,0]]').toString('base64url')}` },
      ]),
    {
      ...{ jsonrpc: '"2.0"', id: '7' },
      result: {
        status: '"ok"',
        action: '"subscribe"',
        params: 'anything',
        cursor: 'string!',
        recovered: 'false',
        reason: { code: '-32005', message: 'string!' },
      },
    },
  ],
  ['not JSON', () => '{', failure(-32_700, undefined, 'null')],
  ['not a request', () => '5', failure(-32_600, undefined, 'null')],
  ['no method', () => ({ jsonrpc: '2.0', id: 7 }), failure(-32_600, { pointer: '"/method"' })],
  ['an unknown method', () => request('publish', []), failure(-32_601, { pointer: '"/method"' })],
  ['an unknown topic', () => request('subscribe', ['trades']), failure(-32_602, { pointer: '"/params/0"' })],
  [
    'an unknown interval',
    ({ pair }) => request('subscribe', ['kline', pair, 'k2', 'local']),
    failure(-32_602, { pointer: '"/params/2"' }),
  ],
  [
    'an unknown option',
    ({ pair }) => request('subscribe', ['tx', pair, 'local', { since: 1 }]),
    failure(-32_602, { pointer: '"/params/3"' }),
  ],
  [
    'a cursor that is none',
    ({ pair }) => request('subscribe', ['tx', pair, 'local', { from: 'x' }]),
    failure(-32_602, { option: '"from"' }),
  ],
  [
    'a cursor of a position that is not there yet',
    ({ pair, epoch }) =>
      request('subscribe', ['tx', pair, 'local', { from: cursorAt(epoch, 1_000_000_000) }]),
    failure(-32_602, { option: '"from"' }),
  ],
  [
    'a cursor of no version',
    ({ pair, epoch }) => request('subscribe', ['tx', pair, 'local', { from: cursorAt(epoch, 1, 0) }]),
    failure(-32_602, { option: '"from"' }),
  ],
  [
    'too many prices',
    ({ pair }) => request('subscribe', ['price', Array(201).fill(`${pair}-local`)]),
    failure(-32_002, { limit: '"price_ids"', max: '200' }),
  ],
  [
    'too many candles',
    ({ pair }) => request('subscribe', ['multi_kline', ...Array(101).fill([pair, 'k1', 'local'])]),
    failure(-32_002, { limit: '"multi_kline_pairs"', max: '100' }),
  ],
  [
    'a batch too long',
    () => Array(21).fill({ method: 'ping' }),
    failure(-32_002, { limit: '"batch"', max: '20' }, 'null'),
  ],
  ...(
    [
      ['an unknown pair', ['tx', NOBODY, 'local'], 'unknown_pair', `${NOBODY}-local`],
      ['an unknown token', ['multi_tx', NOBODY, 'local'], 'unknown_token', `${NOBODY}-local`],
      ['an unknown chain', ['liq', NOBODY, 'nowhere'], 'unknown_chain', `${NOBODY}-nowhere`],
    ] as const
  ).map(([name, params, reason, item]) => {
    const rejected: Form = [{ item: JSON.stringify(item), reason: JSON.stringify(reason) }]
    return [name, () => request('subscribe', params), failure(-32_003, { rejected })] as const
  }),
  [
    'a batch',
    () => [request('ping', []), request('publish', [])],
    [
      {
        jsonrpc: '"2.0"',
        id: '7',
        'result?': '"pong"',
        'error?': { code: '-32601', message: 'string!', data: { pointer: '"/method"' } },
      },
    ],
  ],
  ['unsubscribe from everything', () => request('unsubscribe', []), ok('unsubscribe', 'anything')],
]
