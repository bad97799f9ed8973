import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Change, Token, Windows } from '../../src/domain/change.ts'
import { TRENDING_FACTORS, TRENDING_VERSION, trendingScore } from '../../src/domain/trending.ts'
import { createKeyStore } from '../../src/gateway/access/keys/key-store.ts'
import { sampleToken, sampleWindows, USDC, value, WETH } from '../support/builders/market-samples.ts'
import { type Gateway, GatewayWorld, waitUntil } from '../support/rigs/gateway-world.ts'

let world: GatewayWorld
let gateway: Gateway
/** Keys of two clients. */
let keys: readonly [string, string]

const TOKENS = 25
const LOGO = 'https://pictures.example/first.png'
const addressOf = (index: number): string => `0x${index.toString(16).padStart(40, '0')}`
const addresses = Array.from({ length: TOKENS }, (_, index) => addressOf(index + 1))

type Page = {
  readonly current_page_size: number
  readonly next_page: number
  readonly total: number
  readonly tokens: readonly { readonly token: string; readonly trending?: object }[]
}

before(async () => {
  world = await GatewayWorld.start()
  const store = createKeyStore(await world.logs.openLatest('KEYS'), Date.now)
  const create = async (name: string) =>
    (await store.create({ name, plan: 'default', expiresAt: undefined })).apiKey
  keys = [await create('first'), await create('second')]
  const list = join(world.stack.dataDir, 'list.json')
  const listed = { chainId: 1, address: addressOf(1), logoURI: LOGO, tags: ['audited'] }
  writeFileSync(list, JSON.stringify({ tokens: [listed, { chainId: 1, address: WETH, logoURI: LOGO }] }))
  gateway = await world.startGateway({}, { token_lists: [list] })
})

after(async () => {
  await gateway?.stop()
  await world?.stop()
})

async function read(key: string, page: number, more = ''): Promise<Page> {
  const path = `/v2/tokens/trending?chain=eth&page_size=10&current_page=${page}${more}`
  const { status, body } = await gateway.get(path, { 'x-api-key': key })
  assert.equal(status, 200)
  return body as Page
}

const namesOf = ({ tokens }: Page): string[] => tokens.map(({ token }) => token)

function tokenOf(address: string, overrides: Partial<Token> = {}): Token {
  return sampleToken({ address, mainPair: address, mainPairTvlUsd: value('50000'), ...overrides })
}

function windowsOf(address: string, makers: number): Windows {
  const sums = {
    ...{ buyUsd: value(String(makers * 60)), sellUsd: value(String(makers * 40)), openUsd: undefined },
    ...{ buys: makers, sells: makers, makers, buyers: makers, sellers: Math.floor(makers / 3) },
  }
  return sampleWindows({ pair: address, token: address, lengths: Array(6).fill(sums) })
}

/** The writer has it all. */
async function trade(makersOf: (index: number) => number): Promise<void> {
  const changes = addresses.flatMap((address, index): Change[] => [
    { type: 'token', token: tokenOf(address) },
    { type: 'windows', windows: windowsOf(address, makersOf(index)) },
  ])
  await gateway.applied(await world.publish(changes))
  await world.storeAll()
}

test('nothing is traded: nothing is ranked', async () => {
  const set = await world.publish([{ type: 'token', token: tokenOf(addressOf(1)) }])
  await gateway.applied(set)
  await world.storeAll()
  assert.deepEqual(await read(keys[0], 0), { current_page_size: 0, next_page: -1, total: 0, tokens: [] })
})

test('all pages are of one ranking, although places change in between', async () => {
  await trade((index) => 100 + index * 10)
  await waitUntil('the ranking is there', async () => (await read(keys[0], 0)).total === TOKENS)
  const pages = [await read(keys[0], 0)]
  const before = addresses.toReversed()
  assert.deepEqual(namesOf(pages[0] as Page), before.slice(0, 10))

  await trade((index) => 1_000 - index * 10)
  await waitUntil('another client is given the new ranking', async () => {
    return namesOf(await read(keys[1], 0))[0] === addresses[0]
  })
  pages.push(await read(keys[0], 1), await read(keys[0], 2))
  assert.deepEqual(pages.flatMap(namesOf), before, 'each token once, in the order of the first page')
  assert.deepEqual(
    pages.map(({ current_page_size, next_page, total }) => [current_page_size, next_page, total]),
    [
      [10, 1, TOKENS],
      [10, 2, TOKENS],
      [5, -1, TOKENS],
    ],
  )
  const second = [await read(keys[1], 0), await read(keys[1], 1), await read(keys[1], 2)]
  assert.deepEqual(second.flatMap(namesOf), addresses)
  assert.deepEqual(namesOf(await read(keys[0], 0)), addresses.slice(0, 10), 'who begins anew sees the newest')
})

test('not ranked: main tokens, honeypots, thin ones, wash-traded ones', async () => {
  const washed = windowsOf(addressOf(4), 3)
  const lengths = washed.lengths.map((sums) => ({ ...sums, buys: 300, sells: 300 }))
  const risk = { score: 90, isHoneypot: true, isMintable: false }
  await gateway.applied(
    await world.publish([
      { type: 'token', token: tokenOf(WETH) },
      { type: 'windows', windows: windowsOf(WETH, 9_999) },
      { type: 'token', token: tokenOf(addressOf(2), { risk }) },
      { type: 'token', token: tokenOf(addressOf(3), { mainPairTvlUsd: value('999') }) },
      { type: 'windows', windows: { ...washed, lengths } },
      { type: 'tokenRemoved', token: addressOf(5) },
    ]),
  )
  await world.storeAll()
  await waitUntil('they are gone', async () => (await read(keys[1], 0)).total === TOKENS - 4)
  const left = [...addresses.slice(0, 1), ...addresses.slice(5)]
  const pages = [await read(keys[1], 0), await read(keys[1], 1), await read(keys[1], 2)]
  assert.deepEqual(pages.flatMap(namesOf), left)
  assert.equal((await read(keys[1], 2)).next_page, -1)
})

test('explained on request only', async () => {
  const [first] = (await read(keys[0], 0, '&explain=true')).tokens
  const time = Number((await gateway.get(`/v2/tokens/${addressOf(1)}-eth`)).headers['x-block-time'])
  const expected = trendingScore(tokenOf(addressOf(1)), windowsOf(addressOf(1), 1_000), time)
  assert.ok(expected !== undefined)
  assert.deepEqual(first?.trending, {
    version: TRENDING_VERSION,
    score: expected.score,
    factors: TRENDING_FACTORS.map((name) => ({ name, points: expected.factors[name] })),
  })
  assert.equal((await read(keys[0], 0)).tokens[0]?.trending, undefined)
  const refused = await gateway.get('/v2/tokens/trending?chain=eth&explain=yes')
  assert.equal(refused.status, 400)
})

test('token lists supply logos in rows and details, and audits', async () => {
  const logosOf = (rows: unknown) =>
    Object.values(rows as Record<string, { token: string; logo_url?: string }>).map((row) => row.logo_url)
  const ids = [addressOf(1), addressOf(6)].map((address) => `${address}-eth`)
  const batch = await gateway.post('/v2/tokens/search', { token_ids: ids })
  assert.deepEqual(logosOf(batch.body), [LOGO, undefined])
  const detailOf = async (address: string) => {
    const { body } = await gateway.get(`/v2/tokens/${address}-eth`)
    const { data } = body as { data: { is_audited: boolean; token: { logo_url: string } } }
    return [data.is_audited, data.token.logo_url]
  }
  assert.deepEqual(await detailOf(addressOf(1)), [true, LOGO])
  assert.deepEqual(await detailOf(addressOf(6)), [false, ''])
  await gateway.applied(await world.publish([{ type: 'token', token: tokenOf(USDC) }]))
  const main = await gateway.get('/v2/tokens/main?chain=eth')
  assert.deepEqual(logosOf(main.body), ['', LOGO])
})
