import { type Abi, type Hex, zeroAddress } from 'viem'
import { type Artifact, compile } from '../../dev/market/artifacts.ts'
import type { Market } from '../../dev/market/market.ts'
import { rangeAround, sqrtPrice } from '../../dev/market/uniswap-v3.ts'

const EXCHANGES = new URL('./TestExchanges.sol', import.meta.url)
const Q96 = 2 ** 96
/** The bin whose price is one, and what a bin is above the one below it. */
const MIDDLE_BIN = 2 ** 23
const BIN_STEP = 1.0025
const LIQUIDITY = 10n ** 15n
const CREATION_GAS = 8_000_000n
const DOLLAR = 10n ** 6n

/** Priced by their reserves, by a square root, by a quote of a small trade, by the last trade or by a bin. */
const FAMILIES = {
  solidly: { factory: 'TestSolidlyFactory', pool: 'TestSolidlyPool', args: [false], pricing: 'reserves' },
  solidly_stable: { factory: 'TestSolidlyFactory', pool: 'TestSolidlyPool', args: [true], pricing: 'last' },
  slipstream: { factory: 'TestSlipstreamFactory', pool: 'TestConcentratedPool', pricing: 'reserves' },
  algebra: { factory: 'TestAlgebraFactory', pool: 'TestConcentratedPool', pricing: 'reserves' },
  pancakeswap_v3: { factory: 'TestPancakeV3Factory', pool: 'TestConcentratedPool', pricing: 'reserves' },
  curve: { factory: 'TestCurveFactory', pool: 'TestCurvePool', pricing: 'quote' },
  trader_joe_lb: { factory: 'TestLBFactory', pool: 'TestLBPair', pricing: 'bin' },
  balancer_v2: { factory: 'TestBalancerV2Vault', pricing: 'reserves' },
  balancer_v3: { factory: 'TestBalancerV3Vault', pricing: 'reserves' },
  pancakeswap_infinity_cl: { factory: 'TestCLPoolManager', pricing: 'ticks' },
  pancakeswap_infinity_bin: { factory: 'TestBinPoolManager', pricing: 'bin' },
} as const satisfies Record<string, Family>

type Family = {
  readonly factory: string
  /** Absent if one contract holds all pools. */
  readonly pool?: string
  readonly args?: readonly unknown[]
  readonly pricing: 'reserves' | 'quote' | 'last' | 'bin' | 'ticks'
}

export type ExchangeFamily = keyof typeof FAMILIES
export const EXCHANGE_FAMILIES = Object.keys(FAMILIES) as ExchangeFamily[]

/** A token against the stablecoin. */
export type ExchangePool = {
  readonly family: ExchangeFamily
  readonly token: Hex
  /** Its contract, or the id in the contract that holds it. */
  readonly id: Hex
  readonly isFirst: boolean
  readonly range: { readonly lower: number; readonly upper: number }
}

/** Amounts of the token and of the stablecoin. */
type Amounts = { readonly own: bigint; readonly quote: bigint }

/**
 * What a pool holds, in whole tokens and dollars, and what the token costs there. Where the last trade is the price, a pool that
 * was looked up in the same block has the price of its state instead, so there may be two.
 */
export type Held = {
  readonly reserve: number
  readonly quoteUsd: number
  readonly pricesUsd: readonly number[]
}

/** The exchanges of `TestExchanges.sol`. All that is sent needs mining. */
export class CoverageExchanges {
  readonly #market: Market
  readonly #stable: Hex
  readonly #factories = new Map<ExchangeFamily, Hex>()
  /** By pool and what it held afterwards: a fork may undo a trade. */
  readonly #lastPrices = new Map<string, number>()

  private constructor(market: Market, stable: Hex) {
    this.#market = market
    this.#stable = stable
  }

  static async deploy(market: Market, stable: Hex): Promise<CoverageExchanges> {
    const exchanges = new CoverageExchanges(market, stable)
    for (const family of EXCHANGE_FAMILIES) {
      const { factory, args = [] }: Family = FAMILIES[family]
      const address = await market.deploy(artifact(factory), args)
      exchanges.#factories.set(family, address)
      await market.approve(stable, address)
    }
    await market.mine()
    return exchanges
  }

  settings(): Record<string, unknown>[] {
    return EXCHANGE_FAMILIES.map((family) => {
      const protocol = family === 'solidly_stable' ? 'solidly' : family
      return { amm: family, protocol, factory: this.#factoryOf(family) }
    })
  }

  /** Puts so much of both into a new pool. */
  async create(family: ExchangeFamily, token: Hex, own: bigint, quote: bigint): Promise<ExchangePool> {
    const market = this.#market
    const isFirst = BigInt(token) < BigInt(this.#stable)
    const [raw0, raw1] = isFirst ? [own, quote] : [quote, own]
    const root = sqrtPrice(token, own, this.#stable, quote)
    const tick = Math.floor((Math.log(Number(root) / Q96) / Math.log(1.0001)) * 2)
    const bin = MIDDLE_BIN + Math.round(Math.log(Number(raw1) / Number(raw0)) / Math.log(BIN_STEP))
    const more = { pancakeswap_infinity_cl: [root, tick], pancakeswap_infinity_bin: [bin] }
    const args = [token, this.#stable, ...(more[family as keyof typeof more] ?? [])]
    await this.#send(this.#factoryOf(family), artifact(FAMILIES[family].factory).abi, 'create', args)
    await market.mine()
    const id = (await this.#read(this.#factoryOf(family), FAMILIES[family].factory, 'last')) as Hex
    const pool = { family, token, id: id.toLowerCase() as Hex, isFirst, range: rangeAround(tick, 60, 50) }
    await market.approve(token, this.#holderOf(pool))
    await market.approve(this.#stable, this.#holderOf(pool))
    if (family === 'trader_joe_lb') await this.#send(id, artifact('TestLBPair').abi, 'setBin', [bin])
    if (family !== 'pancakeswap_infinity_cl') await this.#move(pool, { own, quote }, false)
    else {
      const { lower, upper } = pool.range
      const { abi } = artifact('TestCLPoolManager')
      await this.#send(this.#factoryOf(family), abi, 'addRange', [pool.id, lower, upper, LIQUIDITY])
      const [amount0, amount1] = amountsAt(Number(root) / Q96, pool.range)
      const amounts = [BigInt(Math.ceil(amount0)), BigInt(Math.ceil(amount1))] as const
      await this.#move(pool, toOwn(pool, amounts), false)
    }
    await market.mine()
    return pool
  }

  /** As clients and settings name it. */
  addressOf({ family, id }: ExchangePool): Hex {
    return family.startsWith('balancer') ? (id.slice(0, 42) as Hex) : id
  }

  /** Somebody pays this many dollars. */
  async buy(pool: ExchangePool, dollars: number): Promise<void> {
    const paid = BigInt(dollars) * DOLLAR
    const { own, quote } = await this.#amounts(pool)
    const { pricing } = FAMILIES[pool.family]
    if (pricing === 'ticks') {
      await this.#buyAcross(pool, paid)
      return
    }
    const price = pricing === 'bin' ? await this.#binPrice(pool) : undefined
    const bought =
      price === undefined ? (own * paid) / (quote + paid) : BigInt(Math.floor(Number(paid) / price))
    await this.#move(pool, { own: -bought, quote: paid }, true)
    const key = keyOf(pool, { own: own - bought, quote: quote + paid })
    this.#lastPrices.set(key, Number(paid) / Number(bought))
  }

  /** What the node's state says. */
  async held(pool: ExchangePool): Promise<Held> {
    const { own, quote } = await this.#amounts(pool)
    const last = this.#lastPrices.get(keyOf(pool, { own, quote }))
    const isLast = FAMILIES[pool.family].pricing === 'last' && last !== undefined
    const prices = [...(isLast ? [last] : []), await this.#price(pool, { own, quote })]
    return {
      reserve: Number(own) / 1e18,
      quoteUsd: Number(quote) / 1e6,
      // A dollar has 6 decimals, the token 18.
      pricesUsd: prices.map((price) => price * 1e12),
    }
  }

  /** Base units of the stablecoin for one of the token. */
  async #price(pool: ExchangePool, { own, quote }: Amounts): Promise<number> {
    const { pricing } = FAMILIES[pool.family]
    if (pricing === 'bin') return this.#binPrice(pool)
    if (pricing === 'ticks') {
      const root = await this.#root(pool)
      return pool.isFirst ? root ** 2 : 1 / root ** 2
    }
    if (pricing === 'reserves') return Number(quote) / Number(own)
    const [reserve0, reserve1] = pool.isFirst ? [own, quote] : [quote, own]
    const raw0 = reserve0 / 10_000n
    const raw1 = (raw0 * reserve1) / (reserve0 + raw0)
    return pool.isFirst ? Number(raw1) / Number(raw0) : Number(raw0) / Number(raw1)
  }

  async #binPrice(pool: ExchangePool): Promise<number> {
    const isPair = pool.family === 'trader_joe_lb'
    const bin = isPair
      ? ((await this.#read(pool.id, 'TestLBPair', 'getActiveId')) as number)
      : ((await this.#read(this.#factoryOf(pool.family), 'TestBinPoolManager', 'binOf', [pool.id])) as number)
    const ratio = BIN_STEP ** (bin - MIDDLE_BIN)
    return pool.isFirst ? ratio : 1 / ratio
  }

  /** The price moves within the range, and the amounts follow from it. */
  async #buyAcross(pool: ExchangePool, paid: bigint): Promise<void> {
    const root = await this.#root(pool)
    const step = Number(paid) / Number(LIQUIDITY)
    const next = pool.isFirst ? root + step : 1 / (1 / root + step)
    const [before, after] = [amountsAt(root, pool.range), amountsAt(next, pool.range)]
    const tick = Math.floor((Math.log(next) / Math.log(1.0001)) * 2)
    const manager = this.#factoryOf(pool.family)
    const price = BigInt(Math.round(next * 2 ** 48)) << 48n
    await this.#send(manager, artifact('TestCLPoolManager').abi, 'setPrice', [pool.id, price, tick])
    const deltas = [
      BigInt(Math.round(after[0] - before[0])),
      BigInt(Math.round(after[1] - before[1])),
    ] as const
    await this.#move(pool, toOwn(pool, deltas), true)
  }

  async #root(pool: ExchangePool): Promise<number> {
    const manager = this.#factoryOf(pool.family)
    return Number(await this.#read(manager, 'TestCLPoolManager', 'slot0', [pool.id])) / Q96
  }

  async #amounts(pool: ExchangePool): Promise<Amounts> {
    const { factory, pool: contract }: Family = FAMILIES[pool.family]
    const answer =
      contract === undefined
        ? await this.#read(this.#factoryOf(pool.family), factory, 'reservesOf', [pool.id])
        : await this.#read(pool.id, contract, 'reserves')
    return toOwn(pool, answer as [bigint, bigint])
  }

  async #move(pool: ExchangePool, { own, quote }: Amounts, isTrade: boolean): Promise<void> {
    const { factory, pool: contract }: Family = FAMILIES[pool.family]
    const deltas = pool.isFirst ? [own, quote] : [quote, own]
    const args = [...(contract === undefined ? [pool.id] : []), ...deltas, isTrade]
    await this.#send(this.#holderOf(pool), artifact(contract ?? factory).abi, 'move', args)
  }

  #holderOf({ family, id }: ExchangePool): Hex {
    const { pool }: Family = FAMILIES[family]
    return pool === undefined ? this.#factoryOf(family) : id
  }

  #factoryOf(family: ExchangeFamily): Hex {
    return this.#factories.get(family) ?? zeroAddress
  }

  #read(to: Hex, contract: string, name: string, args: readonly unknown[] = []): Promise<unknown> {
    return this.#market.read({ to, abi: artifact(contract).abi, name, args })
  }

  #send(to: Hex, abi: Abi, name: string, args: readonly unknown[]): Promise<Hex> {
    return this.#market.send({ to, abi, name, args, gas: CREATION_GAS })
  }
}

function artifact(name: string): Artifact {
  return compile(name, EXCHANGES)
}

function toOwn({ isFirst }: ExchangePool, [amount0, amount1]: readonly [bigint, bigint]): Amounts {
  return isFirst ? { own: amount0, quote: amount1 } : { own: amount1, quote: amount0 }
}

function keyOf({ id }: ExchangePool, { own, quote }: Amounts): string {
  return `${id} ${own} ${quote}`
}

/** Both amounts of the liquidity, at the square root of a price within the range. */
function amountsAt(root: number, { lower, upper }: ExchangePool['range']): readonly [number, number] {
  const [low, high] = [1.0001 ** (lower / 2), 1.0001 ** (upper / 2)]
  return [Number(LIQUIDITY) * (1 / root - 1 / high), Number(LIQUIDITY) * (root - low)]
}
