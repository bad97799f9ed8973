import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Change, ChangeSet } from '../../src/domain/change.ts'
import {
  MEME,
  MEME_USDC,
  MEME_WETH,
  price,
  sampleCandle,
  sampleLiquidity,
  samplePair,
  sampleSwitch,
  sampleToken,
  sampleTrade,
  sampleWindows,
  USDC,
  value,
  WALLET,
  WETH,
} from '../support/builders/market-samples.ts'
import { EXAMPLE_MARKET, EXAMPLE_REQUESTS, type ExampleRequest } from '../support/rigs/example-requests.ts'
import { API_KEY, type Gateway, GatewayWorld, waitUntil } from '../support/rigs/gateway-world.ts'

/**
 * Each input of an answer changes in turn. A gateway whose caches are full of answers from before must then answer like
 * one that has just started. Docs/architecture.md lists the caches.
 */

/** Their caches end by time, within five seconds, because no change set drops them. */
const BY_TIME = new Set(['topHolders', 'trendingTokens', 'contract'])
/** Operations about the gateway, the clock or the caller, not about the market. */
const NOT_MARKET = new Set(['udfTime', 'usage', 'status', 'udfConfig', 'chains'])
const COPY = `0x${'9'.repeat(40)}`

type Question = { readonly name: string; readonly path: string; readonly body: unknown }

let world: GatewayWorld
let cached: Gateway
let questions: readonly Question[]

before(async () => {
  world = await GatewayWorld.start({ withHistory: true })
  const copy = sampleToken({ address: COPY, mainPairTvlUsd: value('100'), tvlUsd: value('100') })
  await world.publish([...EXAMPLE_MARKET, { type: 'token', token: copy }])
  await world.storeAll()
  cached = await world.startGateway()
  questions = await marketQuestions()
})

after(async () => {
  await cached?.stop()
  await world?.stop()
})

/** Every operation about the market; what is about one token or pair also about others. */
async function marketQuestions(): Promise<Question[]> {
  const { body } = await cached.get('/openapi.json', {})
  const { paths } = body as { paths: Record<string, Record<string, { operationId: string }>> }
  const found = Object.entries(paths).flatMap(([path, item]) =>
    Object.values(item).flatMap(({ operationId: name }): Question[] => {
      const request = NOT_MARKET.has(name) ? undefined : EXAMPLE_REQUESTS[name]
      return request === undefined ? [] : [{ name, path: filled(path, request), body: request.body }]
    }),
  )
  const others = [
    { name: 'tokenDetail', path: `/v2/tokens/${WETH}-eth`, body: undefined },
    { name: 'tokenDetail', path: `/v2/tokens/${COPY}-eth`, body: undefined },
    { name: 'pairDetail', path: `/v2/pairs/${MEME_USDC}-eth`, body: undefined },
    { name: 'keywordSearch', path: `/v2/tokens?keyword=${MEME}`, body: undefined },
    {
      ...{ name: 'tokenPrices', path: '/v2/tokens/price' },
      body: { token_ids: [MEME, WETH, USDC, COPY].map((address) => `${address}-eth`) },
    },
  ]
  assert.ok(found.length > 12)
  return [...found, ...others]
}

function filled(path: string, { parameters = {} }: ExampleRequest): string {
  const query = new URLSearchParams()
  let place = path
  for (const [name, given] of Object.entries(parameters)) {
    if (place.includes(`{${name}}`)) place = place.replace(`{${name}}`, String(given))
    else query.set(name, String(given))
  }
  return query.size === 0 ? place : `${place}?${query}`
}

async function ask(gateway: Gateway, { path, body }: Question): Promise<{ status: number; body: unknown }> {
  const headers = { 'x-api-key': API_KEY }
  const answer =
    body === undefined ? await gateway.get(path, headers) : await gateway.post(path, body, headers)
  assert.ok([200, 400].includes(answer.status), `${path}: ${answer.status}`)
  // A refusal names the request.
  const { status } = answer
  return { status, body: status === 200 ? answer.body : (answer.body as { code: string }).code }
}

async function assertSame(fresh: Gateway): Promise<void> {
  const asked = questions.filter(({ name }) => !BY_TIME.has(name))
  const answersOf = (gateway: Gateway) => Promise.all(asked.map((question) => ask(gateway, question)))
  const [actual, expected] = await Promise.all([answersOf(cached), answersOf(fresh)])
  for (const [index, { path }] of asked.entries()) assert.deepEqual(actual[index], expected[index], path)
}

async function assertSoonSame(fresh: Gateway): Promise<void> {
  for (const question of questions.filter(({ name }) => BY_TIME.has(name))) {
    await waitUntil(`${question.path} is as in a new gateway`, async () => {
      const answers = [await ask(cached, question), await ask(fresh, question)]
      return JSON.stringify(answers[0]) === JSON.stringify(answers[1])
    })
  }
}

const token = (overrides: Parameters<typeof sampleToken>[0]): Change => ({
  type: 'token',
  token: sampleToken(overrides),
})
const later = samplePair({ address: MEME_USDC, isMain: false, tvlUsd: value('9000'), token1: usdSide() })

function usdSide() {
  const { token1 } = samplePair()
  return { ...token1, token: USDC, symbol: 'USDC', decimals: 6, priceUsd: price('1') }
}

function reportWith(points: number): Change[] {
  return EXAMPLE_MARKET.flatMap((change): Change[] =>
    change.type === 'contract'
      ? [{ ...change, contract: { ...change.contract, score: { version: 1, points, factors: [] } } }]
      : [],
  )
}

const busier = sampleWindows().lengths.map((sums) => ({ ...sums, buyUsd: value('9000'), buys: 90 }))
const risk = { score: 50, isHoneypot: false, isMintable: true }
const DAY = 86_400
const CHANGES: readonly [string, readonly Change[], Partial<ChangeSet>?][] = [
  ['the price', [token({ priceUsd: price('0.004'), marketCapUsd: value('9') })]],
  ['the risk score and its report', [token({ risk }), ...reportWith(50)]],
  ['the number of holders', [token({ holding: { ...sampleToken().holding, holders: 9 } as never })]],
  [
    'who holds it',
    [
      {
        type: 'balance',
        balance: { token: MEME, holder: WALLET, amountRaw: 7n, beforeRaw: 50n * 10n ** 15n },
      },
    ],
  ],
  [
    'how far its launch has come',
    [token({ platform: { name: 'pump', createdAt: 1, progressPpm: 5, graduatedAt: undefined } })],
  ],
  ["the pair's reserves", [{ type: 'pair', pair: samplePair({ tvlUsd: value('77000') }) }]],
  ['windows of both', [{ type: 'windows', windows: sampleWindows({ lengths: busier }) }]],
  [
    'windows of the token alone',
    [{ type: 'windows', windows: sampleWindows({ pair: undefined, amountRaw: 5n }) }],
  ],
  ['a quote asset', [token({ address: WETH, symbol: 'WETH', tvlUsd: value('5000000') })]],
  ['another pair', [{ type: 'pair', pair: later }]],
  [
    'the main pair',
    [
      { type: 'pair', pair: samplePair({ isMain: false }) },
      { type: 'pair', pair: { ...later, isMain: true } },
      token({ mainPair: MEME_USDC, mainPairTvlUsd: value('9000') }),
      { type: 'switch', switch: sampleSwitch() },
    ],
  ],
  ['which of two is the impostor', [token({ address: COPY, mainPairTvlUsd: value('900000') })]],
  [
    'a trade, a candle and liquidity',
    [
      { type: 'trade', trade: sampleTrade({ key: { block: 120, tx: 1, log: 1 }, time: 1_700_000_110 }) },
      { type: 'candle', candle: sampleCandle({ start: 1_700_000_100 }) },
      { type: 'liquidity', liquidity: sampleLiquidity({ key: { block: 120, tx: 1, log: 2 } }) },
    ],
  ],
  ['the day', [], { head: { number: 190, hash: `0x${'5'.repeat(64)}`, time: 1_700_000_000 + DAY } }],
  [
    'a fork that takes back a pair, a trade, a candle, windows and a token',
    [
      { type: 'pairRemoved', pair: MEME_USDC },
      { type: 'pair', pair: samplePair() },
      {
        type: 'tradeRemoved',
        trade: sampleTrade({ key: { block: 120, tx: 1, log: 1 }, time: 1_700_000_110 }),
      },
      { type: 'candleRemoved', candle: sampleCandle({ start: 1_700_000_100 }) },
      { type: 'windowsRemoved', windows: { pair: MEME_WETH, token: undefined } },
      { type: 'tokenRemoved', token: COPY },
      token({}),
    ],
    { cause: 'undo', head: { number: 200, hash: `0x${'6'.repeat(64)}`, time: 1_700_000_000 + DAY } },
  ],
]

/** After these, those answers are compared that a cache may keep for some seconds. */
const WAITED_FOR = ['the risk score and its report', 'who holds it', 'windows of both']

for (const [name, changes, overrides] of CHANGES) {
  test(`after a change of ${name}, answers are those of a gateway that has just started`, async () => {
    await Promise.all(questions.map((question) => ask(cached, question)))
    const set = await world.publish(changes, overrides)
    await cached.applied(set)
    const fresh = await world.startGateway()
    try {
      await fresh.applied(set)
      // First the change is in the log alone, then also in the stores.
      await assertSame(fresh)
      await world.storeAll()
      await assertSame(fresh)
      if (WAITED_FOR.includes(name)) await assertSoonSame(fresh)
    } finally {
      await fresh.stop()
    }
  })
}
