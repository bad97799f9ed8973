import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Change, Token } from '../../src/domain/change.ts'
import { Dice } from '../support/builders/change-builders.ts'
import { sampleToken, sampleWindows, USDC, value } from '../support/builders/market-samples.ts'
import { type Gateway, GatewayWorld } from '../support/rigs/gateway-world.ts'

type Row = {
  readonly token: string
  readonly chain: string
  readonly symbol: string
  readonly is_impostor?: boolean
} & Record<'tx_volume_u_24h' | 'market_cap' | 'main_pair_tvl' | 'fdv', string | undefined>

const ORDERS = ['tx_volume_u_24h', 'market_cap', 'main_pair_tvl', 'fdv'] as const
const SLOW_MS = 1_000

let world: GatewayWorld
let gateway: Gateway
let made = 0

before(async () => {
  world = await GatewayWorld.start({ withHistory: true })
  gateway = await world.startGateway()
})

after(async () => {
  await gateway?.stop()
  await world?.stop()
})

type Made = { readonly tvl?: number; readonly volume?: number; readonly fdv?: number; readonly name?: string }

const dollars = (known: number | undefined) => (known === undefined ? undefined : value(String(known)))

/** A token and what was traded of it. */
function tokenOf(
  symbol: string,
  { tvl, volume = 0, fdv, name = symbol }: Made = {},
  address?: string,
): Change[] {
  const token: Token = sampleToken({
    address: address ?? `0x${(++made).toString(16).padStart(40, '0')}`,
    ...{ symbol, name, mainPairTvlUsd: dollars(tvl), fdvUsd: dollars(fdv) },
    marketCapUsd: dollars(fdv === undefined ? undefined : fdv / 2),
  })
  const windows = sampleWindows({ pair: undefined, token: token.address })
  const lengths = windows.lengths.map((sums) => ({ ...sums, buyUsd: value(String(volume)), sellUsd: 0n }))
  return [
    { type: 'token', token },
    { type: 'windows', windows: { ...windows, lengths } },
  ]
}

async function store(changes: readonly Change[], chain: 'eth' | 'bsc' = 'eth'): Promise<void> {
  const set = await world.publish(changes, { chain })
  await world.storeAll(chain)
  await gateway.applied(set)
}

async function search(keyword: string, others: Record<string, string> = {}): Promise<Row[]> {
  const { status, body } = await gateway.get(`/v2/tokens?${new URLSearchParams({ keyword, ...others })}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body as Row[]
}

const shown = (rows: readonly Row[]): string[] =>
  rows.map(({ symbol, is_impostor: isImpostor }) => `${symbol}${isImpostor ? ' impostor' : ''}`)

describe('matches', () => {
  before(async () => {
    await store([
      ...tokenOf('WOOF', { tvl: 50_000, volume: 10, fdv: 9, name: 'Woof the Dog' }),
      ...tokenOf('WOOFY', { tvl: 70_000, volume: 99, fdv: 70, name: 'Woofy' }),
      ...tokenOf('WOO', { tvl: 10, volume: 5, fdv: 800, name: 'Woo Network' }),
      ...tokenOf('HOUND', { tvl: 3_000, volume: 40, fdv: 60, name: 'Great WOOF Token' }),
      ...tokenOf('ＷＯＯＦ', { tvl: 100, volume: 1_000_000, fdv: 10 ** 9, name: 'wide' }),
      ...tokenOf('W\u041e\u041eF', { tvl: 200, volume: 2_000_000, fdv: 10 ** 10, name: 'Cyrillic' }),
    ])
    await store(tokenOf('woof', { tvl: 5, volume: 500, fdv: 1, name: 'On another chain' }), 'bsc')
  })

  test('equal symbols, then longer ones, then names; case and letters that look alike do not matter', async () => {
    const all = ['woof', 'WOOF', 'W\u041e\u041eF impostor', 'ＷＯＯＦ impostor', 'WOOFY', 'HOUND']
    for (const keyword of ['woof', 'Woof', ' woof ', 'W00F', '$woof', '𝐰𝐨𝐨𝐟', 'wо\u200bof']) {
      const rows = shown(await search(keyword))
      assert.deepEqual(new Set(rows), new Set(all), keyword)
      assert.deepEqual(rows.slice(4), ['WOOFY', 'HOUND'], keyword)
      assert.deepEqual(new Set(rows.slice(0, 2)), new Set(['woof', 'WOOF']), keyword)
    }
    assert.deepEqual(shown(await search('woof', { chain: 'bsc' })), ['woof'])
    assert.deepEqual(shown(await search('WOOF', { chain: 'eth', limit: '1' })), ['WOOF'])
  })

  test('a name from its beginning or a later word, but for words that are in every other name', async () => {
    assert.deepEqual(shown(await search('great woof')), ['HOUND'])
    assert.deepEqual(shown(await search('dog')), ['WOOF'])
    assert.deepEqual(shown(await search('NETWORK')), ['WOO'])
    assert.deepEqual(shown(await search('token')), [])
    assert.deepEqual(shown(await search('do')), [])
  })

  test('a single letter finds symbols', async () => {
    const rows = await search('w', { chain: 'eth' })
    const symbols = ['WOO', 'WOOF', 'WOOFY', 'ＷＯＯＦ', 'W\u041e\u041eF']
    assert.deepEqual(new Set(rows.map(({ symbol }) => symbol)), new Set(symbols))
    assert.deepEqual(shown(await search('h')), ['HOUND'])
  })

  test('each order counts after the match', async () => {
    for (const orderby of ORDERS) {
      const genuine = (await search('wo', { chain: 'eth', orderby })).filter(
        (row) => row.is_impostor === false,
      )
      const figures = genuine.map((row) => Number(row[orderby]))
      assert.equal(genuine.length, 3)
      assert.deepEqual(
        figures,
        figures.toSorted((a, b) => b - a),
        orderby,
      )
    }
  })

  test('every keyword is answered in time', async () => {
    const odd = [
      '%',
      '_',
      '\\',
      "' OR 1=1 --",
      '\u0000',
      '\u202e',
      '\ufffd',
      '\ud800',
      '💩',
      'ﷺ',
      'x'.repeat(100),
      '\u0301',
    ]
    for (const keyword of [...odd, ...odd.map((each) => `${each}a`.slice(0, 100))]) {
      const start = performance.now()
      await search(keyword)
      assert.ok(performance.now() - start < SLOW_MS, keyword)
    }
    const { status } = await gateway.get('/v2/tokens?keyword=%ED%A0%80')
    assert.ok(status === 200 || status === 400)
  })
})

test('a quote asset is genuine whatever others hold', async () => {
  await store([
    ...tokenOf('USDC', { name: 'USD Coin' }, USDC),
    ...tokenOf('USDC', { tvl: 10 ** 9, volume: 10 ** 9, fdv: 10 ** 12, name: 'Educational Tether USD' }),
  ])
  for (const orderby of ORDERS) {
    for (const keyword of ['usdc', 'USDC', 'us', 'u']) {
      const rows = await search(keyword, { chain: 'eth', orderby })
      assert.deepEqual(
        rows.map((row) => [row.token === USDC, row.is_impostor]),
        [
          [true, false],
          [false, true],
        ],
      )
    }
  }
})

test('a token is found by what it is now: not once it is undone, nor by what it held before', async () => {
  const [gone, rugged, other] = [`0x${'91'.repeat(20)}`, `0x${'92'.repeat(20)}`, `0x${'93'.repeat(20)}`]
  const results = async (): Promise<unknown[]> =>
    (await search('rugx', { orderby: 'main_pair_tvl' })).map((row) => [row.token, row.is_impostor])
  await store([
    ...tokenOf('RUGX', { tvl: 900 }, gone),
    ...tokenOf('RUGX', { tvl: 800 }, rugged),
    ...tokenOf('RUGX', { tvl: 700 }, other),
  ])
  assert.deepEqual(await results(), [
    [gone, false],
    [rugged, true],
    [other, true],
  ])
  await store(tokenOf('RUGX', { tvl: 1 }, rugged))
  await store([{ type: 'tokenRemoved', token: gone }])
  assert.deepEqual(await results(), [
    [other, false],
    [rugged, true],
  ])
  await store(tokenOf('RUGX', { tvl: 2_000 }, gone))
  assert.deepEqual(await results(), [
    [gone, false],
    [other, true],
    [rugged, true],
  ])
})

test('a returned row is updated when its token or its windows change', async () => {
  const address = `0x${'94'.repeat(20)}`
  const results = async (): Promise<unknown[]> =>
    (await search('oftx')).map((row) => [row.main_pair_tvl, row.tx_volume_u_24h, row.is_impostor])
  await store(tokenOf('OFTX', { tvl: 100, volume: 7 }, address))
  for (let times = 0; times < 2; times++) assert.deepEqual(await results(), [['100', '7', false]])
  const [token, windows] = tokenOf('OFTX', { tvl: 50, volume: 8 }, address)
  assert.ok(token !== undefined && windows !== undefined)
  await store([token])
  assert.deepEqual(await results(), [['50', '7', false]])
  await store([windows])
  assert.deepEqual(await results(), [['50', '8', false]])
  await store(tokenOf('OFTX', { tvl: 60, volume: 1 }))
  assert.deepEqual(await results(), [
    ['60', '1', false],
    ['50', '8', true],
  ])
})

test('no impostor stands before its genuine token, in any order, of more than are looked at', async () => {
  const dice = new Dice(7)
  const symbols = ['ZAP', 'zap', 'ZАP', 'ZAPP', 'ZAPPER', '$ZAP', 'ZAPl', 'ZAPI']
  const names = ['Zap', 'Zap Token', 'Other']
  const changes = Array.from({ length: 900 }, () =>
    tokenOf(dice.pick(symbols), {
      ...{
        tvl: dice.below(1_000) * 100,
        volume: dice.below(10 ** 6),
        fdv: dice.below(10 ** 9),
        name: dice.pick(names),
      },
    }),
  ).flat()
  await store(changes)
  const tokens = new Map(
    changes.flatMap((change) => (change.type === 'token' ? [[change.token.address, change.token]] : [])),
  )
  const looks = (symbol: string): string =>
    symbol.replace('$', '').replace('А', 'A').toUpperCase().replace('ZAPI', 'ZAPL')
  const highest = new Map<string, bigint>()
  for (const { symbol, mainPairTvlUsd: tvl = 0n } of tokens.values()) {
    if (tvl > (highest.get(looks(symbol)) ?? -1n)) highest.set(looks(symbol), tvl)
  }
  for (const orderby of ORDERS) {
    for (const keyword of ['zap', 'ZAPP', 'z', 'ZAPI']) {
      const rows = await search(keyword, { orderby, limit: '300' })
      const seen = new Set<string>()
      for (const { token, symbol, is_impostor: isImpostor } of rows) {
        const isGenuine = tokens.get(token)?.mainPairTvlUsd === highest.get(looks(symbol))
        assert.equal(isImpostor, !isGenuine, `${symbol} by ${keyword}`)
        if (isGenuine) seen.add(looks(symbol))
        assert.ok(seen.has(looks(symbol)), `${symbol} before its genuine one, by ${keyword} and ${orderby}`)
      }
      assert.ok(rows.length > 50)
    }
  }
})
