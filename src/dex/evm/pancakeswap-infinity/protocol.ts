import type { Pricing, RawLog } from '../../../domain/envelope.ts'
import type {
  Donated,
  LiquidityAdded,
  LiquidityRemoved,
  PoolCreated,
  PoolPrice,
  Swapped,
} from '../../events.ts'
import type { DexDeployment, Identify, Inquiry, Protocol } from '../../protocol.ts'
import { smallUintAt, topicAddress, topicId, wordAt } from '../abi.ts'
import { bothAmounts, sqrtPriceAt } from '../event-parts.ts'
import { packedAmountsAt, packedSumAt } from '../packed-amounts.ts'
import {
  donatedOf,
  int128At,
  isIdOf,
  readDonate,
  readModifyLiquidity,
  readSingletonSwap,
  swappedOf,
} from '../singleton-events.ts'
import { readTickState } from '../singleton-state.ts'
import { readBinState } from './bin-state.ts'
import { askKey, readClMarket } from './market.ts'

/**
 * Initialize(bytes32 indexed id, address indexed currency0, address indexed currency1, address hooks, uint24 fee,
 * bytes32 parameters, uint160 sqrtPriceX96, int24 tick)
 */
const CL_INITIALIZE = '0x426cc62fe6a33a40ba2788c2c87a9c34ee4582b95bc9fa5a7bb7ae70b750b99c'
/**
 * Swap(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint160 sqrtPriceX96,
 * uint128 liquidity, int24 tick, uint24 fee, uint16 protocolFee)
 */
const CL_SWAP = '0x04206ad2b7c0f463bff3dd4f33c5735b0f2957a351e4f79763a4fa9e775dd237'
/**
 * ModifyLiquidity(bytes32 indexed id, address indexed sender, int24 tickLower, int24 tickUpper,
 * int256 liquidityDelta, bytes32 salt)
 */
const CL_MODIFY_LIQUIDITY = '0xf208f4912782fd25c7f114ca3723a2d5dd6f3bcc3ac8db5af63baa85f711d5ec'
/** Donate(bytes32 indexed id, address indexed sender, uint256 amount0, uint256 amount1, int24 tick) */
const CL_DONATE = '0xbe708911656ae186ac3fc26a794e5f1319609ce340a14c63524f985fee4bc841'

/**
 * Initialize(bytes32 indexed id, address indexed currency0, address indexed currency1, address hooks, uint24 fee,
 * bytes32 parameters, uint24 activeId)
 */
const BIN_INITIALIZE = '0xddfde5903015c0eb1671976c6c8f760f1328bec57f15286b6bdab2f955cab9c9'
/**
 * Swap(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint24 activeId, uint24 fee,
 * uint16 protocolFee)
 */
const BIN_SWAP = '0x3e8aae37f890eb1f9d63dd4d2062f3f0be757848a0f0760e4f3e53dad556e861'
/**
 * Mint(bytes32 indexed id, address indexed sender, uint256[] ids, bytes32 salt, bytes32[] amounts,
 * bytes32 compositionFeeAmount, bytes32 feeAmountToProtocol)
 */
const BIN_MINT = '0x7b6bc49b385af8644341f07a67cd976bf9daf2bdd5d71668e651a3a792e318e1'
/** Burn(bytes32 indexed id, address indexed sender, uint256[] ids, bytes32 salt, bytes32[] amounts) */
const BIN_BURN = '0x16d40aa4e497175b58e47cbf101544758de8c01d92a760c738943044c758df8a'
/** Donate(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint24 binId) */
const BIN_DONATE = '0xfc18146d5586318640b3febea90b094b834f09982812258534a1c07bdda12954'

/** The storage slot of the manager's concentrated pools by id. */
const CL_POOLS = 4n
/** Holds the tokens of all pools of both kinds, at the same address on every chain. */
const VAULT = '0x238a358808379702088667322f80ac48bad5e6c4'
const MAX_BIN = 0xff_ffff
const MAX_TICK_SPACING = 0x7fff
const MAX_FEE_PPM = 1_000_000

/**
 * PancakeSwap Infinity, pools of concentrated liquidity. As in Uniswap V4, fees leave whenever a position is modified,
 * and no event reports the amount: a count without fees is right up to rounding, a count with them only grows.
 */
export const infinityCl: Protocol = {
  announcements: { [CL_INITIALIZE]: readClInitialize },
  events: {
    [CL_SWAP]: readSingletonSwap,
    [CL_MODIFY_LIQUIDITY]: readModifyLiquidity,
    [CL_DONATE]: readDonate,
  },
  isSingleton: true,
  payerOf: () => VAULT,
  reserves: 'counted_without_fees',
  identify: identifyAs(() => ({ kind: 'sqrtPrice' })),
  readState: readTickState(CL_POOLS),
  trial: 'vault',
  readMarket: readClMarket,
}

/**
 * PancakeSwap Infinity, pools of bins. Fees stay in the bins and leave with the liquidity, except the protocol's share
 * of a swap, which leaves immediately.
 */
export const infinityBin: Protocol = {
  announcements: { [BIN_INITIALIZE]: readBinInitialize },
  events: {
    [BIN_SWAP]: readBinSwap,
    [BIN_MINT]: readBinMint,
    [BIN_BURN]: readBinBurn,
    [BIN_DONATE]: readBinDonate,
  },
  isSingleton: true,
  payerOf: () => VAULT,
  reserves: 'counted',
  identify: identifyAs(binPricing),
  readState: readBinState,
}

function readClInitialize(log: RawLog): PoolCreated | undefined {
  const created = createdOf(log, { kind: 'sqrtPrice' }, sqrtPriceAt(log.data, 3, 4))
  const tickSpacing = tickSpacingOf(wordAt(log.data, 2))
  return created && { ...created, ...(tickSpacing !== undefined && { tickSpacing }) }
}

function readBinInitialize(log: RawLog): PoolCreated | undefined {
  return createdOf(log, binPricing(wordAt(log.data, 2)), binAt(log.data, 3))
}

function createdOf(
  log: RawLog,
  pricing: Pricing | undefined,
  price: PoolPrice | undefined,
): PoolCreated | undefined {
  const [, id, first, second] = log.topics
  const pool = topicId(id)
  const currency0 = topicAddress(first)
  const currency1 = topicAddress(second)
  if (pool === undefined || currency0 === undefined || currency1 === undefined) return undefined
  const manager = `0x${log.address.slice(2).padStart(64, '0')}`
  const [hooks, fee, parameters] = [wordAt(log.data, 0), wordAt(log.data, 1), wordAt(log.data, 2)]
  if (!isIdOf(pool, [first, second, hooks, manager, fee, parameters])) return undefined
  if (pricing === undefined || price === undefined) return undefined
  return { type: 'poolCreated', pool, tokens: [currency0, currency1], pricing, price }
}

function readBinSwap(log: RawLog): Swapped | undefined {
  const swapped = swappedOf(log, binAt(log.data, 2), smallUintAt(log.data, 3))
  const protocolFeePpm = smallUintAt(log.data, 4)
  if (swapped === undefined || protocolFeePpm === undefined || protocolFeePpm > MAX_FEE_PPM) return undefined
  return { ...swapped, protocolFeePpm }
}

function readBinMint(log: RawLog): LiquidityAdded | undefined {
  const pool = topicId(log.topics[1])
  const provider = topicAddress(log.topics[2])
  // Net of the protocol's share of the composition fee, which never enters the bins.
  const added = packedSumAt(log.data, 2)
  if (pool === undefined || provider === undefined || added === undefined) return undefined
  if (packedAmountsAt(log.data, 4) === undefined) return undefined
  return { type: 'liquidityAdded', pool, provider, amounts: bothAmounts(added.amount0, added.amount1) }
}

function readBinBurn(log: RawLog): LiquidityRemoved | undefined {
  const pool = topicId(log.topics[1])
  const provider = topicAddress(log.topics[2])
  const removed = packedSumAt(log.data, 2)
  if (pool === undefined || provider === undefined || removed === undefined) return undefined
  const amounts = bothAmounts(removed.amount0, removed.amount1)
  return { type: 'liquidityRemoved', pool, provider, amounts, isPaidOut: true }
}

function readBinDonate(log: RawLog): Donated | undefined {
  const amount0 = int128At(log.data, 0)
  const amount1 = int128At(log.data, 1)
  if (amount0 === undefined || amount1 === undefined || binAt(log.data, 2) === undefined) return undefined
  // Unlike the event of the concentrated pools, this one has the donor's signs.
  return donatedOf(log, -amount0, -amount1)
}

function binAt(data: Uint8Array, index: number): PoolPrice | undefined {
  const id = smallUintAt(data, index)
  return id === undefined || id > MAX_BIN ? undefined : { kind: 'bin', id }
}

/** Parameters of a concentrated pool: hook flags in the lowest 16 bits, the tick spacing in the next 24. */
function tickSpacingOf(parameters: string | undefined): number | undefined {
  const tickSpacing = Number.parseInt(parameters?.slice(-10, -4) ?? '', 16)
  return tickSpacing > 0 && tickSpacing <= MAX_TICK_SPACING ? tickSpacing : undefined
}

/** Parameters of a pool of bins: hook flags in the lowest 16 bits, the bin step in the next 16. */
function binPricing(parameters: string | undefined): Pricing | undefined {
  if (parameters === undefined) return undefined
  const binStep = Number.parseInt(parameters.slice(-8, -4), 16)
  return binStep > 0 ? { kind: 'bins', binStep } : undefined
}

function identifyAs(pricingOf: (parameters: string | undefined) => Pricing | undefined): Identify {
  return function* identify(pool: string, deployments: readonly DexDeployment[]): Inquiry {
    const [deployment] = deployments
    if (deployment === undefined) return undefined
    const key = yield* askKey(pool, deployment.factory)
    if (key === undefined) return undefined
    const currency0 = topicAddress(key[0])
    const currency1 = topicAddress(key[1])
    const pricing = pricingOf(key[5])
    if (currency0 === undefined || currency1 === undefined || pricing === undefined) return undefined
    return {
      factory: deployment.factory,
      tokens: [currency0, currency1],
      pricing,
      // The vault's balance covers all pools.
      reservesBefore: undefined,
    }
  }
}
