import { INTERVALS } from '../../domain/interval.ts'
import type { Scope } from '../http/scope.ts'
import type { klinePush } from '../shape/kline.ts'
import type { liquidityTransaction } from '../shape/liquidity-transaction.ts'
import type { switchPush } from '../shape/main-pair-switch.ts'
import type { priceEntry } from '../shape/price-entry.ts'
import type { swapTransaction } from '../shape/swap-transaction.ts'
import { CHANNEL_DESCRIPTION, ERROR_DESCRIPTION, SUBSCRIBE_DESCRIPTION } from './asyncapi-descriptions.ts'
import { DEFAULT_WS_LIMITS } from './limits.ts'
import { RPC_CODES } from './rpc-fault.ts'
import { TOPIC_NAMES } from './topic.ts'

/** Version of the documented interface. */
const INTERFACE_VERSION = '2.1.0'

/** One entry for each field of what is really pushed: the compiler compares. */
type Fields<T> = { readonly [Name in keyof T]-?: TypeOf<T[Name]> }
type TypeOf<T> = T extends string
  ? 'string'
  : T extends number
    ? 'integer' | 'number'
    : T extends boolean
      ? 'boolean'
      : T extends null
        ? 'tags'
        : never

type Schema = Readonly<Record<string, unknown>>

const SWAP: Fields<ReturnType<typeof swapTransaction>> = {
  ...{ amm: 'string', amount_eth: 'string', amount_usd: 'string', block_number: 'integer', chain: 'string' },
  ...{ from_address: 'string', from_amount: 'string', from_price_eth: 'string', from_price_usd: 'string' },
  ...{ from_reserve: 'string', from_symbol: 'string', id: 'string', pair_address: 'string' },
  ...{ pair_liquidity_eth: 'string', pair_liquidity_usd: 'string', sender: 'string', target_token: 'string' },
  ...{ time: 'integer', to: 'string', to_address: 'string', to_amount: 'string', to_price_eth: 'string' },
  ...{ to_price_usd: 'string', to_reserve: 'string', to_symbol: 'string', transaction: 'string' },
  ...{
    profile: 'string',
    tx_seq: 'string',
    tx_swap_type: 'integer',
    wallet_address: 'string',
    wallet_tag: 'tags',
  },
}

const LIQUIDITY: Fields<ReturnType<typeof liquidityTransaction>> = {
  ...{ id: 'string', time: 'integer', block_number: 'integer', chain: 'string', transaction: 'string' },
  ...{ amm: 'string', sender: 'string', wallet_address: 'string', pair_address: 'string', type: 'string' },
  ...{ amount_usd: 'string', amount_eth: 'string', pair_liquidity_usd: 'string' },
  ...{ pair_liquidity_eth: 'string', token0_address: 'string', token0_symbol: 'string' },
  ...{ token0_price_usd: 'string', token0_price_eth: 'string', amount0: 'string', reserve0: 'string' },
  ...{ token1_address: 'string', token1_symbol: 'string', token1_price_usd: 'string' },
  ...{ token1_price_eth: 'string', amount1: 'string', reserve1: 'string' },
}

type Candles = ReturnType<typeof klinePush>['kline']
const NATIVE: Fields<Candles['eth']> = {
  ...{ open: 'string', high: 'string', low: 'string', close: 'string', volume: 'string', time: 'integer' },
}
const DOLLARS: Fields<Candles['usd']> = {
  ...NATIVE,
  ...{ amount_24h: 'string', change: 'string', change_v2: 'string', count_24h: 'string' },
  ...{ high_24h: 'string', low_24h: 'string', swap: 'string', volume_24h: 'string' },
}

const PRICE: Fields<ReturnType<typeof priceEntry>> = {
  ...{ chain: 'string', pair: 'string', is_main_pair: 'boolean', target_token: 'string', uprice: 'string' },
  ...{ last_price: 'string', reserve0: 'string', reserve1: 'string', price_change: 'string' },
  ...{ price_change_24h: 'string', volume_24_u: 'string', direction: 'string', time: 'integer' },
  ...{ change: 'string', tvl: 'string', makers_24h: 'string', tx_amount_24h: 'string' },
  ...{ tx_count_24h: 'string' },
}

type Switch = ReturnType<typeof switchPush>['data']
const NEW_MAIN_PAIR: Fields<Switch['new_main_pair_data']> = {
  ...{ amm: 'string', chain: 'string', init_reserve0: 'number', init_reserve1: 'number', pair: 'string' },
  ...{ reserve0: 'number', reserve1: 'number', tag: 'string', target_token: 'string' },
  ...{ token0_address: 'string', token0_decimal: 'integer', token0_symbol: 'string' },
  ...{ token1_address: 'string', token1_decimal: 'integer', token1_symbol: 'string', tvl: 'number' },
}
const SWITCH: Fields<Omit<Switch, 'new_main_pair_data'>> = {
  ...{ chain: 'string', event: 'string', id: 'string', new_main_pair: 'string', old_main_pair: 'string' },
  ...{ tag: 'string', token: 'string' },
}

const TEXT: Schema = { type: 'string' }
const COUNT: Schema = { type: 'integer' }
const UNKNOWN: Schema = {
  type: 'array',
  items: TEXT,
  description:
    'Only if the subscription has an options object: names of the fields that are empty because they are unknown. Empty if all fields are known.',
}
const VERSION = { jsonrpc: { const: '2.0' } }

/** The elements of `params` after the topic's name. */
const PARAMS: Readonly<Record<(typeof TOPIC_NAMES)[number], readonly Schema[]>> = {
  tx: [named('pair address'), named('chain')],
  multi_tx: [named('token address'), named('chain')],
  liq: [named('pair address'), named('chain')],
  kline: [named('pair address'), { enum: INTERVALS }, named('chain')],
  multi_kline: [tuple([named('pair address'), { enum: INTERVALS }, named('chain')])],
  price: [{ type: 'array', items: named('token-id or pair-id'), maxItems: DEFAULT_WS_LIMITS.maxPriceIds }],
}

/** Serves the WebSocket interface's description at `/asyncapi.json`. */
export function describeSockets(app: Scope, publicUrls: readonly string[]): void {
  app.get('/asyncapi.json', { schema: { hide: true } }, async () => asyncApi(publicUrls))
}

/** AsyncAPI 3: the one channel, what may be sent to it, and what it sends. */
export function asyncApi(publicUrls: readonly string[]) {
  const messages = { ...requests(), ...answers(), ...pushes() }
  const channel = { $ref: '#/channels/socket' }
  const refs = (names: object) =>
    Object.keys(names).map((name) => ({ $ref: `#/channels/socket/messages/${name}` }))
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Chaintape',
      version: INTERFACE_VERSION,
      description: 'Swaps, liquidity, candles and prices as they happen, over JSON-RPC 2.0.',
    },
    servers: Object.fromEntries(publicUrls.map((url, index) => [`host${index + 1}`, serverOf(url)])),
    defaultContentType: 'application/json',
    channels: {
      socket: {
        address: '/ws',
        description: CHANNEL_DESCRIPTION,
        messages: Object.fromEntries(
          Object.keys(messages).map((name) => [name, { $ref: `#/components/messages/${name}` }]),
        ),
      },
    },
    operations: {
      ask: {
        action: 'receive',
        channel,
        messages: refs(requests()),
        reply: { channel, messages: refs(answers()) },
      },
      push: { action: 'send', channel, messages: refs(pushes()) },
    },
    components: {
      messages,
      securitySchemes: { ApiKey: { type: 'httpApiKey', in: 'header', name: 'X-API-KEY' } },
    },
  }
}

function serverOf(url: string) {
  const { protocol, host, pathname } = new URL(url)
  return {
    host,
    ...(pathname === '/' ? {} : { pathname }),
    protocol: protocol === 'http:' ? 'ws' : 'wss',
    security: [{ $ref: '#/components/securitySchemes/ApiKey' }],
  }
}

function requests() {
  const request = (method: string, params: Schema) => ({
    payload: object({ ...VERSION, id: COUNT, method: { const: method }, params }),
  })
  const flag = { type: 'boolean' }
  const options = object({ cursor: flag, from: TEXT, reorg: flag, checkpoint: flag }, [
    ...['cursor', 'from', 'reorg', 'checkpoint'],
  ])
  const subjects = TOPIC_NAMES.map((name) => {
    const rest = PARAMS[name]
    const start = [{ const: name }, ...rest]
    if (name !== 'multi_kline') return tuple(start, [options])
    const items = { anyOf: [rest[0], options] }
    return { type: 'array', prefixItems: start, items, minItems: 2 }
  })
  return {
    subscribe: { ...request('subscribe', { anyOf: subjects }), description: SUBSCRIBE_DESCRIPTION },
    unsubscribe: request('unsubscribe', { anyOf: [tuple([]), ...subjects] }),
    auth: request('auth', tuple([named('API key')])),
    ping: { payload: object({ ...VERSION, id: COUNT, method: { const: 'ping' } }, ['jsonrpc', 'id']) },
  }
}

function answers() {
  const rejected = {
    type: 'array',
    items: object({ item: TEXT, reason: TEXT, interval: TEXT, pending: { const: true } }, [
      'interval',
      'pending',
    ]),
  }
  const reason = object({ code: { const: RPC_CODES.cursor_too_old }, message: TEXT })
  const id = { type: ['integer', 'null'] }
  return {
    acknowledgement: {
      payload: object({
        ...VERSION,
        id: COUNT,
        result: object(
          {
            status: { const: 'ok' },
            action: { enum: ['subscribe', 'unsubscribe', 'auth'] },
            params: { type: 'array' },
            ...{ rejected, cursor: TEXT, recovered: { type: 'boolean' }, reason },
          },
          ['rejected', 'cursor', 'recovered', 'reason'],
        ),
      }),
    },
    pong: { payload: object({ ...VERSION, id, result: { const: 'pong' } }) },
    error: {
      description: ERROR_DESCRIPTION,
      payload: object({
        ...VERSION,
        id,
        error: object({ code: { enum: Object.values(RPC_CODES) }, message: TEXT, data: { type: 'object' } }, [
          'data',
        ]),
      }),
    },
  }
}

function pushes() {
  const result = (properties: Readonly<Record<string, Schema>>, optional: readonly string[] = []) => ({
    payload: object(
      {
        ...VERSION,
        id: COUNT,
        result: object(properties, optional),
        sent_time: COUNT,
        cursor: TEXT,
        seq: COUNT,
      },
      ['cursor', 'seq'],
    ),
  })
  const kline = object({ eth: pushed(NATIVE), usd: pushed(DOLLARS) })
  const data = object({ ...propertiesOf(SWITCH), new_main_pair_data: fields(NEW_MAIN_PAIR) })
  const switched = { ...VERSION, id: COUNT, result: object({ data, status: { const: 'ok' } }) }
  return {
    // Both on `tx` only, and `profile` only if a holding of the wallet is known.
    tx: result({ id: TEXT, topic: { const: 'tx' }, tx: pushed(SWAP, ['tx_seq', 'profile']) }),
    liq: result({ id: TEXT, topic: { const: 'liq' }, liq: pushed(LIQUIDITY) }),
    kline: result({ id: TEXT, interval: TEXT, kline, topic: { const: 'kline' }, revision: COUNT }, [
      'revision',
    ]),
    price: result({ prices: { type: 'array', items: pushed(PRICE) }, topic: { const: 'price' } }),
    revert: result(
      {
        id: TEXT,
        ids: { type: 'array', items: TEXT },
        ...{ interval: TEXT, time: COUNT, topic: { const: 'revert' } },
      },
      ['ids', 'interval', 'time'],
    ),
    checkpoint: result({ topic: { const: 'checkpoint' } }),
    switchMainPair: { payload: object({ ...switched, cursor: TEXT, seq: COUNT }, ['cursor', 'seq']) },
    shutdown: {
      payload: object({
        ...VERSION,
        method: { const: 'shutdown' },
        params: tuple([object({ reconnect_after_ms: COUNT })]),
      }),
    },
  }
}

function propertiesOf(all: Readonly<Record<string, string>>): Record<string, Schema> {
  const tags = { type: ['array', 'null'], items: TEXT }
  return Object.fromEntries(
    Object.entries(all).map(([name, type]) => [name, type === 'tags' ? tags : { type }]),
  )
}

function fields(all: Readonly<Record<string, string>>, optional: readonly string[] = []): Schema {
  return object(propertiesOf(all), optional)
}

/** With the names of the fields that are unknown, for subscribers that sent options. */
function pushed(all: Readonly<Record<string, string>>, optional: readonly string[] = []): Schema {
  return object({ ...propertiesOf(all), unknown: UNKNOWN }, [...optional, 'unknown'])
}

function object(properties: Readonly<Record<string, unknown>>, optional: readonly string[] = []): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name))
  return { type: 'object', required, properties, additionalProperties: false }
}

function tuple(items: readonly Schema[], optional: readonly Schema[] = []): Schema {
  const all = [...items, ...optional]
  return { type: 'array', prefixItems: all, items: false, minItems: items.length }
}

function named(description: string): Schema {
  return { type: 'string', description }
}
