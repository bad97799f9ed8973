import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Hex, zeroAddress } from 'viem'
import type { V3Pool } from '../../dev/market/uniswap-v3.ts'
import { idOf } from '../../dev/market/uniswap-v4.ts'
import type { Pipeline } from '../support/pipeline.ts'
import { decimal } from './expected-market.ts'
import type { ExpectedPool, ExpectedPools, ExpectedTrade } from './expected-pools.ts'
import { inChainOrder, ProtocolsRun, pairRow, pick, poolOf, type Row, type Rows } from './protocols-run.ts'
import type { ProtocolsScenario } from './protocols-scenario.ts'

/** Base units. */
const A_FEW = 8n

let run: ProtocolsRun
let scenario: ProtocolsScenario
let expected: ExpectedPools
let lateTrades: readonly ExpectedTrade[]
let fullRows: Rows
let lateRows: Rows
let late: Pipeline
let lostPool: string

before(async () => {
  run = await ProtocolsRun.deploy()
  scenario = run.scenario
  ;({ expected, lateTrades, fullRows, lateRows, late, lostPool } = await run.play())
})

after(() => run?.stop())

const v3Pools = (): V3Pool[] => Object.values(scenario.pools)
const v4Keys = () => [scenario.fortUsd, scenario.ethFort, scenario.fortWeth]

test('every swap of V2, V3 and V4 is a stored trade, with amounts, sides, wallet, reserves and prices', () => {
  const columns = Object.keys(expected.trades[0] ?? {})
  for (const amm of ['uniswap_v2', 'uniswap_v3', 'uniswap_v4'])
    assert.ok(expected.trades.filter((trade) => trade['amm'] === amm).length > 15, `few trades in ${amm}`)
  const stored = inChainOrder(fullRows['trades']).map((row) => pick(row, columns))
  assert.deepEqual(stored, expected.trades)
  for (const { id } of [...expected.pools.values()].filter((one) => one.reserve0 > 0n)) {
    const sold = expected.trades.filter(({ pair }) => pair === id).map((trade) => trade['sold_token'])
    assert.equal(new Set(sold).size, 2, `${id} was traded in one direction only`)
  }
  for (const id of [scenario.pools.veeWeth30.address, idOf(scenario.fortUsd), idOf(scenario.ethFort)])
    assert.ok(poolOf(expected, id).crossings > 0, `${id} was traded within one range only`)
})

test('a V3 pair holds what the tokens say its pool holds, and has the price the pool has', async () => {
  for (const one of v3Pools()) {
    const { address, token0, token1 } = one
    const { sqrtPriceX96 } = await scenario.v3.slot0(one)
    assert.equal(sqrtPriceX96, poolOf(expected, address).sqrtPriceX96)
    const row = pairRow(fullRows, address)
    assert.equal(row['token0_reserve_raw'], String(await scenario.market.balanceOf(token0, address)))
    assert.equal(row['token1_reserve_raw'], String(await scenario.market.balanceOf(token1, address)))
  }
  const { usdWeth } = scenario.pools
  // Against the stablecoin the price is the square of the root and nothing else.
  const { sqrtPriceX96 } = await scenario.v3.slot0(usdWeth)
  const isStable0 = usdWeth.token0 === scenario.v2.stable
  const square = sqrtPriceX96 ** 2n
  const [stableRaw, nativeRaw] = isStable0 ? [2n ** 192n, square] : [square, 2n ** 192n]
  const nativeUsd = (stableRaw * 10n ** 58n) / (nativeRaw * 10n ** 6n)
  const price = pairRow(fullRows, usdWeth.address)[isStable0 ? 'token1_price_usd' : 'token0_price_usd']
  assert.equal(price, decimal(nativeUsd, 40))
})

test('a V4 pair has the price the manager has, and holds its liquidity', async () => {
  for (const key of v4Keys()) {
    const { sqrtPriceX96 } = await scenario.v4.slot0(key)
    assert.equal(sqrtPriceX96, poolOf(expected, idOf(key)).sqrtPriceX96)
  }
  const { market, v2, v4, fortUsd, fort } = scenario
  const isStable0 = fortUsd.currency0 === v2.stable
  const square = (await v4.slot0(fortUsd)).sqrtPriceX96 ** 2n
  const [stableRaw, fortRaw] = isStable0 ? [2n ** 192n, square] : [square, 2n ** 192n]
  const row = pairRow(fullRows, idOf(fortUsd))
  assert.equal(
    row[isStable0 ? 'token1_price_usd' : 'token0_price_usd'],
    decimal((stableRaw * 10n ** 44n) / (fortRaw * 10n ** 6n), 40),
  )
  // All fees are paid out by now, but for roundings: a swap rounds its fee up at each tick it crosses, our count once.
  const { number } = await market.head()
  for (const token of [fort, v2.stable, market.weth, zeroAddress] as Hex[]) {
    const held =
      token === zeroAddress
        ? await market.nativeBalanceOf(v4.manager, number)
        : await market.balanceOf(token, v4.manager)
    const counted = v4Keys().reduce((sum, key) => {
      const { currency0, currency1 } = key
      const pair = pairRow(fullRows, idOf(key))
      const side = currency0 === token ? 'token0' : currency1 === token ? 'token1' : undefined
      return side === undefined ? sum : sum + BigInt(String(pair[`${side}_reserve_raw`]))
    }, 0n)
    const off = held - counted
    assert.ok(off >= -A_FEW && off <= A_FEW, `${token}: off by ${off}`)
  }
})

test('every pair is stored with its reserves, prices and TVL', () => {
  const stored = new Map((fullRows['pairs'] ?? []).map((row) => [row['address'], row]))
  assert.deepEqual([...stored.keys()].sort(), [...expected.pools.keys()].sort())
  for (const one of expected.pools.values()) {
    assert.deepEqual(
      pick(stored.get(one.id) ?? {}, [
        'amm',
        'token0_reserve_raw',
        'token1_reserve_raw',
        'token0_price_usd',
        'token1_price_usd',
        'tvl_usd',
      ]),
      {
        amm: one.amm,
        token0_reserve_raw: String(one.reserve0),
        token1_reserve_raw: String(one.reserve1),
        token0_price_usd: one.usd0,
        token1_price_usd: one.usd1,
        tvl_usd: one.tvlUsd === undefined ? null : decimal(one.tvlUsd, 18),
      },
    )
  }
})

test('a token that trades only in V3, or only in V4, has a price, TVL and a main pair', async () => {
  for (const token of [scenario.vee, scenario.fort]) {
    const address = token.toLowerCase()
    const pairs = [...expected.pools.values()].filter(
      ({ token0, token1, tvlUsd }) =>
        [token0.address, token1.address].includes(address) && tvlUsd !== undefined,
    )
    assert.ok(pairs.length >= 2)
    const main = pairs.toSorted((a, b) =>
      (a.depthUsd ?? 0n) > (b.depthUsd ?? 0n) ? -1 : 1,
    )[0] as ExpectedPool
    const { status, body } = await run.full.get(`/v2/tokens/${token}-local`)
    assert.equal(status, 200)
    const { data } = body as { data: { token: Row; pairs: Row[] } }
    assert.equal(data.token['current_price_usd'], main.targetUsd)
    assert.equal(
      data.token['tvl'],
      decimal(
        pairs.reduce((sum, { tvlUsd }) => sum + (tvlUsd ?? 0n), 0n),
        18,
      ),
    )
    for (const { id } of pairs) {
      const { body: pair } = await run.full.get(`/v2/pairs/${id}-local`)
      assert.equal((pair as Row)['is_main_pair'], id === main.id)
    }
  }
})

test('GET /v2/pairs takes the 32-byte id of a V4 pool', async () => {
  const id = idOf(scenario.ethFort)
  const { status, body } = await run.full.get(`/v2/pairs/${id}-local`)
  const { token0, token1, reserve0, reserve1, usd0, usd1, tvlUsd } = poolOf(expected, id)
  assert.equal(status, 200)
  assert.deepEqual(
    pick(body as Row, [
      ...['pair', 'amm', 'target_token', 'token0_address', 'token0_symbol', 'token0_decimal'],
      ...['token1_address', 'reserve0', 'reserve1', 'token0_price_usd', 'token1_price_usd', 'tvl'],
    ]),
    {
      pair: id,
      amm: 'uniswap_v4',
      target_token: scenario.fort.toLowerCase(),
      token0_address: zeroAddress,
      token0_symbol: 'ETH',
      token0_decimal: 18,
      token1_address: scenario.fort.toLowerCase(),
      reserve0: decimal(reserve0, token0.decimals),
      reserve1: decimal(reserve1, token1.decimals),
      token0_price_usd: usd0,
      token1_price_usd: usd1,
      tvl: decimal(tvlUsd ?? 0n, 18),
    },
  )
})

test('the native coin is a token', async () => {
  const { status, body } = await run.full.get(`/v2/tokens/${zeroAddress}-local`)
  assert.equal(status, 200)
  const { token } = (body as { data: { token: Row } }).data
  assert.deepEqual(pick(token, ['name', 'symbol']), { name: 'Ether', symbol: 'ETH' })
  const row = fullRows['tokens']?.find(({ address }) => address === zeroAddress)
  assert.deepEqual(pick(row ?? {}, ['decimals', 'supply_raw']), { decimals: 18, supply_raw: null })
  // No pair has it as its target: it is worth what the deepest pool of the stablecoin says.
  const nativeUsd = decimal(expected.nativeUsd() ?? 0n, 40)
  assert.equal(token['current_price_usd'], nativeUsd)
  assert.deepEqual(pick(row ?? {}, ['price_usd', 'price_native']), {
    price_usd: nativeUsd,
    price_native: '1',
  })
})

test('pools that were there before the first block read are met with what they hold', () => {
  const columns = Object.keys(expected.trades[0] ?? {}).filter((name) => !/usd$/.test(name))
  assert.ok(lateTrades.filter(({ amm }) => amm === 'uniswap_v3').length >= 10)
  assert.ok(lateTrades.some(({ amm }) => amm === 'uniswap_v4'))
  assert.deepEqual(
    inChainOrder(lateRows['trades']).map((row) => pick(row, columns)),
    lateTrades.map((trade) => pick(trade, columns)),
  )
  for (const { address } of v3Pools()) {
    const columnsOfPair = [
      ...['amm', 'token0', 'token1', 'token0_symbol', 'token1_symbol', 'target_token'],
      ...['token0_reserve_raw', 'token1_reserve_raw', 'token0_price_usd', 'token1_price_usd', 'tvl_usd'],
      ...['token0_price_native', 'token1_price_native', 'tvl_native', 'is_main', 'last_trade_price_usd'],
    ]
    assert.deepEqual(
      pick(pairRow(lateRows, address), columnsOfPair),
      pick(pairRow(fullRows, address), columnsOfPair),
    )
  }
})

test('a V4 pool that nobody can name the tokens of is left out, one created later is not', async () => {
  for (const key of [scenario.fortUsd, scenario.ethFort]) {
    assert.ok(!JSON.stringify(lateRows).includes(idOf(key)))
    assert.equal((await late.get(`/v2/pairs/${idOf(key)}-local`)).status, 400)
  }
  const columns = [
    'token0_reserve_raw',
    'token1_reserve_raw',
    'token0_price_usd',
    'token1_price_usd',
    'tvl_usd',
  ]
  const id = idOf(scenario.fortWeth)
  assert.deepEqual(pick(pairRow(lateRows, id), columns), pick(pairRow(fullRows, id), columns))
})

test('neither a pretender nor a pool of a lost branch is left', async () => {
  for (const address of [scenario.fake.toLowerCase(), lostPool]) {
    for (const pipeline of [run.full, late]) {
      const { status, body } = await pipeline.get(`/v2/pairs/${address}-local`)
      assert.equal(status, 400)
      assert.equal((body as Row)['code'], 'unknown_pair')
    }
    assert.ok(!JSON.stringify([fullRows, lateRows]).includes(address))
  }
})
