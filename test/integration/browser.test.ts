import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createKeyStore } from '../../src/gateway/access/keys/key-store.ts'
import {
  MEME,
  MEME_WETH,
  sampleCandle,
  samplePair,
  sampleToken,
  sampleTrade,
} from '../support/builders/market-samples.ts'
import { findBrowser, type OpenPage, openPage } from '../support/rigs/browser.ts'
import { API_KEY, type Gateway, GatewayWorld, waitUntil } from '../support/rigs/gateway-world.ts'

const executable = findBrowser()
if (executable === undefined) {
  console.log('NOTICE: no Chromium on PATH; the browser tests are skipped (apt-get install chromium)')
}

const TOKEN_PATH = `/v2/tokens/${MEME}-eth`
const HEADERS = [
  ...['x-cu-cost', 'x-cu-remaining', 'x-cu-reset', 'x-block', 'x-block-time', 'x-lag-ms'],
  ...['ratelimit', 'ratelimit-policy'],
]

describe('a page of another origin', { skip: executable === undefined }, () => {
  let world: GatewayWorld
  let gateway: Gateway
  let opened: OpenPage

  before(async () => {
    world = await GatewayWorld.start({ withHistory: true })
    gateway = await world.startGateway()
    const set = await world.publish([
      { type: 'token', token: sampleToken() },
      { type: 'pair', pair: samplePair() },
      { type: 'candle', candle: sampleCandle() },
    ])
    await world.storeAll()
    await gateway.applied(set)
    opened = await openPage(executable ?? '')
  })

  after(async () => {
    await opened?.close()
    await gateway?.stop()
    await world?.stop()
  })

  type Request = { readonly headers?: Record<string, string>; readonly body?: string }

  /** What a script of the page sees of a response; a refusal of the browser is an error. */
  function fetchInPage(url: string, { headers = {}, body }: Request) {
    return opened.page.evaluate(
      async ([address, sent, text]) => {
        try {
          const method = text === undefined ? 'GET' : 'POST'
          const response = await fetch(address, {
            method,
            headers: sent,
            ...(text === undefined ? {} : { body: text }),
          })
          const seen = Object.fromEntries(response.headers)
          return { status: response.status, headers: seen, body: (await response.json()) as unknown }
        } catch (error) {
          return { error: String(error) }
        }
      },
      [url, headers, body] as const,
    )
  }

  test('reads REST with a key, and every header of the interface', async () => {
    // The second response comes from the cached response fast path.
    for (const attempt of ['first', 'second']) {
      const answer = await fetchInPage(`${gateway.url}${TOKEN_PATH}`, { headers: { 'X-API-KEY': API_KEY } })
      assert.equal(answer.status, 200, `${attempt}: ${JSON.stringify(answer)}`)
      assert.equal((answer.body as { data: { token: { symbol: string } } }).data.token.symbol, 'MEME')
      for (const name of HEADERS) assert.ok(answer.headers?.[name] !== undefined, `${attempt}: ${name}`)
    }
    const prices = await fetchInPage(`${gateway.url}/v2/tokens/price`, {
      headers: { 'X-API-KEY': API_KEY, 'Content-Type': 'application/json' },
      body: JSON.stringify({ token_ids: [`${MEME}-eth`], tvl_min: 0 }),
    })
    assert.deepEqual([prices.status, Object.keys(prices.body as object)], [200, [`${MEME}-eth`]])
  })

  test('reads a problem when it is refused', async () => {
    const rows: [string, Request, number, string][] = [
      [TOKEN_PATH, {}, 401, 'unauthorized'],
      [`/v2/tokens/0x${'9'.repeat(40)}-eth`, { headers: { 'X-API-KEY': API_KEY } }, 400, 'unknown_token'],
      ['/v2/nothing', { headers: { 'X-API-KEY': API_KEY } }, 404, 'not_found'],
    ]
    for (const [path, request, status, code] of rows) {
      const { body, headers, ...answer } = await fetchInPage(`${gateway.url}${path}`, request)
      assert.deepEqual([answer.status, (body as { code: string }).code], [status, code], path)
      assert.match(headers?.['content-type'] ?? '', /^application\/problem\+json/)
    }
  })

  test('opens /ws, authenticates by message and receives a push', async () => {
    const url = `${gateway.url.replace('http', 'ws')}/ws`
    await opened.page.evaluate(
      ([address, key, pair]) => {
        const state = { messages: [] as string[], closed: '' }
        Object.assign(globalThis, { state })
        const socket = new WebSocket(address)
        const send = (id: number, method: string, params: unknown[]): void =>
          socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
        socket.onopen = () => send(1, 'auth', [key])
        socket.onclose = ({ code }) => {
          state.closed = String(code)
        }
        socket.onmessage = ({ data }) => {
          state.messages.push(String(data))
          if (state.messages.length === 1) send(2, 'subscribe', ['tx', pair, 'eth'])
        }
      },
      [url, API_KEY, MEME_WETH] as const,
    )
    const received = (count: number): Promise<unknown> =>
      opened.page.waitForFunction(
        (wanted) => {
          const { state } = globalThis as unknown as { state: { messages: string[]; closed: string } }
          return state.messages.length >= wanted || state.closed !== ''
        },
        count,
        { timeout: 30_000 },
      )
    await received(2)
    await world.publish([{ type: 'trade', trade: sampleTrade() }])
    await received(3)
    const state = await opened.page.evaluate(
      () => (globalThis as unknown as { state: { messages: string[]; closed: string } }).state,
    )
    assert.equal(state.closed, '')
    const [auth, ack, push] = state.messages.map((text) => JSON.parse(text))
    assert.deepEqual([auth.result.action, ack.result.action], ['auth', 'subscribe'])
    assert.deepEqual([push.result.topic, push.result.tx.pair_address], ['tx', MEME_WETH])
  })

  test("reads TradingView's datafeed with a chart token in the path, and with nothing else", async () => {
    const keys = createKeyStore(await world.logs.openLatest('KEYS'), Date.now)
    const { record, apiKey } = await keys.create({ name: 'charts', plan: 'default' })
    const { tokenId, token } = await keys.createChartToken(record.id)
    // The requests of the stock UDF adapter: no headers, and what the user searches for in capitals.
    const symbol = `${MEME_WETH}-eth`
    const { start } = sampleCandle()
    const period = `from=${start}&to=${start + 60}&countback=1`
    const searched = new URLSearchParams({ limit: '30', query: symbol.toUpperCase(), type: '', exchange: '' })
    const requests = [
      'config',
      `symbols?symbol=${symbol}`,
      `history?symbol=${symbol}&resolution=1&${period}`,
      'time',
      `search?${searched}`,
    ]
    const ask = (base: string, path: string, request: Request = {}) =>
      fetchInPage(`${gateway.url}${base}/${path}`, request)
    const statusOf = async (base: string): Promise<number | undefined> => (await ask(base, 'time')).status
    await waitUntil('the token is known', async () => (await statusOf(`/udf/${token}`)) === 200)
    const bodies: unknown[] = []
    for (const path of requests) {
      const { status, body, error } = await ask(`/udf/${token}`, path)
      assert.equal(status, 200, `${path}: ${error ?? JSON.stringify(body)}`)
      bodies.push(body)
    }
    const [config, info, history, now, found] = bodies as [
      { supports_search: boolean },
      { ticker: string },
      { s: string; t: number[] },
      number,
      { ticker: string }[],
    ]
    assert.deepEqual([config.supports_search, info.ticker, history.s], [true, symbol, 'ok'])
    assert.deepEqual([history.t, Number.isInteger(now)], [[start], true])
    assert.deepEqual(
      found.map(({ ticker }) => ticker),
      [symbol],
    )
    for (const path of requests) {
      assert.equal((await ask('/udf', path)).status, 401, path)
      assert.equal((await ask(`/udf/${apiKey}`, path)).status, 404, path)
    }
    const asKey = { headers: { 'X-API-KEY': token } }
    for (const path of ['usage', `pairs/${symbol}`]) assert.equal((await ask('/v2', path, asKey)).status, 401)
    assert.equal((await ask('/udf', 'config', asKey)).status, 401)
    await keys.revokeChartToken(record.id, tokenId)
    await waitUntil('the token is revoked', async () => (await statusOf(`/udf/${token}`)) !== 200)
    for (const path of requests) assert.equal((await ask(`/udf/${token}`, path)).status, 401, path)
  })

  test('is kept out where its origin is not listed', async () => {
    const strict = await world.startGateway({}, { allowed_origins: ['https://terminal.example'] })
    try {
      const answer = await fetchInPage(`${strict.url}${TOKEN_PATH}`, { headers: { 'X-API-KEY': API_KEY } })
      assert.match(answer.error ?? '', /Failed to fetch/)
      const outcome = await opened.page.evaluate(
        (address) =>
          new Promise<string>((resolve) => {
            const socket = new WebSocket(address)
            socket.onopen = () => resolve('open')
            socket.onclose = () => resolve('closed')
          }),
        `${strict.url.replace('http', 'ws')}/ws`,
      )
      assert.equal(outcome, 'closed')
    } finally {
      await strict.stop()
    }
  })
})
