import assert from 'node:assert/strict'
import { type Hex, zeroAddress } from 'viem'
import { compile } from '../../dev/market/artifacts.ts'
import type { Market } from '../../dev/market/market.ts'
import { type Range, rangeAround, sqrtPrice, UniswapV3, type V3Pool } from '../../dev/market/uniswap-v3.ts'
import { type PoolKey, poolKey, UniswapV4 } from '../../dev/market/uniswap-v4.ts'
import type { TokenInfo } from './expected-prices.ts'
import { Scenario } from './scenario.ts'

const FAKE = compile('FakeV3Pool', new URL('../support/tokens/FakeV3Pool.sol', import.meta.url))

type Parts = {
  v3: UniswapV3
  v4: UniswapV4
  vee: Hex
  fort: Hex
  trader: Hex
  fake: Hex
}

/**
 * The V2 market of the other tests, and beside it Uniswap V3 and V4. VEE trades in V3 only, FORT in V4 only.
 * Each block has at most one transaction that touches V4's native pool, so that its amount can be derived from
 * the manager's balance; and V4 fees are always paid out before liquidity is removed, so that what is paid then
 * is nothing but that liquidity.
 */
export class ProtocolsScenario {
  readonly market: Market
  readonly v2: Scenario
  readonly stable: Hex
  readonly v3: UniswapV3
  readonly v4: UniswapV4
  readonly vee: Hex
  readonly fort: Hex
  readonly fake: Hex
  readonly tokens: readonly TokenInfo[]
  readonly fortUsd: PoolKey
  readonly ethFort: PoolKey
  /** Created in a lost branch first, at another price. */
  readonly fortWeth: PoolKey
  readonly #trader: Hex
  #pools: { veeWeth30: V3Pool; veeWeth5: V3Pool; usdWeth: V3Pool; veePep: V3Pool } | undefined
  readonly #ranges = new Map<string, Range>()

  private constructor(v2: Scenario, { v3, v4, vee, fort, trader, fake }: Parts) {
    this.v2 = v2
    this.market = v2.market
    this.stable = v2.stable
    this.v3 = v3
    this.v4 = v4
    this.vee = vee
    this.fort = fort
    this.fake = fake
    this.#trader = trader
    this.fortUsd = poolKey(fort, v2.stable, 3000, 60)
    this.ethFort = poolKey(zeroAddress, fort, 500, 10)
    this.fortWeth = poolKey(fort, v2.market.weth, 10_000, 200)
    this.tokens = [
      ...v2.tokens,
      { address: vee, symbol: 'VEE', name: 'Vee Three', decimals: 18 },
      { address: fort, symbol: 'FORT', name: 'Fort Four', decimals: 4 },
      { address: zeroAddress, symbol: 'ETH', name: 'Ether', decimals: 18 },
    ]
  }

  static async deploy(rpcUrl: string): Promise<ProtocolsScenario> {
    const v2 = await Scenario.deploy(rpcUrl)
    const { market } = v2
    const v3 = await UniswapV3.deploy(market)
    const v4 = await UniswapV4.deploy(market)
    const vee = await market.createToken({
      name: 'Vee Three',
      symbol: 'VEE',
      decimals: 18,
      supply: 10n ** 27n,
    })
    const fort = await market.createToken({
      name: 'Fort Four',
      symbol: 'FORT',
      decimals: 4,
      supply: 10n ** 15n,
    })
    const fake = await market.deploy(FAKE, [v3.factory, vee, market.weth, 3000])
    const [, trader] = await market.accounts()
    if (trader === undefined) throw new Error('the node offers no second account')
    const tokens = [v2.stable, v2.token, vee, fort, market.weth]
    await market.wrap(6_000n * 10n ** 18n)
    await market.mine()
    for (const token of tokens) {
      await market.transfer(token, trader, (await market.balanceOf(token)) / 10n)
      for (const spender of [v3.positions, v3.router, ...v4.spenders]) {
        await market.approve(token, spender)
        await market.approve(token, spender, trader)
      }
      await market.mineMany(2)
    }
    // What the flash loans will cost.
    await market.transfer(vee, v3.borrower, 10n ** 24n)
    await market.transfer(market.weth, v3.borrower, 10n ** 20n)
    const scenario = new ProtocolsScenario(v2, { v3, v4, vee, fort, trader, fake })
    await scenario.#mine()
    return scenario
  }

  get pools() {
    if (this.#pools === undefined) throw new Error('the pools are not there yet')
    return this.#pools
  }

  /** Creates the pools and gives them liquidity, in wide and in narrow ranges. */
  async open(): Promise<void> {
    const { v2, v3, v4, vee, fort, market } = this
    const { weth } = market
    await v3.createPool(vee, weth, 3000, sqrtPrice(vee, 10n ** 18n, weth, 12_345_678_901_234_567n))
    await v3.createPool(vee, weth, 500, sqrtPrice(vee, 10n ** 18n, weth, 12_321_000_000_000_000n))
    await this.#mine()
    await v3.createPool(v2.stable, weth, 500, sqrtPrice(v2.stable, 2_012_345_678n, weth, 10n ** 18n))
    await v3.createPool(vee, v2.token, 3000, sqrtPrice(vee, 10n ** 18n, v2.token, 28_765_432_109n))
    await v4.createPool(this.fortUsd, sqrtPrice(fort, 10n ** 4n, v2.stable, 3_210_987n))
    await v4.createPool(this.ethFort, sqrtPrice(zeroAddress, 10n ** 18n, fort, 6_270_123n))
    await this.#mine()
    // Anyone can create a pool at any price: as long as it is empty, the price means nothing.
    await v3.createPool(vee, v2.stable, 500, sqrtPrice(vee, 1n, v2.stable, 10n ** 12n))
    await this.#mine()
    this.#pools = {
      veeWeth30: await v3.poolOf(vee, weth, 3000),
      veeWeth5: await v3.poolOf(vee, weth, 500),
      usdWeth: await v3.poolOf(v2.stable, weth, 500),
      veePep: await v3.poolOf(vee, v2.token, 3000),
    }
    await this.#addV3(this.pools.veeWeth30, 60, 200, 10n ** 23n, 10n ** 21n)
    await this.#addV3(this.pools.veeWeth30, 60, 3, 10n ** 22n, 10n ** 20n)
    await this.#addV3(this.pools.veeWeth5, 10, 500, 10n ** 22n, 10n ** 20n)
    await this.#addV3(this.pools.usdWeth, 10, 1000, 900_000n * 10n ** 6n, 450n * 10n ** 18n)
    await this.#addV3(this.pools.veePep, 60, 100, 10n ** 22n, 10n ** 15n)
    await this.#mine()
    await this.#addV4(this.fortUsd, 1, 300, 200_000_000_000n)
    await this.#addV4(this.fortUsd, 2, 5, 5_000_000_000_000n)
    await this.#addV4(this.ethFort, 3, 900, 250_000_000_000_000n)
    await this.#mine()
    await this.#addV4(this.ethFort, 4, 12, 4_000_000_000_000_000n)
    await this.#mine()
  }

  /** A few blocks with trades in every pool, in both directions, small ones and ones that cross many ticks. */
  async trade(round: number): Promise<void> {
    const { v2, v3, v4, vee, fort, market, pools, fortUsd, ethFort } = this
    const size = BigInt(round * round) * 1_000_003n + 7n
    const trader = this.#trader
    await v3.sell(vee, pools.veeWeth30, size * 1_000_000_000_000_123n)
    await v3.sell(market.weth, pools.veeWeth30, size * 5_000_000_000_017n, trader)
    await v3.buy(vee, pools.veeWeth5, size * 50_000_000_000_011n, trader)
    await market.buyWithNative(v2.token, size * 300_000_000_003n, trader)
    await v4.sell(fort, fortUsd, size * 601n)
    await v4.sell(zeroAddress, ethFort, size * 1_000_000_000_009n, size * 1_000_000_000_009n, trader)
    await this.#mine()
    await v3.buy(market.weth, pools.veeWeth5, size * 700_000_000_001n)
    await v3.sellThrough(vee, pools.veeWeth5, pools.usdWeth, size * 90_000_000_000_001n)
    await v3.sell(v2.stable, pools.usdWeth, size * 1_003n, trader)
    await v3.sell(v2.token, pools.veePep, size * 1_009n)
    await market.sellForNative(v2.stable, size * 11n)
    await v4.sell(v2.stable, fortUsd, size * 180_017n, 0n, trader)
    await v4.sell(fort, ethFort, size * 3n)
    await this.#mine()
    // Bought instead of sold: here the fee is on top.
    await v4.buy(fort, fortUsd, size * 59n)
    await v4.buy(fort, ethFort, size / 17n, 10n ** 18n)
    await market.sellForNative(v2.token, size * 1_013n)
    await market.buyWithNative(v2.stable, size * 9_000_000_007n)
    await v3.buy(v2.token, pools.veePep, size * 401n, trader)
    await this.#mine()
    await v4.buy(zeroAddress, ethFort, size * 100_000_000_003n, 0n, trader)
    await v4.buy(v2.stable, fortUsd, size * 9_001n)
    await v3.sell(market.weth, pools.usdWeth, size * 300_000_000_001n)
    await this.#mine()
  }

  /** Three blocks that will be lost: trades, liquidity, and pools that are there in this branch only. */
  async lose(): Promise<void> {
    const { v2, v3, v4, vee, fort, market, pools } = this
    await v3.sell(vee, pools.veeWeth30, 777n * 10n ** 18n)
    await v3.createPool(vee, v2.stable, 3000, sqrtPrice(vee, 10n ** 18n, v2.stable, 9_999_999n))
    await v4.createPool(this.fortWeth, sqrtPrice(fort, 10n ** 4n, market.weth, 9n * 10n ** 18n))
    await this.#mine()
    await this.#addV3(await this.lostV3Pool(), 60, 10, 10n ** 21n, 10n ** 10n)
    await this.#addV3(pools.usdWeth, 10, 300, 3_000_000n * 10n ** 6n, 1_500n * 10n ** 18n)
    await this.#addV4(this.fortWeth, 90, 10, 10n ** 14n)
    await this.#poke(this.fortUsd, 1)
    await this.#mine()
    await v4.sell(fort, this.fortWeth, 10_007n)
    await v4.sell(zeroAddress, this.ethFort, 10n ** 18n, 10n ** 18n)
    await v3.sell(v2.stable, pools.usdWeth, 40_000n * 10n ** 6n)
    await market.buyWithNative(v2.stable, 10n ** 18n)
    await this.#mine()
    this.#ranges.delete('90')
  }

  lostV3Pool(): Promise<V3Pool> {
    return this.v3.poolOf(this.vee, this.v2.stable, 3000)
  }

  /** Liquidity goes and comes, fees are paid out, loans and gifts come in. */
  async rearrange(): Promise<void> {
    const { v3, v4, pools, fortUsd, ethFort } = this
    await v3.removeLiquidity(2n, await v3.liquidityOf(2n))
    await v3.removeLiquidity(1n, (await v3.liquidityOf(1n)) / 3n)
    await v3.setProtocolShare(pools.veeWeth30, 4)
    await v3.flash(pools.veeWeth30, 10n ** 18n + 1n, 3n * 10n ** 18n + 1n)
    await v4.donate(fortUsd, 1_234_567n, 89_012_345n)
    await this.#mine()
    await v3.collect(2n)
    await v3.collect(3n)
    // Deeper than V2 from here on: the native coin is priced in V3.
    await this.#addV3(pools.usdWeth, 10, 200, 3_000_000n * 10n ** 6n, 1_500n * 10n ** 18n)
    await this.#poke(fortUsd, 2)
    await this.#poke(ethFort, 3)
    await this.#mine()
    await this.#removeV4(fortUsd, 2, 5_000_000_000_000n)
    await this.#removeV4(ethFort, 3, 70_000_000_000_001n)
    await this.#mine()
    await v4.donate(ethFort, 123_456_789_012_345n, 67n, 10n ** 18n)
    await this.#addV4(fortUsd, 5, 40, 900_000_000_001n)
    await this.#mine()
  }

  /** Something that looks like a pool says that somebody sold a million VEE for nothing. */
  async pretend(): Promise<void> {
    await this.market.send({ to: this.fake, abi: FAKE.abi, name: 'swap', args: [] })
    await this.#mine()
  }

  /** Touches every pool of V3, and opens one more of V4. */
  async openLate(): Promise<void> {
    const { v3, v4, fort, market, pools } = this
    await v3.collect(1n)
    await v3.collectProtocolShare(pools.veeWeth30)
    await v4.createPool(this.fortWeth, sqrtPrice(fort, 10n ** 4n, market.weth, 1_590_123_456_789_012n))
    await this.#mine()
    await this.#addV4(this.fortWeth, 6, 20, 50_000_000_000_000n)
    await v4.sell(fort, this.fortWeth, 3_333_337n)
    await v4.sell(market.weth, this.fortWeth, 44_000_000_000_000_000n, 0n, this.#trader)
    await this.#mine()
  }

  /** Pays out all fees in V4: what the manager holds then is liquidity, but for rounding. */
  async settle(): Promise<void> {
    for (const [key, position] of [
      [this.fortUsd, 1],
      [this.ethFort, 4],
      [this.fortUsd, 5],
      [this.ethFort, 3],
      [this.fortWeth, 6],
    ] as const) {
      await this.#poke(key, position)
      await this.#mine()
    }
  }

  async #addV3(pool: V3Pool, spacing: number, steps: number, amount0: bigint, amount1: bigint) {
    const isInOrder = pool.token0 === this.vee || pool.token0 === this.v2.stable
    const range = rangeAround((await this.v3.slot0(pool)).tick, spacing, steps)
    await this.v3.addLiquidity(pool, range, isInOrder ? amount0 : amount1, isInOrder ? amount1 : amount0)
  }

  async #addV4(key: PoolKey, position: number, steps: number, liquidity: bigint): Promise<void> {
    const range = rangeAround((await this.v4.slot0(key)).tick, key.tickSpacing, steps)
    this.#ranges.set(String(position), range)
    await this.v4.modifyLiquidity(key, range, liquidity, position, nativeFor(key, 1_000n * 10n ** 18n))
  }

  async #removeV4(key: PoolKey, position: number, liquidity: bigint): Promise<void> {
    await this.v4.modifyLiquidity(key, this.#rangeOf(position), -liquidity, position)
  }

  async #poke(key: PoolKey, position: number): Promise<void> {
    await this.v4.modifyLiquidity(key, this.#rangeOf(position), 0n, position)
  }

  #rangeOf(position: number): Range {
    const range = this.#ranges.get(String(position))
    if (range === undefined) throw new Error(`no position ${position}`)
    return range
  }

  /** Nothing of the script may fail unseen. */
  async #mine(): Promise<void> {
    const { time } = await this.market.head()
    await this.market.mine(time + 7)
    const { number } = await this.market.head()
    for (const { status, transactionHash } of await this.market.receipts(number))
      assert.equal(status, 'success', `transaction ${transactionHash} in block ${number}`)
  }
}

function nativeFor({ currency0 }: PoolKey, raw: bigint): bigint {
  return currency0 === zeroAddress ? raw : 0n
}
