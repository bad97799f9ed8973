import { type Abi, encodeFunctionData, type Hex, parseAbi, zeroAddress, zeroHash } from 'viem'
import { type ActionOf, ETHER, type PoolSpec } from '../market/actions.ts'
import { toRaw } from '../market/market-state.ts'
import { CURVE_GOAL_ETHER } from '../market/pool-model.ts'
import {
  firstAmount,
  rootOfPrice,
  SPACING_OF_FEE,
  WHOLE_RANGE_TICK,
  wholeRangeLiquidity,
} from './liquidity-math.ts'
import type { Transaction } from './node.ts'
import type { Places, SandboxPool } from './places.ts'

const DEADLINE = 2n ** 64n
const ALL = 2n ** 128n - 1n
const SWAP_GAS = 600_000n
/** Creates a pool, which is a contract of its own, and fills it. */
const POOL_GAS = 9_000_000n
const TRANSFER_GAS = 100_000n
const LOWEST_LIMIT = 4_295_128_740n
const HIGHEST_LIMIT = 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_341n

const ABI: Abi = parseAbi([
  'function transfer(address to, uint256 value)',
  'function transferMany(address[] to, uint256 value)',
  'function approve(address spender, uint256 value)',
  'function addLiquidity(address a, address b, uint256 rawA, uint256 rawB, uint256 minA, uint256 minB, address to, uint256 deadline)',
  'function addLiquidityETH(address token, uint256 raw, uint256 min, uint256 minEth, address to, uint256 deadline)',
  'function removeLiquidity(address a, address b, uint256 liquidity, uint256 minA, uint256 minB, address to, uint256 deadline)',
  'function removeLiquidityETH(address token, uint256 liquidity, uint256 min, uint256 minEth, address to, uint256 deadline)',
  'function swapExactETHForTokens(uint256 min, address[] path, address to, uint256 deadline)',
  'function swapExactTokensForETH(uint256 raw, uint256 min, address[] path, address to, uint256 deadline)',
  'function swapExactTokensForTokens(uint256 raw, uint256 min, address[] path, address to, uint256 deadline)',
  'function multicall(bytes[] data)',
  'function createAndInitializePoolIfNecessary(address token0, address token1, uint24 fee, uint160 sqrtPriceX96)',
  'struct Mint { address token0; address token1; uint24 fee; int24 tickLower; int24 tickUpper; uint256 amount0Desired; uint256 amount1Desired; uint256 amount0Min; uint256 amount1Min; address recipient; uint256 deadline; }',
  'function mint(Mint params)',
  'struct Increase { uint256 tokenId; uint256 amount0Desired; uint256 amount1Desired; uint256 amount0Min; uint256 amount1Min; uint256 deadline; }',
  'function increaseLiquidity(Increase params)',
  'struct Decrease { uint256 tokenId; uint128 liquidity; uint256 amount0Min; uint256 amount1Min; uint256 deadline; }',
  'function decreaseLiquidity(Decrease params)',
  'struct Collect { uint256 tokenId; address recipient; uint128 amount0Max; uint128 amount1Max; }',
  'function collect(Collect params)',
  'function refundETH()',
  'struct Sale { address tokenIn; address tokenOut; uint24 fee; address recipient; uint256 deadline; uint256 amountIn; uint256 amountOutMinimum; uint160 sqrtPriceLimitX96; }',
  'function exactInputSingle(Sale params)',
  'function unwrapWETH9(uint256 min, address recipient)',
  'struct PoolKey { address currency0; address currency1; uint24 fee; int24 tickSpacing; address hooks; }',
  'function initialize(PoolKey key, uint160 sqrtPriceX96)',
  'struct Change { int24 tickLower; int24 tickUpper; int256 liquidityDelta; bytes32 salt; }',
  'function modifyLiquidity(PoolKey key, Change params, bytes hookData)',
  'struct Swap { bool zeroForOne; int256 amountSpecified; uint160 sqrtPriceLimitX96; }',
  'struct Settings { bool takeClaims; bool settleUsingBurn; }',
  'function swap(PoolKey key, Swap params, Settings settings, bytes hookData)',
  'function open(address token, address quote, uint256 goal)',
  'function buy(address token, uint256 cost)',
  'function sell(address token, uint256 amount)',
])

function call(name: string, ...args: readonly unknown[]): Hex {
  return encodeFunctionData({ abi: ABI, functionName: name, args })
}

/** Transactions of actions, in the order in which they have to be mined. */
export class Transactions {
  readonly #places: Places
  readonly #accounts: readonly Hex[]

  constructor(places: Places, accounts: readonly Hex[]) {
    this.#places = places
    this.#accounts = accounts
  }

  transfer({ coin, from, to, raw }: ActionOf<'transfer'>): Transaction {
    const receivers = to.map((wallet) => this.#account(wallet))
    const data = to.length === 1 ? call('transfer', receivers[0], raw) : call('transferMany', receivers, raw)
    return {
      ...{ from: this.#account(from), to: this.#places.addressOf(coin), data },
      gas: TRANSFER_GAS * BigInt(to.length),
    }
  }

  openCurve({ base }: PoolSpec, creator: number): Transaction {
    const { launchpad } = this.#places.exchanges
    const goal = toRaw(CURVE_GOAL_ETHER, 18)
    const data = call('open', this.#places.addressOf(base), zeroAddress, goal)
    return { from: this.#account(creator), to: launchpad, data, gas: SWAP_GAS }
  }

  openPool(pool: SandboxPool, baseRaw: bigint, quoteRaw: bigint): Transaction[] {
    const from = this.#account(pool.provider ?? 0)
    if (pool.venue === 'v2') return [this.#addV2(pool, from, baseRaw, quoteRaw)]
    const amounts = this.#inOrder(pool, baseRaw, quoteRaw)
    const root = rootOfPrice(amounts.raw0, amounts.raw1)
    if (pool.venue === 'v4') return this.#openV4(pool, from, root, amounts)
    const { token0, token1, raw0, raw1, value } = amounts
    const tick = WHOLE_RANGE_TICK[SPACING_OF_FEE[pool.fee] ?? 60] ?? 0
    const position = {
      ...{ token0, token1, fee: pool.fee, tickLower: -tick, tickUpper: tick, recipient: from },
      ...{ amount0Desired: raw0, amount1Desired: raw1, amount0Min: 0n, amount1Min: 0n, deadline: DEADLINE },
    }
    const calls = [
      call('createAndInitializePoolIfNecessary', token0, token1, pool.fee, root),
      call('mint', position),
      call('refundETH'),
    ]
    return [
      { from, to: this.#places.exchanges.v3Positions, data: call('multicall', calls), value, gas: POOL_GAS },
    ]
  }

  /** `liquidity` is what the provider has, in units of the pool. */
  resize(pool: SandboxPool, action: ActionOf<'resize'>, liquidity: bigint): Transaction[] {
    const from = this.#account(pool.provider ?? 0)
    const { ppm, baseRaw, quoteRaw } = action
    const removed = (liquidity * BigInt(-ppm)) / 1_000_000n
    if (pool.venue === 'v2') {
      return ppm > 0 ? [this.#addV2(pool, from, baseRaw, quoteRaw)] : this.#removeV2(pool, from, removed)
    }
    const { raw0, raw1, value } = this.#inOrder(pool, baseRaw, quoteRaw)
    const limits = { amount0Min: 0n, amount1Min: 0n, deadline: DEADLINE }
    const tokenId = pool.position
    const calls =
      ppm > 0
        ? [
            call('increaseLiquidity', { tokenId, amount0Desired: raw0, amount1Desired: raw1, ...limits }),
            call('refundETH'),
          ]
        : [
            call('decreaseLiquidity', { tokenId, liquidity: removed, ...limits }),
            call('collect', { tokenId, recipient: from, amount0Max: ALL, amount1Max: ALL }),
          ]
    const paid = ppm > 0 ? value : 0n
    const to = this.#places.exchanges.v3Positions
    return [{ from, to, data: call('multicall', calls), value: paid, gas: SWAP_GAS }]
  }

  swap(pool: SandboxPool, { wallet, sold, raw }: ActionOf<'swap'>): Transaction {
    const from = this.#account(wallet)
    const value = sold === ETHER ? raw : 0n
    const bought = sold === pool.base ? pool.quote : pool.base
    const { v2Router, v3Router, v4Swapper, launchpad } = this.#places.exchanges
    const [tokenIn, tokenOut] = [this.#places.addressOf(sold), this.#places.addressOf(bought)]
    switch (pool.venue) {
      case 'v2': {
        const rest = [0n, [tokenIn, tokenOut], from, DEADLINE]
        const data =
          sold === ETHER
            ? call('swapExactETHForTokens', ...rest)
            : call(bought === ETHER ? 'swapExactTokensForETH' : 'swapExactTokensForTokens', raw, ...rest)
        return { from, to: v2Router, data, value, gas: SWAP_GAS }
      }
      case 'v3': {
        const terms = { amountIn: raw, amountOutMinimum: 0n, sqrtPriceLimitX96: 0n, deadline: DEADLINE }
        const recipient = bought === ETHER ? zeroAddress : from
        const sale = call('exactInputSingle', { tokenIn, tokenOut, fee: pool.fee, recipient, ...terms })
        const data = bought === ETHER ? call('multicall', [sale, call('unwrapWETH9', 0n, from)]) : sale
        return { from, to: v3Router, data, value, gas: SWAP_GAS }
      }
      case 'v4': {
        const key = this.#places.keyOf(pool)
        const zeroForOne = sold === ETHER || key.currency0 === tokenIn
        const sqrtPriceLimitX96 = zeroForOne ? LOWEST_LIMIT : HIGHEST_LIMIT
        const params = { zeroForOne, amountSpecified: -raw, sqrtPriceLimitX96 }
        const data = call('swap', key, params, { takeClaims: false, settleUsingBurn: false }, '0x')
        return { from, to: v4Swapper, data, value, gas: SWAP_GAS }
      }
      case 'curve': {
        const isBuying = sold === ETHER
        const data = call(isBuying ? 'buy' : 'sell', isBuying ? tokenOut : tokenIn, raw)
        // The platform's fee comes on top, and the purchase that completes the sale creates a pool.
        return { from, to: launchpad, data, value: isBuying ? raw + raw / 100n : 0n, gas: POOL_GAS }
      }
    }
  }

  #openV4(pool: SandboxPool, from: Hex, root: bigint, { raw0, raw1 }: Amounts): Transaction[] {
    const { v4Manager, v4Provider } = this.#places.exchanges
    const key = this.#places.keyOf(pool)
    const tick = WHOLE_RANGE_TICK[key.tickSpacing] ?? 0
    const liquidityDelta = wholeRangeLiquidity(root, raw0, raw1)
    const change = { tickLower: -tick, tickUpper: tick, liquidityDelta, salt: zeroHash }
    const value = key.currency0 === zeroAddress ? firstAmount(root, liquidityDelta) : 0n
    const data = call('modifyLiquidity', key, change, '0x')
    return [
      { from, to: v4Manager, data: call('initialize', key, root), gas: SWAP_GAS },
      { from, to: v4Provider, data, value, gas: SWAP_GAS },
    ]
  }

  #addV2(pool: SandboxPool, from: Hex, baseRaw: bigint, quoteRaw: bigint): Transaction {
    const to = this.#places.exchanges.v2Router
    const { token0, token1, raw0, raw1, value } = this.#inOrder(pool, baseRaw, quoteRaw)
    if (value === 0n) {
      const data = call('addLiquidity', token0, token1, raw0, raw1, 0n, 0n, from, DEADLINE)
      return { from, to, data, gas: POOL_GAS }
    }
    const isEtherBase = pool.base === ETHER
    const token = this.#places.addressOf(isEtherBase ? pool.quote : pool.base)
    const raw = isEtherBase ? quoteRaw : baseRaw
    const data = call('addLiquidityETH', token, raw, 0n, 0n, from, DEADLINE)
    return { from, to, data, value, gas: POOL_GAS }
  }

  #removeV2(pool: SandboxPool, from: Hex, liquidity: bigint): Transaction[] {
    const { v2Router } = this.#places.exchanges
    const approval = call('approve', v2Router, liquidity)
    const [base, quote] = [this.#places.addressOf(pool.base), this.#places.addressOf(pool.quote)]
    const rest = [liquidity, 0n, 0n, from, DEADLINE]
    const isEtherBase = pool.base === ETHER
    const data =
      isEtherBase || pool.quote === ETHER
        ? call('removeLiquidityETH', isEtherBase ? quote : base, ...rest)
        : call('removeLiquidity', base, quote, ...rest)
    return [
      { from, to: pool.id, data: approval, gas: TRANSFER_GAS },
      { from, to: v2Router, data, gas: SWAP_GAS },
    ]
  }

  /** Both sides as pools order them. On V4 ether is the zero address, which always comes first. */
  #inOrder({ venue, base, quote }: SandboxPool, baseRaw: bigint, quoteRaw: bigint): Amounts {
    const currencyOf = (coin: number): Hex =>
      venue === 'v4' && coin === ETHER ? zeroAddress : this.#places.addressOf(coin)
    const [a, b] = [currencyOf(base), currencyOf(quote)]
    const value = base === ETHER ? baseRaw : quote === ETHER ? quoteRaw : 0n
    return BigInt(a) < BigInt(b)
      ? { token0: a, token1: b, raw0: baseRaw, raw1: quoteRaw, value }
      : { token0: b, token1: a, raw0: quoteRaw, raw1: baseRaw, value }
  }

  #account(wallet: number): Hex {
    const account = this.#accounts[wallet]
    if (account === undefined) throw new Error(`the node has no account ${wallet}`)
    return account
  }
}

type Amounts = {
  readonly token0: Hex
  readonly token1: Hex
  readonly raw0: bigint
  readonly raw1: bigint
  /** Ether that has to be sent along. */
  readonly value: bigint
}
