import type { DexEvent } from '../../../src/dex/events.ts'
import { inOrder, type Opinion, opinion, swapped } from './opinion.ts'

type Tokens = { token0: string; token1: string }
type PairSwap = {
  sender: string
  to: string
  amount0In: bigint
  amount1In: bigint
  amount0Out: bigint
  amount1Out: bigint
}
type Both = { amount0: bigint; amount1: bigint }
type Position = Both & { owner: string }
type PoolSwap = Both & { sender: string; recipient: string; price: bigint; tick: number }

const POKE = 'a position burned by nothing, to have its fees reckoned up'

const pairSwap = (args: PairSwap, { address }: { address: string }): DexEvent => {
  const { sender, to: recipient, amount0In, amount1In, amount0Out, amount1Out } = args
  return swapped(address, amount0In - amount0Out, amount1In - amount1Out, { sender, recipient })
}
const pairSync = (
  { reserve0, reserve1 }: { reserve0: bigint; reserve1: bigint },
  { address: pool }: { address: string },
): DexEvent => ({ type: 'reservesSet', pool, reserve0, reserve1 })
const pairMint = (
  { sender: provider, amount0, amount1 }: Both & { sender: string },
  { address: pool }: { address: string },
): DexEvent => ({ type: 'liquidityAdded', pool, provider, amounts: inOrder(amount0, amount1) })
const pairBurn = (
  { sender: provider, amount0, amount1 }: Both & { sender: string },
  { address: pool }: { address: string },
): DexEvent => {
  return { type: 'liquidityRemoved', pool, provider, amounts: inOrder(amount0, amount1), isPaidOut: true }
}

const SWAP_OF_PAIR =
  'Swap(address indexed sender, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out, address indexed to)'
const MINT_OF_PAIR = 'Mint(address indexed sender, uint256 amount0, uint256 amount1)'
const BURN_OF_PAIR = 'Burn(address indexed sender, uint256 amount0, uint256 amount1, address indexed to)'

export const uniswapV2: readonly Opinion[] = [
  opinion<Tokens & { pair: string }>(
    'PairCreated(address indexed token0, address indexed token1, address pair, uint256 length)',
    ({ token0, token1, pair: pool }) => {
      return { type: 'poolCreated', pool, tokens: [token0, token1], pricing: { kind: 'reserves' } }
    },
  ),
  opinion('Sync(uint112 reserve0, uint112 reserve1)', pairSync),
  opinion(SWAP_OF_PAIR, pairSwap),
  opinion(MINT_OF_PAIR, pairMint),
  opinion(BURN_OF_PAIR, pairBurn),
]

export const solidly: readonly Opinion[] = [
  opinion<Tokens & { stable: boolean; pool: string }>(
    'PoolCreated(address indexed token0, address indexed token1, bool indexed stable, address pool, uint256 length)',
    ({ token0, token1, stable, pool }) => {
      const pricing = { kind: stable ? 'trades' : 'reserves' } as const
      return { type: 'poolCreated', pool, tokens: [token0, token1], pricing }
    },
  ),
  opinion<Tokens & { stable: boolean; pair: string }>(
    'PairCreated(address indexed token0, address indexed token1, bool stable, address pair, uint256 length)',
    ({ token0, token1, stable, pair: pool }) => {
      const pricing = { kind: stable ? 'trades' : 'reserves' } as const
      return { type: 'poolCreated', pool, tokens: [token0, token1], pricing }
    },
  ),
  opinion('Sync(uint256 reserve0, uint256 reserve1)', pairSync),
  opinion(
    'Swap(address indexed sender, address indexed to, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out)',
    pairSwap,
  ),
  opinion(SWAP_OF_PAIR, pairSwap),
  opinion(MINT_OF_PAIR, pairMint),
  opinion('Burn(address indexed sender, address indexed to, uint256 amount0, uint256 amount1)', pairBurn),
  opinion(BURN_OF_PAIR, pairBurn),
  opinion<Both & { sender: string }>(
    'Claim(address indexed sender, address indexed recipient, uint256 amount0, uint256 amount1)',
    ({ sender: provider, amount0, amount1 }, { address: pool }) => {
      return { type: 'feesCollected', pool, provider, amounts: inOrder(amount0, amount1) }
    },
  ),
]

const burn = (
  { owner: provider, amount0, amount1 }: Position,
  { address: pool }: { address: string },
): DexEvent | string => {
  if (amount0 === 0n && amount1 === 0n) return POKE
  return { type: 'liquidityRemoved', pool, provider, amounts: inOrder(amount0, amount1), isPaidOut: false }
}

const positions: readonly Opinion[] = [
  opinion<{ sqrtPriceX96: bigint; tick: number }>(
    'Initialize(uint160 sqrtPriceX96, int24 tick)',
    ({ sqrtPriceX96, tick }, { address: pool }) => {
      return { type: 'priceSet', pool, price: { kind: 'sqrt', sqrtPriceX96, tick } }
    },
  ),
  opinion<Position>(
    'Mint(address sender, address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1)',
    ({ owner: provider, amount0, amount1 }, { address: pool }) => {
      return { type: 'liquidityAdded', pool, provider, amounts: inOrder(amount0, amount1) }
    },
  ),
  opinion(
    'Burn(address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1)',
    burn,
  ),
  opinion<Position>(
    'Collect(address indexed owner, address recipient, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount0, uint128 amount1)',
    ({ owner: provider, amount0, amount1 }, { address: pool }) => {
      return { type: 'feesCollected', pool, provider, amounts: inOrder(amount0, amount1) }
    },
  ),
  opinion<{ paid0: bigint; paid1: bigint }>(
    'Flash(address indexed sender, address indexed recipient, uint256 amount0, uint256 amount1, uint256 paid0, uint256 paid1)',
    ({ paid0, paid1 }, { address: pool }) => {
      return { type: 'donated', pool, amounts: inOrder(paid0, paid1) }
    },
  ),
]

const poolSwap = (
  { sender, recipient, amount0, amount1, price: sqrtPriceX96, tick }: PoolSwap,
  { address }: { address: string },
): DexEvent => {
  return swapped(address, amount0, amount1, {
    sender,
    recipient,
    price: { kind: 'sqrt', sqrtPriceX96, tick },
  })
}

const SWAP_OF_POOL =
  'Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 price, uint128 liquidity, int24 tick'

const collectProtocol = opinion<Both>(
  'CollectProtocol(address indexed sender, address indexed recipient, uint128 amount0, uint128 amount1)',
  ({ amount0, amount1 }, { address: pool }) => {
    return { type: 'feesCollected', pool, provider: undefined, amounts: inOrder(amount0, amount1) }
  },
)
const poolCreated = ({ token0, token1, pool }: Tokens & { pool: string }): DexEvent => {
  return { type: 'poolCreated', pool, tokens: [token0, token1], pricing: { kind: 'sqrtPrice' } }
}
const ofV3Factory = opinion(
  'PoolCreated(address indexed token0, address indexed token1, uint24 indexed fee, int24 tickSpacing, address pool)',
  poolCreated,
)

export const uniswapV3: readonly Opinion[] = [
  ...positions,
  ofV3Factory,
  opinion(`${SWAP_OF_POOL})`, poolSwap),
  collectProtocol,
]

export const pancakeswapV3: readonly Opinion[] = [
  ...positions,
  ofV3Factory,
  opinion(`${SWAP_OF_POOL}, uint128 protocolFeesToken0, uint128 protocolFeesToken1)`, poolSwap),
  collectProtocol,
]

export const slipstream: readonly Opinion[] = [
  ...positions,
  opinion(
    'PoolCreated(address indexed token0, address indexed token1, int24 indexed tickSpacing, address pool)',
    poolCreated,
  ),
  opinion(`${SWAP_OF_POOL})`, poolSwap),
  opinion<Both>(
    'CollectFees(address indexed recipient, uint128 amount0, uint128 amount1)',
    ({ amount0, amount1 }, { address: pool }) => {
      return { type: 'feesCollected', pool, provider: undefined, amounts: inOrder(amount0, amount1) }
    },
  ),
]

export const algebra: readonly Opinion[] = [
  ...positions,
  opinion('Pool(address indexed token0, address indexed token1, address pool)', poolCreated),
  opinion(
    'CustomPool(address indexed deployer, address indexed token0, address indexed token1, address pool)',
    poolCreated,
  ),
  opinion(`${SWAP_OF_POOL})`, poolSwap),
  opinion<PoolSwap & { overrideFee: number; pluginFee: number }>(
    `${SWAP_OF_POOL}, uint24 overrideFee, uint24 pluginFee)`,
    (args, log) => {
      const { overrideFee, pluginFee } = args
      const fee = overrideFee === 0 ? {} : { feePpm: overrideFee + pluginFee }
      return { ...poolSwap(args, log), ...fee } as DexEvent
    },
  ),
  opinion(
    'Burn(address indexed owner, int24 indexed bottomTick, int24 indexed topTick, uint128 liquidityAmount, uint256 amount0, uint256 amount1, uint24 pluginFee)',
    burn,
  ),
]
