import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Hex, zeroAddress } from 'viem'
import type { V3Pool } from '../../dev/market/uniswap-v3.ts'
import { idOf } from '../../dev/market/uniswap-v4.ts'
import type { Pipeline } from '../support/rigs/pipeline.ts'
import { ExpectedAnswers } from './expected-answers.ts'
import { liquidityColumns, switchColumns, tradeColumns } from './expected-columns.ts'
import type { ExpectedHoldings } from './expected-holdings.ts'
import type { ExpectedMarket } from './expected-market.ts'
import { decimal, price, value } from './expected-numbers.ts'
import type { ExpectedTrade } from './expected-pools.ts'
import { inChainOrder, ProtocolsRun, pairRow, pick, poolOf, type Row, type Rows } from './protocols-run.ts'
import type { ProtocolsScenario } from './protocols-scenario.ts'
import { withoutUnknown } from './without-unknown.ts'

/** Base units. */
const A_FEW = 8n

let run: ProtocolsRun
let scenario: ProtocolsScenario
let expected: ExpectedMarket
let holdings: ExpectedHoldings
let lateTrades: readonly ExpectedTrade[]
let fullRows: Rows
let lateRows: Rows
let late: Pipeline
let lostPool: string

before(async () => {
  run = await ProtocolsRun.deploy()
  scenario = run.scenario
  ;({ expected, holdings, lateTrades, fullRows, lateRows, late, lostPool } = await run.play())
})

after(() => run?.stop())

const v3Pools = (): V3Pool[] => Object.values(scenario.pools)
const v4Keys = () => [scenario.fortUsd, scenario.ethFort, scenario.fortWeth]

test('every swap of V2, V3 and V4 is a stored trade, with amounts, sides, wallet, reserves and prices', () => {
  const trades = expected.pools.trades.map(tradeColumns)
  const columns = Object.keys(trades[0] ?? {})
  for (const amm of ['uniswap_v2', 'uniswap_v3', 'uniswap_v4'])
    assert.ok(trades.filter((trade) => trade['amm'] === amm).length > 15, `few trades in ${amm}`)
  const stored = inChainOrder(fullRows['trades']).map((row) => pick(row, columns))
  assert.deepEqual(stored, trades)
  for (const { id } of [...expected.pools.all.values()].filter((one) => one.reserve0 > 0n)) {
    const sold = trades.filter(({ pair }) => pair === id).map((trade) => trade['sold_token'])
    assert.equal(new Set(sold).size, 2, `${id} was traded in one direction only`)
  }
  for (const id of [scenario.pools.veeWeth30.address, idOf(scenario.fortUsd), idOf(scenario.ethFort)])
    assert.ok(poolOf(expected, id).crossings > 0, `${id} was traded within one range only`)
})

test('liquidity that came and went is stored, with amounts and worth, and so is every change of main pair', () => {
  const events = expected.pools.liquidity.map(liquidityColumns)
  const columns = Object.keys(events[0] ?? {})
  assert.deepEqual(
    inChainOrder(fullRows['liquidity']).map((row) => pick(row, columns)),
    events,
  )
  for (const kind of ['addLiquidity', 'removeLiquidity', 'createPair', 'collectFee'])
    assert.ok(events.filter((event) => event['kind'] === kind).length > 1, `few of ${kind}`)
  const switches = expected.tokens.switches.map(switchColumns)
  assert.ok(switches.length > 0)
  assert.deepEqual(
    (fullRows['switches'] ?? []).map((row) => pick(row, Object.keys(switches[0] ?? {}))),
    switches.toSorted((a, b) => (String(a['token']) < String(b['token']) ? -1 : 1)),
  )
})

test('a V3 pair has the balances and the price of its pool', async () => {
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
  assert.deepEqual([...stored.keys()].sort(), [...expected.pools.all.keys()].sort())
  for (const one of expected.pools.all.values()) {
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
        token0_price_usd: price(one.prices.price0.usd) ?? null,
        token1_price_usd: price(one.prices.price1.usd) ?? null,
        tvl_usd: value(one.tvl.usd) ?? null,
      },
    )
  }
})

test('REST returns every pair and token of all three exchanges, to the last digit', async () => {
  const answers = new ExpectedAnswers(expected, holdings)
  for (const id of expected.pools.all.keys()) {
    const { status, body } = await run.full.get(`/v2/pairs/${id}-local`)
    assert.equal(status, 200)
    assert.deepEqual(withoutUnknown(body), answers.pairDetail(id))
  }
  for (const address of expected.tokens.all.keys()) {
    const token = await run.full.get(`/v2/tokens/${address}-local`)
    assert.deepEqual(withoutUnknown(token.body), answers.tokenDetail(address))
  }
  for (const only of [scenario.vee, scenario.fort]) {
    const { mainPair, price: worth } = answers.token(only.toLowerCase())
    assert.ok(mainPair !== undefined && worth.usd !== undefined)
  }
})

test('the native coin is a token', async () => {
  const { status, body } = await run.full.get(`/v2/tokens/${zeroAddress}-local`)
  assert.equal(status, 200)
  const { token } = (body as { data: { token: Row } }).data
  assert.deepEqual(pick(token, ['name', 'symbol']), { name: 'Ether', symbol: 'ETH' })
  const row = fullRows['tokens']?.find(({ address }) => address === zeroAddress)
  assert.deepEqual(pick(row ?? {}, ['decimals', 'supply_raw']), { decimals: 18, supply_raw: null })
  // No pair has it as its target: it is worth what the deepest pool of the stablecoin says.
  const nativeUsd = decimal(expected.prices.nativeUsd ?? 0n, 40)
  assert.equal(token['current_price_usd'], nativeUsd)
  assert.deepEqual(pick(row ?? {}, ['price_usd', 'price_native']), {
    price_usd: nativeUsd,
    price_native: '1',
  })
})

test('pools that were there before the first block read are met with what they hold', () => {
  const trades = lateTrades.map(tradeColumns)
  const columns = Object.keys(trades[0] ?? {}).filter((name) => !/_(usd|native)$/.test(name))
  assert.ok(trades.filter(({ amm }) => amm === 'uniswap_v3').length >= 10)
  assert.ok(trades.some(({ amm }) => amm === 'uniswap_v4'))
  // A pair without a quote asset has no sides until one of its tokens has a route.
  const columnsOf = (row: Row): string[] =>
    poolOf(expected, String(row['pair'])).isRouted ? columns.filter((name) => name !== 'side') : columns
  assert.deepEqual(
    inChainOrder(lateRows['trades']).map((row) => pick(row, columnsOf(row))),
    trades.map((trade) => pick(trade, columnsOf(trade))),
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

test('a V4 pool with unknown tokens is omitted, one created later is not', async () => {
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
