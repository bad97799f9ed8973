import { encodeAbiParameters, type Hex, keccak256, numberToHex, parseAbiParameters, zeroAddress } from 'viem'
import { published } from './artifacts.ts'
import type { Market } from './market.ts'
import { inOrder, type Range } from './uniswap-v3.ts'

/** The singleton as on mainnet, and the plain callers that its authors test it with. */
export const poolManager = published('@uniswap/v4-core/out/PoolManager.sol/PoolManager.json')
export const swapCaller = published('@uniswap/v4-core/out/PoolSwapTest.sol/PoolSwapTest.json')
export const liquidityCaller = published(
  '@uniswap/v4-core/out/PoolModifyLiquidityTest.sol/PoolModifyLiquidityTest.json',
)
const donationCaller = published('@uniswap/v4-core/out/PoolDonateTest.sol/PoolDonateTest.json')

/** The furthest a trade may move a price. */
const LOWEST_SQRT_PRICE = 4_295_128_740n
const HIGHEST_SQRT_PRICE = 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_341n
/** Where the manager keeps its pools. */
const POOLS_SLOT = 6n
const NO_DATA = '0x'

/** The native coin is the zero address. */
export type PoolKey = {
  readonly currency0: Hex
  readonly currency1: Hex
  readonly fee: number
  readonly tickSpacing: number
  readonly hooks: Hex
}

/** Uniswap V4 beside a market's V2. All that is sent needs mining. */
export class UniswapV4 {
  readonly #market: Market
  readonly manager: Hex
  readonly #swapper: Hex
  readonly #provider: Hex
  readonly #donor: Hex

  private constructor(market: Market, manager: Hex, callers: { swapper: Hex; provider: Hex; donor: Hex }) {
    this.#market = market
    this.manager = manager
    this.#swapper = callers.swapper
    this.#provider = callers.provider
    this.#donor = callers.donor
  }

  static async deploy(market: Market): Promise<UniswapV4> {
    const manager = await market.deploy(poolManager, [market.owner])
    const swapper = await market.deploy(swapCaller, [manager])
    const provider = await market.deploy(liquidityCaller, [manager])
    const donor = await market.deploy(donationCaller, [manager])
    return new UniswapV4(market, manager, { swapper, provider, donor })
  }

  /** The contracts that spend a trader's or a provider's tokens. */
  get spenders(): readonly Hex[] {
    return [this.#swapper, this.#provider, this.#donor]
  }

  createPool(key: PoolKey, sqrtPriceX96: bigint): Promise<Hex> {
    return this.#market.send({
      to: this.manager,
      abi: poolManager.abi,
      name: 'initialize',
      args: [key, sqrtPriceX96],
    })
  }

  /** As the manager keeps it. */
  async slot0(key: PoolKey): Promise<{ sqrtPriceX96: bigint; tick: number }> {
    const slot = keccak256(
      encodeAbiParameters(parseAbiParameters('bytes32, uint256'), [idOf(key), POOLS_SLOT]),
    )
    const call = { to: this.manager, abi: poolManager.abi, name: 'extsload', args: [slot] }
    const word = BigInt((await this.#market.read(call)) as Hex)
    return {
      sqrtPriceX96: BigInt.asUintN(160, word),
      tick: Number(BigInt.asIntN(24, word >> 160n)),
    }
  }

  /**
   * Changes a position (negative: removes from it) and pays out its fees; with nothing changed, only that.
   * The number distinguishes a position from others of its range. Excess payment is refunded.
   */
  modifyLiquidity(
    key: PoolKey,
    { lower, upper }: Range,
    liquidityDelta: bigint,
    position: number,
    nativeRaw = 0n,
  ): Promise<Hex> {
    const salt = numberToHex(position, { size: 32 })
    const params = { tickLower: lower, tickUpper: upper, liquidityDelta, salt }
    return this.#market.send({
      to: this.#provider,
      abi: liquidityCaller.abi,
      name: 'modifyLiquidity',
      args: [key, params, NO_DATA],
      value: nativeRaw,
    })
  }

  /** Sells a fixed amount; native coins that are sold have to be sent along. */
  sell(tokenIn: Hex, key: PoolKey, amountIn: bigint, nativeRaw = 0n, from?: Hex): Promise<Hex> {
    return this.#swap(key, tokenIn === key.currency0, -amountIn, nativeRaw, from)
  }

  /** Buys a fixed amount; what is sent too much comes back. */
  buy(tokenOut: Hex, key: PoolKey, amountOut: bigint, nativeRaw = 0n, from?: Hex): Promise<Hex> {
    return this.#swap(key, tokenOut === key.currency1, amountOut, nativeRaw, from)
  }

  donate(key: PoolKey, amount0: bigint, amount1: bigint, nativeRaw = 0n): Promise<Hex> {
    return this.#market.send({
      to: this.#donor,
      abi: donationCaller.abi,
      name: 'donate',
      args: [key, amount0, amount1, NO_DATA],
      value: nativeRaw,
    })
  }

  /** The contract takes what is bought as positive, what is sold as negative. */
  #swap(key: PoolKey, isZeroSold: boolean, amount: bigint, nativeRaw: bigint, from?: Hex): Promise<Hex> {
    const params = {
      zeroForOne: isZeroSold,
      amountSpecified: amount,
      sqrtPriceLimitX96: isZeroSold ? LOWEST_SQRT_PRICE : HIGHEST_SQRT_PRICE,
    }
    const args = [key, params, { takeClaims: false, settleUsingBurn: false }, NO_DATA]
    const call = { to: this.#swapper, abi: swapCaller.abi, name: 'swap', args, value: nativeRaw }
    return this.#market.send(call, from)
  }
}

/** A pool without hooks. */
export function poolKey(tokenA: Hex, tokenB: Hex, fee: number, tickSpacing: number): PoolKey {
  const [currency0, currency1] = inOrder(tokenA, tokenB)
  return { currency0, currency1, fee, tickSpacing, hooks: zeroAddress }
}

export function idOf({ currency0, currency1, fee, tickSpacing, hooks }: PoolKey): Hex {
  const types = parseAbiParameters('address, address, uint24, int24, address')
  return keccak256(encodeAbiParameters(types, [currency0, currency1, fee, tickSpacing, hooks]))
}
