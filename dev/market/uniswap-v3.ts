import { encodePacked, type Hex, zeroAddress } from 'viem'
import { compile, published } from './artifacts.ts'
import type { Market } from './market.ts'

/** The bytecode that runs on mainnet, as its authors publish it. */
export const uniswapV3Factory = published(
  '@uniswap/v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json',
)
export const uniswapV3Pool = published(
  '@uniswap/v3-core/artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json',
)
export const positionManager = published(
  '@uniswap/v3-periphery/artifacts/contracts/NonfungiblePositionManager.sol/NonfungiblePositionManager.json',
)
export const swapRouter = published(
  '@uniswap/v3-periphery/artifacts/contracts/SwapRouter.sol/SwapRouter.json',
)
const flashBorrower = compile('FlashBorrower')

const DEADLINE = 2n ** 64n
const ALL = 2n ** 128n - 1n
/** A pool is a contract of its own. */
const CREATION_GAS = 8_000_000n

export type V3Pool = {
  readonly address: Hex
  readonly token0: Hex
  readonly token1: Hex
  readonly fee: number
}

export type Range = { readonly lower: number; readonly upper: number }

/** Uniswap V3 beside a market's V2. All that is sent needs mining. */
export class UniswapV3 {
  readonly #market: Market
  readonly factory: Hex
  readonly positions: Hex
  readonly router: Hex
  readonly borrower: Hex

  private constructor(
    market: Market,
    deployed: { factory: Hex; positions: Hex; router: Hex; borrower: Hex },
  ) {
    this.#market = market
    this.factory = deployed.factory
    this.positions = deployed.positions
    this.router = deployed.router
    this.borrower = deployed.borrower
  }

  static async deploy(market: Market): Promise<UniswapV3> {
    const factory = await market.deploy(uniswapV3Factory, [])
    // Without a contract that draws a picture of each position.
    const positions = await market.deploy(positionManager, [factory, market.weth, zeroAddress])
    const router = await market.deploy(swapRouter, [factory, market.weth])
    const borrower = await market.deploy(flashBorrower, [])
    return new UniswapV3(market, { factory, positions, router, borrower })
  }

  /** Creates a pool at a price. */
  createPool(tokenA: Hex, tokenB: Hex, fee: number, sqrtPriceX96: bigint): Promise<Hex> {
    const args = [...inOrder(tokenA, tokenB), fee, sqrtPriceX96]
    return this.#send(
      this.positions,
      positionManager.abi,
      'createAndInitializePoolIfNecessary',
      args,
      CREATION_GAS,
    )
  }

  async poolOf(tokenA: Hex, tokenB: Hex, fee: number): Promise<V3Pool> {
    const [token0, token1] = inOrder(tokenA, tokenB)
    const call = { to: this.factory, abi: uniswapV3Factory.abi, name: 'getPool', args: [token0, token1, fee] }
    return { address: (await this.#market.read(call)) as Hex, token0, token1, fee }
  }

  async slot0({ address }: V3Pool): Promise<{ sqrtPriceX96: bigint; tick: number }> {
    const call = { to: address, abi: uniswapV3Pool.abi, name: 'slot0', args: [] }
    const [sqrtPriceX96, tick] = (await this.#market.read(call)) as [bigint, number]
    return { sqrtPriceX96, tick }
  }

  /** Opens a position; they are numbered from one, over all pools. */
  addLiquidity(pool: V3Pool, { lower, upper }: Range, amount0: bigint, amount1: bigint): Promise<Hex> {
    const params = {
      token0: pool.token0,
      token1: pool.token1,
      fee: pool.fee,
      tickLower: lower,
      tickUpper: upper,
      amount0Desired: amount0,
      amount1Desired: amount1,
      amount0Min: 0n,
      amount1Min: 0n,
      recipient: this.#market.owner,
      deadline: DEADLINE,
    }
    return this.#send(this.positions, positionManager.abi, 'mint', [params])
  }

  async liquidityOf(position: bigint): Promise<bigint> {
    const call = { to: this.positions, abi: positionManager.abi, name: 'positions', args: [position] }
    return ((await this.#market.read(call)) as readonly bigint[])[7] ?? 0n
  }

  /** What is removed stays in the pool until it is collected. */
  removeLiquidity(position: bigint, liquidity: bigint): Promise<Hex> {
    const params = { tokenId: position, liquidity, amount0Min: 0n, amount1Min: 0n, deadline: DEADLINE }
    return this.#send(this.positions, positionManager.abi, 'decreaseLiquidity', [params])
  }

  /** Takes out all that a position is owed: what was removed, and fees. */
  collect(position: bigint): Promise<Hex> {
    const params = { tokenId: position, recipient: this.#market.owner, amount0Max: ALL, amount1Max: ALL }
    return this.#send(this.positions, positionManager.abi, 'collect', [params])
  }

  /** Sells a fixed amount. */
  sell(tokenIn: Hex, { token0, token1, fee }: V3Pool, amountIn: bigint, from?: Hex): Promise<Hex> {
    const params = {
      tokenIn,
      tokenOut: tokenIn === token0 ? token1 : token0,
      fee,
      recipient: from ?? this.#market.owner,
      deadline: DEADLINE,
      amountIn,
      amountOutMinimum: 0n,
      sqrtPriceLimitX96: 0n,
    }
    return this.#send(this.router, swapRouter.abi, 'exactInputSingle', [params], undefined, from)
  }

  /** Buys a fixed amount. */
  buy(tokenOut: Hex, { token0, token1, fee }: V3Pool, amountOut: bigint, from?: Hex): Promise<Hex> {
    const params = {
      tokenIn: tokenOut === token0 ? token1 : token0,
      tokenOut,
      fee,
      recipient: from ?? this.#market.owner,
      deadline: DEADLINE,
      amountOut,
      amountInMaximum: ALL,
      sqrtPriceLimitX96: 0n,
    }
    return this.#send(this.router, swapRouter.abi, 'exactOutputSingle', [params], undefined, from)
  }

  /** Sells through two pools in one transaction. */
  sellThrough(tokenIn: Hex, first: V3Pool, second: V3Pool, amountIn: bigint): Promise<Hex> {
    const middle = tokenIn === first.token0 ? first.token1 : first.token0
    const last = middle === second.token0 ? second.token1 : second.token0
    const path = encodePacked(
      ['address', 'uint24', 'address', 'uint24', 'address'],
      [tokenIn, first.fee, middle, second.fee, last],
    )
    const params = {
      path,
      recipient: this.#market.owner,
      deadline: DEADLINE,
      amountIn,
      amountOutMinimum: 0n,
    }
    return this.#send(this.router, swapRouter.abi, 'exactInput', [params])
  }

  /** The borrower pays the fee out of its own pocket. */
  flash({ address }: V3Pool, amount0: bigint, amount1: bigint): Promise<Hex> {
    return this.#send(this.borrower, flashBorrower.abi, 'borrow', [address, amount0, amount1])
  }

  /** From now on the exchange keeps one part in so many of all fees. */
  setProtocolShare({ address }: V3Pool, oneIn: number): Promise<Hex> {
    return this.#send(address, uniswapV3Pool.abi, 'setFeeProtocol', [oneIn, oneIn])
  }

  collectProtocolShare({ address }: V3Pool): Promise<Hex> {
    return this.#send(address, uniswapV3Pool.abi, 'collectProtocol', [this.#market.owner, ALL, ALL])
  }

  #send(
    to: Hex,
    abi: typeof uniswapV3Pool.abi,
    name: string,
    args: readonly unknown[],
    gas?: bigint,
    from?: Hex,
  ): Promise<Hex> {
    return this.#market.send({ to, abi, name, args, ...(gas === undefined ? {} : { gas }) }, from)
  }
}

export function inOrder(tokenA: Hex, tokenB: Hex): [Hex, Hex] {
  return BigInt(tokenA) < BigInt(tokenB) ? [tokenA, tokenB] : [tokenB, tokenA]
}

/** The price at which so much of one token is worth so much of the other, as pools keep it. */
export function sqrtPrice(tokenA: Hex, rawA: bigint, tokenB: Hex, rawB: bigint): bigint {
  const [raw0, raw1] = BigInt(tokenA) < BigInt(tokenB) ? [rawA, rawB] : [rawB, rawA]
  return squareRoot((raw1 << 192n) / raw0)
}

/** So many tick spacings to both sides of a tick. */
export function rangeAround(tick: number, spacing: number, steps: number): Range {
  const middle = Math.floor(tick / spacing) * spacing
  return { lower: middle - steps * spacing, upper: middle + (steps + 1) * spacing }
}

function squareRoot(value: bigint): bigint {
  let root = 1n << BigInt(Math.ceil(value.toString(2).length / 2))
  for (;;) {
    const next = (root + value / root) / 2n
    if (next >= root) return root
    root = next
  }
}
