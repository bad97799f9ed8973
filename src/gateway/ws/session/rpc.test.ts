import assert from 'node:assert/strict'
import test from 'node:test'
import { MEME, MEME_WETH } from '../../../../test/support/builders/market-samples.ts'
import type { ChainFamily } from '../../../domain/ids.ts'
import { errorReply, RpcFault, TOO_MANY } from '../rpc-fault.ts'
import { parseMessage } from './rpc.ts'

const families = new Map<string, ChainFamily>([
  ['eth', 'evm'],
  ['solana', 'solana'],
])
const rules = {
  familyOf: (chain: string) => families.get(chain),
  maxBatch: 20,
  maxPriceIds: 3,
  maxMultiKlinePairs: 3,
  mayProceed: () => true,
}
const NO_OPTIONS = { cursor: false, from: undefined, reorg: false, checkpoint: false }
const POOL_ID = `0x${'5'.repeat(64)}`
const UPPER = MEME_WETH.toUpperCase().replace('0X', '0x')

function parse(text: string) {
  const { isBatch, items } = parseMessage(text, rules)
  // A fault is shown as the client sees it.
  const shown = items.map(({ id, command }) =>
    command instanceof RpcFault ? errorReply(id, command) : command,
  )
  return { isBatch, items: shown }
}

function parseOne(request: unknown) {
  const { isBatch, items } = parse(JSON.stringify(request))
  assert.deepEqual([isBatch, items.length], [false, 1])
  return items[0]
}

function request(method: string, params: unknown, id: unknown = 7) {
  return { jsonrpc: '2.0', method, params, id }
}

function failure(id: number | null, code: number, message: string, data?: object) {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } }
}

test('commands', () => {
  assert.deepEqual(parseOne(request('subscribe', ['tx', UPPER, 'eth'])), {
    method: 'subscribe',
    id: 7,
    params: ['tx', UPPER, 'eth'],
    topic: { name: 'tx', pair: { address: MEME_WETH, chain: 'eth' } },
    options: NO_OPTIONS,
  })
  assert.deepEqual(parseOne(request('unsubscribe', ['kline', POOL_ID, 'k15', 'eth'])), {
    method: 'unsubscribe',
    id: 7,
    params: ['kline', POOL_ID, 'k15', 'eth'],
    topic: {
      name: 'kline',
      series: [{ pair: { address: POOL_ID, chain: 'eth' }, interval: 'k15' }],
      rejected: [],
    },
  })
  assert.deepEqual(parseOne(request('unsubscribe', [])), {
    method: 'unsubscribe',
    id: 7,
    params: [],
    topic: 'all',
  })
  assert.deepEqual(parseOne(request('auth', ['secret'], 0)), { method: 'auth', id: 0, key: 'secret' })
  assert.deepEqual(parseOne(request('ping', [], 3)), { method: 'ping', id: 3 })
  assert.deepEqual(parseOne({ method: 'ping' }), { method: 'ping', id: null })
})

test('price: good ids are kept once, bad ones are set aside with their reason', () => {
  const ids = [`${MEME}-eth`, `${MEME.toUpperCase().replace('0X', '0x')}-eth`, 'nonsense']
  assert.deepEqual(parseOne(request('subscribe', ['price', ids])), {
    method: 'subscribe',
    id: 7,
    params: ['price', ids],
    topic: {
      name: 'price',
      items: [{ id: ids[1], ref: { address: MEME, chain: 'eth' } }],
      rejected: [{ item: 'nonsense', reason: 'malformed_id' }],
    },
    options: NO_OPTIONS,
  })
  const chains = [`${MEME}-constructor`, `${MEME}-__proto__`, '__proto__-eth']
  assert.deepEqual(parseOne(request('subscribe', ['price', chains])), {
    method: 'subscribe',
    id: 7,
    params: ['price', chains],
    topic: {
      name: 'price',
      items: [],
      rejected: [
        { item: chains[0], reason: 'unknown_chain' },
        { item: chains[1], reason: 'malformed_id' },
        { item: chains[2], reason: 'malformed_id' },
      ],
    },
    options: NO_OPTIONS,
  })
})

test('multi_kline: good series are kept once, bad ones are set aside with their reason', () => {
  const on = (address: string, interval: string, chain: string) => [address, interval, chain]
  const params = [
    'multi_kline',
    on(UPPER, 'k1', 'eth'),
    on(MEME_WETH, 'k1', 'eth'),
    on(MEME_WETH, 's1', 'eth'),
  ]
  const pair = { address: MEME_WETH, chain: 'eth' }
  const series = [
    { pair, interval: 'k1' },
    { pair, interval: 's1' },
  ]
  const topic = { name: 'multi_kline', series, rejected: [] }
  const command = { method: 'subscribe', id: 7, params, topic, options: NO_OPTIONS }
  assert.deepEqual(parseOne(request('subscribe', params)), command)
  const bad = ['multi_kline', on('0x1', 'k1', 'eth'), on(MEME_WETH, 'k2', 'eth'), on(MEME_WETH, 'k1', 'bsc')]
  assert.deepEqual(parseOne(request('subscribe', bad)), {
    ...command,
    params: bad,
    topic: {
      name: 'multi_kline',
      series: [],
      rejected: [
        { item: '0x1-eth', reason: 'malformed_id' },
        { item: `${MEME_WETH}-eth`, reason: 'malformed_interval', interval: 'k2' },
        { item: `${MEME_WETH}-bsc`, reason: 'unknown_chain' },
      ],
    },
  })
})

test('options: a trailing object', () => {
  const optionsOf = (options: object, topic: unknown[] = ['tx', MEME_WETH, 'eth']) =>
    (parseOne(request('subscribe', [...topic, options])) as { options: object }).options
  assert.deepEqual(optionsOf({}), NO_OPTIONS)
  assert.deepEqual(optionsOf({ cursor: true }), { ...NO_OPTIONS, cursor: true })
  assert.deepEqual(optionsOf({ reorg: true, cursor: false }), { ...NO_OPTIONS, reorg: true })
  // A resumed subscription must be resumable again.
  assert.deepEqual(optionsOf({ from: 'c1.x' }), { ...NO_OPTIONS, cursor: true, from: 'c1.x' })
  assert.deepEqual(optionsOf({ checkpoint: true }), { ...NO_OPTIONS, cursor: true, checkpoint: true })
  for (const topic of [
    ['liq', MEME_WETH, 'eth'],
    ['multi_tx', MEME, 'eth'],
    ['kline', MEME_WETH, 'k1', 'eth'],
    ['multi_kline', [MEME_WETH, 'k1', 'eth']],
    ['price', [`${MEME}-eth`]],
  ]) {
    assert.deepEqual(optionsOf({ cursor: true }, topic), { ...NO_OPTIONS, cursor: true })
  }
  const withOptions = ['tx', MEME_WETH, 'eth', { cursor: true }]
  assert.deepEqual(parseOne(request('unsubscribe', withOptions)), {
    method: 'unsubscribe',
    id: 7,
    params: withOptions,
    topic: { name: 'tx', pair: { address: MEME_WETH, chain: 'eth' } },
  })
})

test('invalid requests', () => {
  const notJson = failure(null, -32700, 'the message is not JSON')
  for (const text of ['', '{', 'NaN', '['.repeat(10), '{"id":1,}', '\u0000']) {
    assert.deepEqual(parse(text), { isBatch: false, items: [notJson] })
  }
  const notObject = failure(null, -32600, 'the request must be an object')
  for (const text of ['1', 'null', '"ping"', 'true']) {
    assert.deepEqual(parse(text), { isBatch: false, items: [notObject] })
  }
  const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`
  assert.deepEqual(parse(nested(10)), { isBatch: true, items: [notObject] })
  const tooDeep = failure(null, -32600, 'the message is nested too deeply')
  for (const text of [nested(11), nested(30_000), '['.repeat(65_000)]) {
    assert.deepEqual(parse(text), { isBatch: false, items: [tooDeep] })
  }
})

test('invalid requests', () => {
  const at = (pointer: string, message: string, id: number | null = 7) =>
    failure(id, -32600, message, { pointer })
  const rows: [unknown, object][] = [
    [{ jsonrpc: '2.0', id: 7 }, at('/method', 'method must be a string')],
    [{ jsonrpc: '2.0', method: 5, id: 7 }, at('/method', 'method must be a string')],
    [{ method: 'subscribe', params: [], id: 7 }, at('/jsonrpc', 'jsonrpc must be "2.0"')],
    [{ jsonrpc: '2.0', method: 'subscribe', params: [] }, at('/id', 'id must be an integer', null)],
    [request('subscribe', [], '7'), at('/id', 'id must be an integer', null)],
    [request('subscribe', [], 1.5), at('/id', 'id must be an integer', null)],
    [request('subscribe', [], 2 ** 53), at('/id', 'id must be an integer', null)],
    [request('ping', [], {}), at('/id', 'id must be an integer', null)],
    [JSON.parse('{"__proto__":{"method":"ping"},"id":7}'), at('/method', 'method must be a string')],
  ]
  for (const [given, expected] of rows) assert.deepEqual(parseOne(given), expected)
})

test('unknown methods', () => {
  for (const method of ['publish', '__proto__', 'constructor', 'toString']) {
    assert.deepEqual(
      parseOne(request(method, [])),
      failure(7, -32601, 'unknown method; use one of: subscribe, unsubscribe, auth, ping', {
        pointer: '/method',
      }),
    )
  }
})

test('invalid params', () => {
  const at = (pointer: string, message: string) => failure(7, -32602, message, { pointer })
  const topics = 'unknown topic; use one of: tx, multi_tx, liq, kline, multi_kline, price'
  const rows: [unknown, object][] = [
    [undefined, at('/params', 'params must be an array')],
    [{ 0: 'tx' }, at('/params', 'params must be an array')],
    [[], at('/params/0', topics)],
    [['revert', MEME, 'eth'], at('/params/0', topics)],
    [['multi_tx', MEME], at('/params/2', 'the chain must be a string')],
    [['multi_tx', POOL_ID, 'eth'], at('/params/1', 'not a token address of eth')],
    [['__proto__'], at('/params/0', topics)],
    [['tx'], at('/params/1', 'the pair address must be a string')],
    [['tx', MEME_WETH], at('/params/2', 'the chain must be a string')],
    [['tx', 5, 'eth'], at('/params/1', 'the pair address must be a string')],
    [['tx', '0x12', 'eth'], at('/params/1', 'not a pair address of eth')],
    [['tx', MEME_WETH, 'eth', 'more'], at('/params/3', 'nothing may follow the chain')],
    [['tx', MEME_WETH, 'eth', { cursor: 1 }], at('/params/3', 'cursor must be true or false')],
    [['tx', MEME_WETH, 'eth', { from: 5 }], at('/params/3', 'from must be a cursor')],
    [['tx', MEME_WETH, 'eth', { from: 'x'.repeat(8_193) }], at('/params/3', 'from must be a cursor')],
    [
      ['tx', MEME_WETH, 'eth', { reorgs: true }],
      at('/params/3', 'unknown option; use cursor, from, reorg or checkpoint'),
    ],
    [
      ['tx', MEME_WETH, 'eth', JSON.parse('{"__proto__":{}}')],
      at('/params/3', 'unknown option; use cursor, from, reorg or checkpoint'),
    ],
    [['tx', MEME_WETH, { cursor: true }, 'eth'], at('/params/2', 'the chain must be a string')],
    [
      ['multi_kline'],
      at('/params/1', 'multi_kline takes one or more arrays of pair address, interval and chain'),
    ],
    [
      ['multi_kline', [MEME_WETH, 'k1', 'eth'], [MEME_WETH, 'k1']],
      at('/params/2', 'must be an array of pair address, interval and chain'),
    ],
    [
      ['multi_kline', MEME_WETH, 'k1', 'eth'],
      at('/params/1', 'must be an array of pair address, interval and chain'),
    ],
    [
      ['kline', MEME_WETH, 'k2', 'eth'],
      at('/params/2', 'unknown interval; use one of: s1, k1, k5, k15, k30, k60, k120, k240, k1440, k10080'),
    ],
    [['price'], at('/params/1', 'price takes one array of token-ids and pair-ids')],
    [['price', []], at('/params/1', 'price takes one array of token-ids and pair-ids')],
    [['price', `${MEME}-eth`], at('/params/1', 'price takes one array of token-ids and pair-ids')],
    [['price', [`${MEME}-eth`, 5]], at('/params/1/1', 'an id must be a string')],
  ]
  for (const [params, expected] of rows) assert.deepEqual(parseOne(request('subscribe', params)), expected)
  assert.deepEqual(
    parseOne(request('auth', [])),
    failure(7, -32602, 'auth takes one string, the API key', { pointer: '/params' }),
  )
})

test('unknown chains', () => {
  for (const chain of ['bsc', '__proto__', 'constructor', '']) {
    assert.deepEqual(
      parseOne(request('subscribe', ['tx', MEME_WETH, chain])),
      failure(7, -32003, 'unknown chain', {
        rejected: [{ item: `${MEME_WETH}-${chain}`, reason: 'unknown_chain' }],
      }),
    )
  }
})

test('limits', () => {
  assert.deepEqual(
    parseOne(request('subscribe', ['price', Array(4).fill(`${MEME}-eth`)])),
    failure(7, -32002, 'a price subscription can have at most 3 ids', { limit: 'price_ids', max: 3 }),
  )
  assert.deepEqual(
    parseOne(request('subscribe', ['multi_kline', ...Array(4).fill([MEME_WETH, 'k1', 'eth'])])),
    failure(7, -32002, 'multi_kline takes at most 3 pairs', { limit: 'multi_kline_pairs', max: 3 }),
  )
  assert.deepEqual(parse(JSON.stringify(Array(21).fill({ method: 'ping' }))), {
    isBatch: false,
    items: [failure(null, -32002, 'a batch can have at most 20 requests', { limit: 'batch', max: 20 })],
  })
})

test('batches', () => {
  assert.deepEqual(parse('[]'), {
    isBatch: false,
    items: [failure(null, -32600, 'the batch is empty')],
  })
  assert.deepEqual(parse(JSON.stringify([{ method: 'ping', id: 1 }, 5, request('nope', [], 2)])), {
    isBatch: true,
    items: [
      { method: 'ping', id: 1 },
      failure(null, -32600, 'the request must be an object'),
      failure(2, -32601, 'unknown method; use one of: subscribe, unsubscribe, auth, ping', {
        pointer: '/method',
      }),
    ],
  })
  assert.deepEqual(parse(JSON.stringify(Array(20).fill({ method: 'ping' }))).items.length, 20)
})

test('params of a rate limited request are not validated', () => {
  const looked: string[] = []
  let left = 1
  const { items } = parseMessage(
    JSON.stringify([
      request('subscribe', ['price', [`${MEME}-eth`]], 1),
      request('subscribe', ['price', [`${MEME}-solana`]], 2),
      5,
    ]),
    {
      ...rules,
      familyOf: (chain) => {
        looked.push(chain)
        return families.get(chain)
      },
      mayProceed: () => left-- > 0,
    },
  )
  assert.deepEqual(looked, ['eth'])
  assert.deepEqual(
    items.slice(1).map(({ id, command }) => [id, command === TOO_MANY]),
    [
      [2, true],
      [null, true],
    ],
  )
  const isTooMany = (text: string): boolean =>
    parseMessage(text, { ...rules, mayProceed: () => false }).items[0]?.command === TOO_MANY
  assert.deepEqual(['{', '[]', '5'].map(isTooMany), [true, true, true])
})
