import assert from 'node:assert/strict'
import { type Hex, zeroAddress } from 'viem'
import { Market } from '../../dev/market/market.ts'
import { UniswapV3 } from '../../dev/market/uniswap-v3.ts'
import { UniswapV4 } from '../../dev/market/uniswap-v4.ts'
import { DEAD } from './expected-holdings.ts'
import type { TokenInfo } from './expected-prices.ts'
import {
  type Fee,
  removeFromV2,
  type Sides,
  type TradedPool,
  type V4Pool,
  v2Pool,
  v3Pool,
  v4Pool,
} from './rest-pools.ts'

/** Price of one whole coin, in 10^-12 dollars. */
const DOLLAR = 10n ** 12n
const ETH = 2_011n * DOLLAR

/** Symbols that begin alike, one of them twice; decimals from none to eighteen; prices from next to nothing up. */
const TOKENS = {
  alfa: { name: 'Alfa', symbol: 'ALFA', decimals: 18, price: 3n * DOLLAR },
  copycat: { name: 'Not Alfa', symbol: 'ALFA', decimals: 18, price: 100_003n },
  alfax: { name: 'Alfa Ten', symbol: 'AlfaX', decimals: 2, price: 40n * DOLLAR },
  beta: { name: 'Beta', symbol: 'BETA', decimals: 9, price: DOLLAR / 50n },
  cera: { name: 'Cera', symbol: 'CERA', decimals: 8, price: 151n * DOLLAR },
  delt: { name: 'Delt', symbol: 'DELT', decimals: 0, price: 5n * DOLLAR },
  echo: { name: 'Echo', symbol: 'ECHO', decimals: 6, price: DOLLAR / 2n },
  golf: { name: 'Golf', symbol: 'GOLF', decimals: 4, price: 12n * DOLLAR },
} as const

type TokenName = keyof typeof TOKENS | 'usdt' | 'weth' | 'eth'

const PRICES: Readonly<Record<TokenName, bigint>> = {
  ...(Object.fromEntries(Object.entries(TOKENS).map(([name, { price }]) => [name, price])) as Record<
    keyof typeof TOKENS,
    bigint
  >),
  ...{ usdt: DOLLAR, weth: ETH, eth: ETH },
}

const WALLETS = 6

/** Gives back later what it is given. */
export const LOCKER: Hex = `0x${'10c'.repeat(13)}0`

/**
 * Twenty pools of eleven tokens on three exchanges. Each block takes at most one change of liquidity with native coins,
 * so that its amount can be derived from the manager's balance; and V4's fees are paid out before liquidity is removed.
 */
export class RestMarket {
  readonly market: Market
  readonly v3: UniswapV3
  readonly v4: UniswapV4
  readonly tokens: readonly TokenInfo[]
  readonly stable: Hex
  readonly pools: readonly TradedPool[]
  readonly alfaDeep: TradedPool
  readonly ceraDeep: TradedPool
  readonly alfaFirst: TradedPool
  readonly golfUsdt: V4Pool
  readonly ethGolf: V4Pool
  readonly #wallets: readonly Hex[]
  #dice = 7

  private constructor(
    parts: { market: Market; v3: UniswapV3; v4: UniswapV4; wallets: readonly Hex[] },
    address: Readonly<Record<TokenName, Hex>>,
  ) {
    const { market, v3, v4, wallets } = parts
    this.market = market
    this.v3 = v3
    this.v4 = v4
    this.#wallets = wallets
    this.stable = address.usdt
    this.tokens = tokenInfos(address)
    const of = (a: TokenName, b: TokenName, dollars: bigint): Sides => ({
      tokenA: address[a],
      rawA: this.#rawOf(address, a, dollars),
      tokenB: address[b],
      rawB: this.#rawOf(address, b, dollars),
    })
    const v2 = (a: TokenName, b: TokenName, dollars: bigint) => v2Pool(market, of(a, b, dollars))
    const onV3 = (a: TokenName, b: TokenName, dollars: bigint, fee: Fee) => v3Pool(v3, of(a, b, dollars), fee)
    const onV4 = (a: TokenName, b: TokenName, dollars: bigint, fee: Fee) => v4Pool(v4, of(a, b, dollars), fee)
    this.alfaFirst = v2('alfa', 'weth', 301_000n)
    this.alfaDeep = onV3('alfa', 'weth', 207_000n, 3_000)
    this.ceraDeep = onV3('cera', 'weth', 101_000n, 3_000)
    this.golfUsdt = onV4('golf', 'usdt', 90_000n, 3_000)
    this.ethGolf = onV4('eth', 'golf', 70_000n, 500)
    this.pools = [
      v2('usdt', 'weth', 1_003_000n),
      this.alfaFirst,
      v2('alfa', 'usdt', 150_000n),
      v2('beta', 'weth', 80_000n),
      v2('cera', 'weth', 120_000n),
      v2('copycat', 'weth', 9_000n),
      v2('alfax', 'usdt', 30_000n),
      v2('alfa', 'beta', 5_000n),
      onV3('usdt', 'weth', 700_000n, 500),
      this.alfaDeep,
      onV3('alfa', 'usdt', 99_000n, 500),
      this.ceraDeep,
      onV3('delt', 'weth', 200_000n, 10_000),
      onV3('echo', 'weth', 60_000n, 500),
      onV3('echo', 'usdt', 61_000n, 3_000),
      onV4('eth', 'usdt', 400_000n, 500),
      onV4('eth', 'alfa', 50_000n, 3_000),
      this.golfUsdt,
      onV4('golf', 'weth', 40_000n, 10_000),
      this.ethGolf,
    ]
  }

  static async deploy(rpcUrl: string): Promise<RestMarket> {
    const market = await Market.deploy(rpcUrl)
    const supply = (decimals: number): bigint => 10n ** BigInt(13 + decimals)
    const usdt = await market.createToken({
      ...{ name: 'Test Dollar', symbol: 'USDT', decimals: 6, supply: supply(6) },
    })
    const address: Record<string, Hex> = { usdt, weth: market.weth, eth: zeroAddress }
    for (const [name, { price: _, ...spec }] of Object.entries(TOKENS)) {
      address[name] = await market.createToken({ ...spec, supply: supply(spec.decimals) })
    }
    const v3 = await UniswapV3.deploy(market)
    const v4 = await UniswapV4.deploy(market)
    const wallets = (await market.accounts()).slice(0, WALLETS)
    const rest = new RestMarket({ market, v3, v4, wallets }, address as Record<TokenName, Hex>)
    await rest.#fund()
    await rest.#open()
    return rest
  }

  /** Everybody has some of everything, and lets the exchanges take it. */
  async #fund(): Promise<void> {
    const { market, v3, v4 } = this
    const erc20 = this.tokens.map(({ address }) => address as Hex).filter((token) => token !== zeroAddress)
    await market.wrap(8_000n * 10n ** 18n)
    await this.mine()
    for (const token of erc20) {
      const share = (await market.balanceOf(token)) / 20n
      for (const wallet of this.#wallets.slice(1)) await market.transfer(token, wallet, share)
      for (const [index, dead] of DEAD.entries())
        await market.transfer(token, dead, share / BigInt(7 + index))
      await market.transfer(token, LOCKER, share / 3n)
    }
    const spenders = [market.router, v3.router, v3.positions, ...v4.spenders]
    await this.#together(
      this.#wallets.flatMap((wallet) =>
        erc20.flatMap((token) =>
          spenders.map((spender) => [wallet, () => market.approve(token, spender, wallet)] as const),
        ),
      ),
    )
    await this.mine()
  }

  async #open(): Promise<void> {
    for (const pool of this.pools) await pool.create()
    await this.mine()
    for (const pool of this.pools) {
      await pool.add(100n)
      if (pool.sides.tokenA === zeroAddress) await this.mine()
    }
    await this.mine()
    await this.market.approve((await this.alfaFirst.id()) as Hex, this.market.router)
    await this.mine()
  }

  /** A block with so many swaps, by all wallets, in the pools at these places of the list or in any. */
  async trade(swaps: number, time: number, among: readonly TradedPool[] = this.pools): Promise<void> {
    const orders = Array.from({ length: swaps }, () => {
      const { sides, sell } = among[this.#roll(among.length)] as TradedPool
      const isA = this.#roll(2) === 0
      const [token, raw] = isA ? [sides.tokenA, sides.rawA] : [sides.tokenB, sides.rawB]
      const size = (raw * BigInt(1 + this.#roll(200))) / 20_000n + 2n
      const wallet = this.#wallets[this.#roll(this.#wallets.length)] as Hex
      return [wallet, () => sell(token, size, wallet)] as const
    })
    await this.#together(orders)
    await this.mine(time)
  }

  removeFromAlfa(percent: bigint): Promise<void> {
    return removeFromV2(this.market, this.alfaFirst, percent)
  }

  /** Mines what is waiting. Nothing of the script may fail unseen. */
  async mine(time?: number): Promise<void> {
    await this.market.mine(time)
    const { number } = await this.market.head()
    for (const { status, transactionHash } of await this.market.receipts(number))
      assert.equal(status, 'success', `transaction ${transactionHash} in block ${number}`)
  }

  /** Each wallet's one after the other, as their nonces are; the wallets side by side. */
  async #together(orders: readonly (readonly [Hex, () => Promise<unknown>])[]): Promise<void> {
    await Promise.all(
      this.#wallets.map(async (wallet) => {
        for (const [from, send] of orders) if (from === wallet) await send()
      }),
    )
  }

  #rawOf(address: Readonly<Record<TokenName, Hex>>, name: TokenName, dollars: bigint): bigint {
    const { decimals } = this.tokens.find((token) => token.address === address[name]) as TokenInfo
    return (dollars * DOLLAR * 10n ** BigInt(decimals)) / PRICES[name] + 7n
  }

  /** A fixed sequence: the same calls give the same chain. */
  #roll(below: number): number {
    this.#dice = (this.#dice * 48_271) % 2_147_483_647
    return this.#dice % below
  }
}

function tokenInfos(address: Readonly<Record<TokenName, Hex>>): TokenInfo[] {
  return [
    { address: address.usdt, name: 'Test Dollar', symbol: 'USDT', decimals: 6 },
    { address: address.weth, name: 'Wrapped Ether', symbol: 'WETH', decimals: 18 },
    { address: zeroAddress, name: 'Ether', symbol: 'ETH', decimals: 18 },
    ...Object.entries(TOKENS).map(([key, { name, symbol, decimals }]) => {
      return { address: address[key as TokenName], name, symbol, decimals }
    }),
  ]
}
