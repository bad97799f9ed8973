import type { DexEvent, PoolCreated, PoolPrice } from '../../../src/dex/events.ts'
import { inOrder, type Opinion, opinion, packedTotal, swapped } from './opinion.ts'

type Both = { amount0: bigint; amount1: bigint }
type Created = { id: string; currency0: string; currency1: string; sqrtPriceX96: bigint; tick: number }
type Swap = Both & { id: string; sender: string; sqrtPriceX96: bigint; tick: number; fee: number }
type Named = { tokenIn: string; tokenOut: string; amountIn: bigint; amountOut: bigint }

const INITIALIZED = '(bytes32 indexed id, address indexed currency0, address indexed currency1'
const SWAPPED = 'Swap(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1'

const created = ({ id: pool, currency0, currency1, sqrtPriceX96, tick }: Created): PoolCreated => {
  const price: PoolPrice = { kind: 'sqrt', sqrtPriceX96, tick }
  return { type: 'poolCreated', pool, tokens: [currency0, currency1], pricing: { kind: 'sqrtPrice' }, price }
}

/** Written from the swapper's side. */
const swap = ({ id, sender, amount0, amount1, sqrtPriceX96, tick, fee: feePpm }: Swap): DexEvent => {
  return swapped(id, -amount0, -amount1, { sender, price: { kind: 'sqrt', sqrtPriceX96, tick }, feePpm })
}

const donated = ({ id: pool, amount0, amount1 }: Both & { id: string }): DexEvent => {
  return { type: 'donated', pool, amounts: inOrder(amount0, amount1) }
}

const modifyLiquidity = opinion<{
  id: string
  sender: string
  tickLower: number
  tickUpper: number
  liquidityDelta: bigint
}>(
  'ModifyLiquidity(bytes32 indexed id, address indexed sender, int24 tickLower, int24 tickUpper, int256 liquidityDelta, bytes32 salt)',
  ({ id: pool, sender: provider, tickLower, tickUpper, liquidityDelta }) => {
    if (liquidityDelta === 0n) return 'a position changed by nothing, to have its fees paid out'
    return { type: 'liquidityMoved', pool, provider, tickLower, tickUpper, liquidityDelta }
  },
)

export const uniswapV4: readonly Opinion[] = [
  opinion(
    `Initialize${INITIALIZED}, uint24 fee, int24 tickSpacing, address hooks, uint160 sqrtPriceX96, int24 tick)`,
    ({ tickSpacing, ...event }: Created & { tickSpacing: number }) => ({ ...created(event), tickSpacing }),
  ),
  opinion(`${SWAPPED}, uint160 sqrtPriceX96, uint128 liquidity, int24 tick, uint24 fee)`, swap),
  modifyLiquidity,
  opinion('Donate(bytes32 indexed id, address indexed sender, uint256 amount0, uint256 amount1)', donated),
]

export const infinityCl: readonly Opinion[] = [
  opinion(
    `Initialize${INITIALIZED}, address hooks, uint24 fee, bytes32 parameters, uint160 sqrtPriceX96, int24 tick)`,
    ({ parameters, ...event }: Created & { parameters: string }) => {
      return { ...created(event), tickSpacing: Number((BigInt(parameters) >> 16n) & 0xffffffn) }
    },
  ),
  opinion(
    `${SWAPPED}, uint160 sqrtPriceX96, uint128 liquidity, int24 tick, uint24 fee, uint16 protocolFee)`,
    swap,
  ),
  modifyLiquidity,
  opinion(
    'Donate(bytes32 indexed id, address indexed sender, uint256 amount0, uint256 amount1, int24 tick)',
    donated,
  ),
]

export const infinityBin: readonly Opinion[] = [
  opinion<Created & { parameters: string; activeId: number }>(
    `Initialize${INITIALIZED}, address hooks, uint24 fee, bytes32 parameters, uint24 activeId)`,
    ({ id: pool, currency0, currency1, parameters, activeId }) => {
      const pricing = { kind: 'bins', binStep: Number((BigInt(parameters) >> 16n) & 0xffffn) } as const
      const price: PoolPrice = { kind: 'bin', id: activeId }
      return { type: 'poolCreated', pool, tokens: [currency0, currency1], pricing, price }
    },
  ),
  opinion<Swap & { activeId: number }>(
    `${SWAPPED}, uint24 activeId, uint24 fee, uint16 protocolFee)`,
    ({ id, sender, amount0, amount1, activeId, fee: feePpm }) => {
      return swapped(id, -amount0, -amount1, { sender, price: { kind: 'bin', id: activeId }, feePpm })
    },
  ),
  opinion<{ id: string; sender: string; amounts: readonly string[] }>(
    'Mint(bytes32 indexed id, address indexed sender, uint256[] ids, bytes32 salt, bytes32[] amounts, bytes32 compositionFeeAmount, bytes32 feeAmountToProtocol)',
    ({ id: pool, sender: provider, amounts }) => {
      return { type: 'liquidityAdded', pool, provider, amounts: inOrder(...packedTotal(amounts)) }
    },
  ),
  opinion<{ id: string; sender: string; amounts: readonly string[] }>(
    'Burn(bytes32 indexed id, address indexed sender, uint256[] ids, bytes32 salt, bytes32[] amounts)',
    ({ id: pool, sender: provider, amounts }) => {
      const moved = inOrder(...packedTotal(amounts))
      return { type: 'liquidityRemoved', pool, provider, amounts: moved, isPaidOut: true }
    },
  ),
  opinion<Both & { id: string }>(
    'Donate(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint24 binId)',
    ({ id, amount0, amount1 }) => donated({ id, amount0: -amount0, amount1: -amount1 }),
  ),
]

export const balancerV2: readonly Opinion[] = [
  opinion<{ poolId: string; tokens: readonly string[] }>(
    'TokensRegistered(bytes32 indexed poolId, address[] tokens, address[] assetManagers)',
    ({ poolId, tokens }) => {
      if (tokens.length < 2) return 'a token more for a pool that is there already'
      return { type: 'poolCreated', pool: poolId.slice(0, 42), tokens, pricing: { kind: 'trades' } }
    },
  ),
  opinion<Named & { poolId: string }>(
    'Swap(bytes32 indexed poolId, address indexed tokenIn, address indexed tokenOut, uint256 amountIn, uint256 amountOut)',
    ({ poolId, tokenIn: token0, tokenOut: token1, amountIn, amountOut }) => {
      const pool = poolId.slice(0, 42)
      const provider = undefined
      if (token1 === pool) {
        return { type: 'liquidityAdded', pool, provider, amounts: [{ token: token0, amount: amountIn }] }
      }
      if (token0 === pool) {
        const amounts = [{ token: token1, amount: amountOut }]
        return { type: 'liquidityRemoved', pool, provider, amounts, isPaidOut: true }
      }
      return swapped(pool, amountIn, -amountOut, { token0, token1 })
    },
  ),
  opinion<{
    poolId: string
    liquidityProvider: string
    tokens: readonly string[]
    deltas: readonly bigint[]
  }>(
    'PoolBalanceChanged(bytes32 indexed poolId, address indexed liquidityProvider, address[] tokens, int256[] deltas, uint256[] protocolFeeAmounts)',
    ({ poolId, liquidityProvider: provider, tokens, deltas }) => {
      const pool = poolId.slice(0, 42)
      const sign = deltas.some((delta) => delta < 0n) ? -1n : 1n
      const all = tokens.map((token, at) => ({ token, amount: sign * (deltas[at] ?? 0n) }))
      const amounts = all.filter(({ token }) => token !== pool)
      if (sign > 0n) return { type: 'liquidityAdded', pool, provider, amounts }
      return { type: 'liquidityRemoved', pool, provider, amounts, isPaidOut: true }
    },
  ),
]

type Shares = { pool: string; liquidityProvider: string }
const MOVED =
  '(address indexed pool, address indexed liquidityProvider, uint8 indexed kind, uint256 totalSupply, uint256[] amounts, uint256[] swapFeeAmountsRaw)'

export const balancerV3: readonly Opinion[] = [
  opinion<{ pool: string; tokenConfig: readonly { token: string }[] }>(
    'PoolRegistered(address indexed pool, address indexed factory, (address token, uint8 tokenType, address rateProvider, bool paysYieldFees)[] tokenConfig, uint256 swapFeePercentage, uint32 pauseWindowEndTime, (address pauseManager, address swapFeeManager, address poolCreator) roleAccounts, (bool, bool, bool, bool, bool, bool, bool, bool, bool, bool, address) hooksConfig, (bool, bool, bool, bool) liquidityManagement)',
    ({ pool, tokenConfig }) => {
      const tokens = tokenConfig.map(({ token }) => token)
      return { type: 'poolCreated', pool, tokens, pricing: { kind: 'trades' } }
    },
  ),
  opinion<Named & { pool: string; swapFeePercentage: bigint }>(
    'Swap(address indexed pool, address indexed tokenIn, address indexed tokenOut, uint256 amountIn, uint256 amountOut, uint256 swapFeePercentage, uint256 swapFeeAmount)',
    ({ pool, tokenIn: token0, tokenOut: token1, amountIn, amountOut, swapFeePercentage }) => {
      const feePpm = Number(swapFeePercentage / 10n ** 12n)
      return swapped(pool, amountIn, -amountOut, { token0, token1, feePpm })
    },
  ),
  opinion<Shares & { amounts: readonly bigint[] }>(
    `LiquidityAdded${MOVED}`,
    ({ pool, liquidityProvider: provider, amounts }) => {
      return { type: 'liquidityAdded', pool, provider, amounts: inOrder(...amounts) }
    },
  ),
  opinion<Shares & { amounts: readonly bigint[] }>(
    `LiquidityRemoved${MOVED}`,
    ({ pool, liquidityProvider: provider, amounts }) => {
      return { type: 'liquidityRemoved', pool, provider, amounts: inOrder(...amounts), isPaidOut: true }
    },
  ),
]
