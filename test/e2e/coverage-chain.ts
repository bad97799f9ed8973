import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Hex, zeroAddress } from 'viem'
import { uniswapV2Pair } from '../../dev/market/artifacts.ts'
import type { Market } from '../../dev/market/market.ts'
import { rangeAround, sqrtPrice } from '../../dev/market/uniswap-v3.ts'
import { idOf, type PoolKey, poolKey } from '../../dev/market/uniswap-v4.ts'
import { CoverageExchanges, EXCHANGE_FAMILIES, type ExchangePool, type Held } from './coverage-exchanges.ts'
import {
  CoverageLaunchpads,
  LAUNCH_FAMILIES,
  LAUNCHED_SUPPLY,
  type LaunchFamily,
} from './coverage-launchpads.ts'
import { ProtocolsScenario } from './protocols-scenario.ts'

const FAMILIES = ['v2', 'v3', 'v4', ...EXCHANGE_FAMILIES, ...LAUNCH_FAMILIES] as const
/** At least five more than one of each exchange: the last one is not asked for. */
const COUNT = Number(process.env['CHAINTAPE_COVERAGE_TOKENS'] ?? FAMILIES.length + 8)
const SUPPLY = 10n ** 24n
const LIQUIDITY = 10n ** 15n
const MINE_MS = 250
const TRADES_PER_BLOCK = 16
const Q96 = 2 ** 96

export type OldToken = {
  readonly family: (typeof FAMILIES)[number]
  readonly address: Hex
  /** As the interface names it. */
  readonly pool: Hex
  readonly key?: PoolKey
  readonly range?: { readonly lower: number; readonly upper: number }
  /** In one of the exchanges of `TestExchanges.sol`. */
  readonly exchange?: ExchangePool
  /** A quarter: they never trade again. */
  readonly isDormant: boolean
}

type Parts = {
  readonly scenario: ProtocolsScenario
  readonly exchanges: CoverageExchanges
  readonly launchpads: CoverageLaunchpads
}

export type Figures = { readonly priceUsd: number; readonly tvlUsd: number; readonly marketCapUsd: number }

/** Tokens in pools of every exchange that is deployed here, all older than the log that is read later. */
export class CoverageChain {
  readonly market: Market
  readonly tokens: readonly OldToken[]
  readonly #scenario: ProtocolsScenario
  readonly #exchanges: CoverageExchanges
  readonly #launchpads: CoverageLaunchpads
  #mined: Promise<void> = Promise.resolve()

  private constructor({ scenario, exchanges, launchpads }: Parts, tokens: readonly OldToken[]) {
    this.#scenario = scenario
    this.#exchanges = exchanges
    this.#launchpads = launchpads
    this.market = scenario.market
    this.tokens = tokens
  }

  static async deploy(rpcUrl: string): Promise<CoverageChain> {
    const scenario = await ProtocolsScenario.deploy(rpcUrl)
    await scenario.open()
    const exchanges = await CoverageExchanges.deploy(scenario.market, scenario.stable)
    const launchpads = await CoverageLaunchpads.deploy(scenario.market)
    const parts = { scenario, exchanges, launchpads }
    const tokens: OldToken[] = []
    for (let at = 0; at < COUNT; at++) tokens.push(await createToken(parts, at))
    return new CoverageChain(parts, tokens)
  }

  settings(): Record<string, unknown> {
    const { market, v2, v3, v4 } = this.#scenario
    return {
      finality_depth: 20,
      quote_assets: [
        { address: v2.stable, kind: 'stable' },
        { address: market.weth, kind: 'native' },
        { address: zeroAddress, kind: 'native' },
      ],
      dexes: [
        { amm: 'uniswap_v2', protocol: 'uniswap_v2', factory: market.factory },
        { amm: 'uniswap_v3', protocol: 'uniswap_v3', factory: v3.factory },
        { amm: 'uniswap_v4', protocol: 'uniswap_v4', factory: v4.manager },
        ...this.#exchanges.settings(),
        ...this.#launchpads.settings(),
      ],
    }
  }

  /** All but the last one. */
  asked(): readonly OldToken[] {
    return this.tokens.slice(0, -1)
  }

  unasked(): OldToken {
    const last = this.tokens.at(-1)
    assert.ok(last)
    return last
  }

  firstOfEach(): readonly OldToken[] {
    return this.tokens.slice(0, FAMILIES.length)
  }

  /** A block now and then, as on any chain; returns how to stop. */
  keepMining(): () => Promise<void> {
    let isMining = true
    const mining = (async () => {
      while (isMining) {
        await this.#mine()
        await sleep(MINE_MS)
      }
    })()
    return async () => {
      isMining = false
      await mining
    }
  }

  /** Somebody buys a little of each that is not dormant, in blocks of a few trades. */
  async trade(tokens: readonly OldToken[]): Promise<void> {
    const active = tokens.filter(({ isDormant }) => !isDormant)
    for (let at = 0; at < active.length; at += TRADES_PER_BLOCK) {
      for (const token of active.slice(at, at + TRADES_PER_BLOCK)) await this.#buy(token)
      await this.#mine()
    }
  }

  /** One block after the other, because each is a second later than the last one. */
  #mine(): Promise<void> {
    this.#mined = this.#mined.then(async () => this.market.mine((await this.market.head()).time + 1))
    return this.#mined
  }

  async #buy({ family, address, key, exchange }: OldToken): Promise<void> {
    const { market, v2, v3, v4 } = this.#scenario
    if (family === 'v2') await market.buyWithNative(address, 10n ** 15n)
    else if (family === 'v3')
      await v3.sell(market.weth, await v3.poolOf(address, market.weth, 3000), 10n ** 15n)
    else if (exchange !== undefined) await this.#exchanges.buy(exchange, 1)
    else if (isLaunched(family)) await this.#launchpads.buy(family, address, 10n ** 15n)
    else if (key !== undefined) await v4.sell(v2.stable, key, 1_000_000n)
  }

  /** What the node's state says of a token, in floating point: one of these. */
  async expected(token: OldToken): Promise<Figures[]> {
    const { reserve, quoteUsd, pricesUsd } = await this.#pool(token)
    return pricesUsd.map((priceUsd) => ({
      priceUsd,
      tvlUsd: reserve * priceUsd + quoteUsd,
      marketCapUsd: (Number(supplyOf(token.family)) / 1e18) * priceUsd,
    }))
  }

  async #pool({ family, address, pool, key, range, exchange }: OldToken): Promise<Held> {
    const { market, v3, v4 } = this.#scenario
    if (exchange !== undefined) return this.#exchanges.held(exchange)
    if (isLaunched(family)) return this.#launchpads.held(family, address, await this.#etherUsd())
    if (family === 'v4') {
      assert.ok(key !== undefined && range !== undefined)
      const { sqrtPriceX96 } = await v4.slot0(key)
      const root = Number(sqrtPriceX96) / Q96
      const [lower, upper] = [1.0001 ** (range.lower / 2), 1.0001 ** (range.upper / 2)]
      const amount0 = Number(LIQUIDITY) * (1 / root - 1 / upper)
      const amount1 = Number(LIQUIDITY) * (root - lower)
      const isFirst = key.currency0.toLowerCase() === address
      const ratio = isFirst ? root ** 2 : 1 / root ** 2
      const [own, quote] = isFirst ? [amount0, amount1] : [amount1, amount0]
      // A dollar has 6 decimals, the token 18.
      return { reserve: own / 1e18, quoteUsd: quote / 1e6, pricesUsd: [ratio * 1e12] }
    }
    const etherUsd = await this.#etherUsd()
    const holder = family === 'v2' ? pool : (await v3.poolOf(address, market.weth, 3000)).address
    const reserve = Number(await market.balanceOf(address, holder)) / 1e18
    const quote = Number(await market.balanceOf(market.weth, holder)) / 1e18
    const ratio = family === 'v2' ? quote / reserve : await this.#ratio(address, market.weth)
    return { reserve, quoteUsd: quote * etherUsd, pricesUsd: [ratio * etherUsd] }
  }

  /** The price of a token in another one, of a V3 pool; both have 18 decimals. */
  async #ratio(token: Hex, quote: Hex): Promise<number> {
    const { v3 } = this.#scenario
    const pool = await v3.poolOf(token, quote, 3000)
    const root = Number((await v3.slot0(pool)).sqrtPriceX96) / Q96
    return pool.token0.toLowerCase() === token ? root ** 2 : 1 / root ** 2
  }

  /** The deeper one of the two pools that price the native coin. */
  async #etherUsd(): Promise<number> {
    const { market, v2, v3, pools } = this.#scenario
    const reserves = (await market.read({
      to: v2.stablePair,
      abi: uniswapV2Pair.abi,
      name: 'getReserves',
      args: [],
    })) as [bigint, bigint, number]
    const isFirst = v2.stable.toLowerCase() < market.weth.toLowerCase()
    const [dollars, ether] = isFirst ? reserves : [reserves[1], reserves[0]]
    const inV3 = await market.balanceOf(v2.stable, pools.usdWeth.address)
    if (dollars > inV3) return Number(dollars) / 1e6 / (Number(ether) / 1e18)
    const root = Number((await v3.slot0(pools.usdWeth)).sqrtPriceX96) / Q96
    const ratio = pools.usdWeth.token0.toLowerCase() === v2.stable.toLowerCase() ? 1 / root ** 2 : root ** 2
    return ratio * 1e12
  }
}

function isLaunched(family: OldToken['family']): family is LaunchFamily {
  return LAUNCH_FAMILIES.some((one) => one === family)
}

function supplyOf(family: OldToken['family']): bigint {
  return isLaunched(family) ? LAUNCHED_SUPPLY : SUPPLY
}

async function createToken({ scenario, exchanges, launchpads }: Parts, at: number): Promise<OldToken> {
  const { market, v2, v3, v4 } = scenario
  const family = FAMILIES[at % FAMILIES.length] ?? 'v2'
  // Others of an exchange with each round.
  const isDormant = (at + Math.floor(at / FAMILIES.length)) % 4 === 3
  const name = { name: `Old ${at}`, symbol: `OLD${at}` }
  const token = await market.createToken({ ...name, decimals: 18, supply: supplyOf(family) })
  const address = token.toLowerCase() as Hex
  if (isLaunched(family))
    return { family, address, isDormant, pool: await launchpads.launch(family, address) }
  const raw = BigInt(at + 7) * 10n ** 20n
  if (family === 'v2') {
    await market.addLiquidityNative(token, raw, 3n * 10n ** 18n)
    await market.mine()
    const pool = (await market.pairOf(token, market.weth)).toLowerCase() as Hex
    return { family, address, isDormant, pool }
  }
  if (family === 'v3') {
    await market.approve(token, v3.positions)
    await v3.createPool(token, market.weth, 3000, sqrtPrice(token, raw, market.weth, 3n * 10n ** 18n))
    await market.mine()
    const pool = await v3.poolOf(token, market.weth, 3000)
    const range = rangeAround((await v3.slot0(pool)).tick, 60, 100)
    const isFirst = pool.token0.toLowerCase() === address
    const [amount0, amount1] = isFirst ? [raw, 3n * 10n ** 18n] : [3n * 10n ** 18n, raw]
    await v3.addLiquidity(pool, range, amount0, amount1)
    await market.mine()
    return { family, address, isDormant, pool: pool.address.toLowerCase() as Hex }
  }
  if (family !== 'v4') {
    const exchange = await exchanges.create(family, address, raw, BigInt(at + 3) * 10n ** 9n)
    return { family, address, isDormant, pool: exchanges.addressOf(exchange), exchange }
  }
  for (const spender of v4.spenders) await market.approve(token, spender)
  const key = poolKey(token, v2.stable, 3000, 60)
  await v4.createPool(key, sqrtPrice(token, 10n ** 18n, v2.stable, BigInt(at + 3) * 100_000n))
  await market.mine()
  const range = rangeAround((await v4.slot0(key)).tick, 60, 50)
  await v4.modifyLiquidity(key, range, LIQUIDITY, at + 100)
  await market.mine()
  return { family, address, isDormant, pool: idOf(key).toLowerCase() as Hex, key, range }
}
