import assert from 'node:assert/strict'
import test from 'node:test'
import { Value } from 'typebox/value'
import {
  ALONE,
  MEME,
  MEME_WETH,
  pairAlone,
  sampleCandle,
  sampleLiquidity,
  samplePair,
  sampleSwitch,
  sampleTrade,
} from '../../../test/support/builders/market-samples.ts'
import { klinePush } from '../shape/kline.ts'
import { liquidityPush } from '../shape/liquidity-transaction.ts'
import { switchPush } from '../shape/main-pair-switch.ts'
import { priceEntry, pricePush } from '../shape/price-entry.ts'
import { swapPush, tokenSwapPush } from '../shape/swap-transaction.ts'
import { asyncApi } from './asyncapi.ts'
import { RPC_CODES } from './rpc-fault.ts'

const document = asyncApi(['https://one.example', 'http://127.0.0.1:8080/base'])
type MessageName = keyof typeof document.components.messages

function fits(name: MessageName, message: unknown): boolean {
  return Value.Check(document.components.messages[name].payload, message)
}

const push = (result: object) => ({ id: 1, jsonrpc: '2.0', result, sent_time: 1 })
const request = (method: string, params: unknown) => ({ jsonrpc: '2.0', id: 1, method, params })

test('it is an AsyncAPI 3 document whose references all lead somewhere', () => {
  assert.equal(document.asyncapi, '3.0.0')
  assert.deepEqual(document.info.version, '2.1.0')
  assert.deepEqual(Object.values(document.servers), [
    {
      host: 'one.example',
      protocol: 'wss',
      security: [{ $ref: '#/components/securitySchemes/ApiKey' }],
    },
    {
      host: '127.0.0.1:8080',
      pathname: '/base',
      protocol: 'ws',
      security: [{ $ref: '#/components/securitySchemes/ApiKey' }],
    },
  ])
  const resolve = (ref: string): unknown =>
    ref
      .slice(2)
      .split('/')
      .reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], document)
  let refs = 0
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [name, member] of Object.entries(value)) {
      if (name === '$ref') {
        refs++
        assert.ok(resolve(String(member)) !== undefined, String(member))
      } else visit(member)
    }
  }
  visit(document)
  assert.ok(refs > 20, `${refs} references`)
  for (const { action, channel, messages } of Object.values(document.operations)) {
    assert.ok(
      ['send', 'receive'].includes(action) && channel.$ref === '#/channels/socket' && messages.length > 0,
    )
  }
})

test('pushes match their description, field by field', () => {
  const rows: [MessageName, object][] = [
    ['tx', push(swapPush('eth', sampleTrade()))],
    ['tx', push(tokenSwapPush('eth', sampleTrade()))],
    ['tx', { ...push(swapPush('eth', sampleTrade())), cursor: 'c1.x', seq: 1 }],
    ['liq', push(liquidityPush('eth', sampleLiquidity()))],
    ['kline', push(klinePush('eth', sampleCandle(), ALONE))],
    ['kline', push({ ...klinePush('eth', sampleCandle(), ALONE), revision: 5 })],
    ['price', push(pricePush([priceEntry(pairAlone(samplePair()))]))],
    ['revert', push({ id: MEME_WETH, ids: ['1-2'], topic: 'revert' })],
    ['checkpoint', { ...push({ topic: 'checkpoint' }), cursor: 'c1.x', seq: 1 }],
    ['switchMainPair', { id: 1, jsonrpc: '2.0', result: switchPush('eth', sampleSwitch(), samplePair()) }],
  ]
  for (const [name, message] of rows) {
    assert.ok(fits(name, message), `${name} ${JSON.stringify(message)}`)
    // And not by describing anything at all.
    assert.ok(!fits(name, { ...message, more: 1 }))
    const { result } = message as { result: Record<string, unknown> }
    for (const field of Object.keys(result)) {
      if (['ids', 'revision', 'interval', 'time'].includes(field)) continue
      const { [field]: _, ...rest } = result
      assert.ok(!fits(name, { ...message, result: rest }), `${name} without ${field}`)
    }
  }
})

test('requests and answers', () => {
  const good: [MessageName, unknown][] = [
    ['subscribe', request('subscribe', ['tx', MEME_WETH, 'eth'])],
    [
      'subscribe',
      request('subscribe', ['tx', MEME_WETH, 'eth', { cursor: true, reorg: true, checkpoint: true }]),
    ],
    ['subscribe', request('subscribe', ['multi_kline', [MEME_WETH, 'k1', 'eth'], [MEME_WETH, 's1', 'eth']])],
    ['subscribe', request('subscribe', ['price', [`${MEME}-eth`], { from: 'c1.x' }])],
    ['unsubscribe', request('unsubscribe', [])],
    ['auth', request('auth', ['key'])],
    ['ping', { method: 'ping' }],
    ['pong', { jsonrpc: '2.0', id: null, result: 'pong' }],
    ['error', { jsonrpc: '2.0', id: 1, error: { code: RPC_CODES.rate_limited, message: 'x' } }],
    [
      'acknowledgement',
      { jsonrpc: '2.0', id: 1, result: { status: 'ok', action: 'subscribe', params: [], recovered: true } },
    ],
    ['shutdown', { jsonrpc: '2.0', method: 'shutdown', params: [{ reconnect_after_ms: 5 }] }],
  ]
  for (const [name, message] of good) assert.ok(fits(name, message), JSON.stringify(message))
  const bad: [MessageName, unknown][] = [
    ['subscribe', request('subscribe', [])],
    ['subscribe', request('subscribe', ['kline', MEME_WETH, 'k2', 'eth'])],
    ['subscribe', request('subscribe', ['tx', MEME_WETH, 'eth', { other: true }])],
    ['subscribe', request('subscribe', ['multi_kline'])],
    ['error', { jsonrpc: '2.0', id: 1, error: { code: -1, message: 'x' } }],
  ]
  for (const [name, message] of bad) assert.ok(!fits(name, message), JSON.stringify(message))
})

test('it describes what a replay costs, every error code and the close codes', () => {
  const { messages } = document.components
  assert.match(messages.subscribe.description, /50 CU per started 1000 events read/)
  for (const code of Object.values(RPC_CODES))
    assert.ok(messages.error.description.includes(`- ${code}: `), `${code}`)
  for (const code of [1001, 1009, 1011, 4401, 4403, 4408, 4429])
    assert.ok(document.channels.socket.description.includes(`- ${code}: `), `${code}`)
})
