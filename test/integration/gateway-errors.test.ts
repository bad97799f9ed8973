import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { API_KEY_RANDOM_BYTES, formatApiKey } from '../../src/domain/api-key.ts'
import { MEME, MEME_WETH, sampleToken } from '../support/builders/market-samples.ts'
import { expected, ourHeaders, problemOf } from '../support/rigs/gateway-answers.ts'
import { API_KEY, type Gateway, GatewayWorld } from '../support/rigs/gateway-world.ts'

let world: GatewayWorld
let gateway: Gateway

before(async () => {
  world = await GatewayWorld.start()
  gateway = await world.startGateway()
  await gateway.applied(await world.publish([{ type: 'token', token: sampleToken() }]))
})

after(async () => {
  await gateway?.stop()
  await world?.stop()
})

const PAIR_PATH = `/v2/pairs/${MEME_WETH}-eth`
const TOKEN_PATH = `/v2/tokens/${MEME}-eth`

test('401: no key, a wrong key, before anything else is looked at', async () => {
  const refused = (slip = '') =>
    expected(
      401,
      'unauthorized',
      'API key missing or invalid',
      `send a valid API key in the X-API-KEY header${slip}`,
    )
  const misspelt = refused('; the given text is not a key: it is misspelled or truncated')
  const never = formatApiKey(Buffer.alloc(API_KEY_RANDOM_BYTES, 99))
  for (const [key, problem] of [
    [undefined, refused()],
    ['', refused()],
    [never, refused()],
    [`${API_KEY}x`, misspelt],
    ['wrong', misspelt],
  ] as const) {
    const answer = await gateway.get('/v2/pairs/nonsense', key === undefined ? {} : { 'x-api-key': key })
    assert.deepEqual(problemOf(answer), problem)
    assert.deepEqual(ourHeaders(answer), { 'x-cu-cost': '0' })
  }
  assert.deepEqual(problemOf(await gateway.post('/v2/tokens/price', '{', { 'x-api-key': 'wrong' })), misspelt)
})

test('404: unknown routes', async () => {
  const unknown = expected(
    404,
    'not_found',
    'Operation not found',
    'no operation has this method and path; see /docs',
  )
  for (const path of ['//', '/v2', '/v3/pairs/x', '/v2/pairs', `${PAIR_PATH}/`, '/__proto__', '/ws']) {
    assert.deepEqual(problemOf(await gateway.get(path)), unknown)
  }
  assert.deepEqual(problemOf(await gateway.post(PAIR_PATH, {})), unknown)
})

test('400: ids in paths', async () => {
  const malformed = (kind: string) =>
    expected(400, 'malformed_id', 'Malformed ID', `malformed ${kind}-id`, [
      { pointer: `#/${kind}-id`, detail: `must be <${kind}_address>-<chain>` },
    ])
  const ids = [
    'x',
    '-eth',
    'x-eth',
    `${MEME_WETH}`,
    `${MEME_WETH}-`,
    `${MEME_WETH}-ETH`,
    '%00-eth',
    '..%2f..%2fetc',
  ]
  for (const id of [...ids, '%F0%9F%92%A9-eth', `${MEME_WETH}-__proto__`, `${MEME_WETH}%0a-eth`, '%25ZZ']) {
    assert.deepEqual(problemOf(await gateway.get(`/v2/pairs/${id}`)), malformed('pair'), id)
    assert.deepEqual(problemOf(await gateway.get(`/v2/tokens/${id}`)), malformed('token'), id)
  }
  // A 32-byte pool id is a pair, never a token.
  assert.deepEqual(problemOf(await gateway.get(`/v2/tokens/0x${'5'.repeat(64)}-eth`)), malformed('token'))
  for (const chain of ['tron', 'constructor']) {
    assert.deepEqual(
      problemOf(await gateway.get(`/v2/pairs/${MEME_WETH}-${chain}`)),
      expected(400, 'unknown_chain', 'Unknown chain', 'malformed pair-id', [
        { pointer: '#/pair-id', detail: 'this gateway does not serve the chain; see /v2/chains' },
      ]),
    )
  }
  assert.deepEqual(
    problemOf(await gateway.get(`/v2/tokens/0x${'b'.repeat(40)}-eth`)),
    expected(400, 'unknown_token', 'Unknown token', 'unknown token; check the address and chain', [
      { pointer: '#/token-id', detail: 'unknown token' },
    ]),
  )
  const encoded = await gateway.get(`/v2/tokens/${MEME}%2Deth`)
  assert.equal(encoded.status, 200)
  for (const path of ['/v2/pairs/%ZZ', '/v2/pairs/%', `/v2/pairs/${'9'.repeat(5_000)}-eth`]) {
    const { http, code } = problemOf(await gateway.get(path)) as unknown as { http: number; code: string }
    assert.deepEqual([path.slice(0, 14), http, code], [path.slice(0, 14), 400, 'malformed_request'])
  }
})

test('400: bodies', async () => {
  const malformed = (...errors: object[]) =>
    expected(
      400,
      'malformed_request',
      'Malformed request',
      'the request does not match its schema; see errors',
      errors,
    )
  const rows: [unknown, object][] = [
    [{}, malformed({ pointer: '#/token_ids', detail: "must have required property 'token_ids'" })],
    [[], malformed({ pointer: '#', detail: 'must be object' })],
    [{ token_ids: 'x' }, malformed({ pointer: '#/token_ids', detail: 'must be array' })],
    [
      { token_ids: [1, 'x', null] },
      malformed(
        { pointer: '#/token_ids/0', detail: 'must be string' },
        { pointer: '#/token_ids/2', detail: 'must be string' },
      ),
    ],
    [
      { token_ids: [], 'a/b': 1 },
      malformed({ pointer: '#/a~1b', detail: 'must NOT have additional properties' }),
    ],
    [{ token_ids: [], tvl_min: '5' }, malformed({ pointer: '#/tvl_min', detail: 'must be integer' })],
    [{ token_ids: [], tvl_min: 1.5 }, malformed({ pointer: '#/tvl_min', detail: 'must be integer' })],
    [{ token_ids: [], tvl_min: -1 }, malformed({ pointer: '#/tvl_min', detail: 'must be >= 0' })],
    ['{"token_ids":[],"tvl_min":1e999}', malformed({ pointer: '#/tvl_min', detail: 'must be integer' })],
    [
      { token_ids: Array(201).fill(`${MEME}-eth`) },
      expected(400, 'limit_exceeded', 'Limit exceeded', 'the request exceeds a limit; see errors', [
        { pointer: '#/token_ids', detail: 'must NOT have more than 200 items' },
      ]),
    ],
    [
      { token_ids: [`${MEME}-eth`, 'x', `${MEME}-tron`, '__proto__'] },
      expected(400, 'malformed_id', 'Malformed ID', 'some token_ids are malformed; see errors', [
        { pointer: '#/token_ids/1', detail: 'must be <token_address>-<chain>' },
        { pointer: '#/token_ids/3', detail: 'must be <token_address>-<chain>' },
      ]),
    ],
    [
      `{"token_ids":["${'x'.repeat(33_000)}"]}`,
      expected(400, 'limit_exceeded', 'Limit exceeded', 'the request body is too large; send at most 32 KiB'),
    ],
  ]
  for (const [body, problem] of rows) {
    const answer = await gateway.post('/v2/tokens/price', body)
    assert.deepEqual(problemOf(answer), problem)
    assert.deepEqual(ourHeaders(answer), { 'x-cu-cost': '0' })
  }
  const poison = [
    '{',
    '',
    '{"token_ids":[],"__proto__":{"x":1}}',
    '{"constructor":{"prototype":{}},"token_ids":[]}',
  ]
  for (const body of poison) {
    const answer = problemOf(await gateway.post('/v2/tokens/price', body)) as unknown as Record<
      string,
      unknown
    >
    assert.deepEqual([answer['http'], answer['code']], [400, 'malformed_request'], body)
  }
  const form = await gateway.post('/v2/tokens/price', 'token_ids=x', { 'content-type': 'text/csv' })
  assert.deepEqual(
    problemOf(form),
    expected(400, 'malformed_request', 'Malformed request', 'Unsupported Media Type'),
  )
})

test('500: a broken store is not explained to the client', async () => {
  const other = await world.startGateway()
  try {
    // With units in hand, so that it is the documents that cannot be had.
    assert.equal((await other.get(TOKEN_PATH)).status, 200)
    await world.stack.kill('redis', 'SIGSTOP')
    const pending = other.get(PAIR_PATH)
    const answer = problemOf(await pending)
    assert.deepEqual(
      answer,
      expected(
        500,
        'store_unavailable',
        'Store unavailable',
        'a backing store is unavailable; retry after the given delay',
      ),
    )
  } finally {
    await world.stack.kill('redis', 'SIGCONT')
    await other.stop()
  }
})

test('invalid HTTP gets an error, and the gateway survives', async () => {
  const answer = async (text: string) => {
    const socket = connect(gateway.port, '127.0.0.1')
    socket.write(text)
    const received = Buffer.concat((await socket.toArray()) as Buffer[]).toString()
    const [head = '', body = ''] = received.split('\r\n\r\n')
    const headers = { 'content-type': /^content-type: (.*)$/m.exec(head)?.[1]?.trim() ?? '' }
    return problemOf({ status: Number(head.split(' ')[1]), headers, body: JSON.parse(body) })
  }
  assert.deepEqual(
    await answer('nonsense\r\n\r\n'),
    expected(400, 'malformed_request', 'Malformed request', 'incomplete or invalid HTTP request'),
  )
  assert.deepEqual(
    await answer(`GET / HTTP/1.1\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`),
    expected(
      400,
      'limit_exceeded',
      'Limit exceeded',
      'the request headers are too large; send at most 16 KiB',
    ),
  )
  assert.equal((await gateway.get(TOKEN_PATH)).status, 200)
})
