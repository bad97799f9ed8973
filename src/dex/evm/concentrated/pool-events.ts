import type { RawLog } from '../../../domain/envelope.ts'
import type {
  Donated,
  FeesCollected,
  LiquidityAdded,
  LiquidityRemoved,
  PoolEvent,
  PriceSet,
  Swapped,
} from '../../events.ts'
import type { EventReaders } from '../../protocol.ts'
import { addressAt, intAt, topicAddress, topicSmallInt } from '../abi.ts'
import { isTick } from '../concentrated-liquidity.ts'
import { bothAmountsAt, sqrtPriceAt } from '../event-parts.ts'

/** Initialize(uint160 sqrtPriceX96, int24 tick) */
const INITIALIZE = '0x98636036cb66a9c19a37435efc1e90142190214e8abeb821bdba3f2990dd4c95'
/**
 * Mint(address sender, address indexed owner, int24 indexed tickLower, int24 indexed tickUpper,
 * uint128 amount, uint256 amount0, uint256 amount1)
 */
const MINT = '0x7a53080ba414158be7ec69b987b5fb7d07dee101fe85488f0853ae16239d0bde'
/**
 * Burn(address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount,
 * uint256 amount0, uint256 amount1)
 */
const BURN = '0x0c396cd989a39f4459b5fa1aed6a9a8dcdbc45908acfd67e028cd568da98982c'
/**
 * Collect(address indexed owner, address recipient, int24 indexed tickLower, int24 indexed tickUpper,
 * uint128 amount0, uint128 amount1)
 */
const COLLECT = '0x70935338e69775456a85ddef226c395fb668b63fa0115f5f20610b388e6ca9c0'
/**
 * Flash(address indexed sender, address indexed recipient, uint256 amount0, uint256 amount1, uint256 paid0,
 * uint256 paid1)
 */
const FLASH = '0xbdbdb71d7860376ba52b25a5028beea23581364a40522f6bcfb86bb1f2dca633'

/**
 * Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1,
 * uint160 sqrtPriceX96, uint128 liquidity, int24 tick)
 */
export const SWAP = '0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67'
/** CollectProtocol(address indexed sender, address indexed recipient, uint128 amount0, uint128 amount1) */
export const COLLECT_PROTOCOL = '0x596b573906218d3411850b26a6b437d6c4522fdb43d2d2386263f86d50b8b151'

/** Events of Uniswap V3 pools and all their descendants, except Swap. */
export const poolEvents: EventReaders<PoolEvent> = {
  [INITIALIZE]: readInitialize,
  [MINT]: readMint,
  [BURN]: readBurn,
  [COLLECT]: readCollect,
  [FLASH]: readFlash,
}

/** Descendants append fields to these. */
export function readSwap(log: RawLog): Swapped | undefined {
  const sender = topicAddress(log.topics[1])
  const recipient = topicAddress(log.topics[2])
  // Already from the pool's point of view; the input includes the fee.
  const delta0 = intAt(log.data, 0)
  const delta1 = intAt(log.data, 1)
  const price = sqrtPriceAt(log.data, 2, 4)
  if (sender === undefined || recipient === undefined) return undefined
  if (delta0 === undefined || delta1 === undefined || price === undefined) return undefined
  return {
    type: 'swapped',
    pool: log.address,
    sender,
    recipient,
    token0: 0,
    token1: 1,
    delta0,
    delta1,
    price,
  }
}

export function readBurn(log: RawLog): LiquidityRemoved | undefined {
  const provider = positionOwner(log)
  const amounts = bothAmountsAt(log.data, 1)
  if (provider === undefined || amounts === undefined) return undefined
  // A position is burned by zero to update its fees; no liquidity moves.
  if (amounts.every(({ amount }) => amount === 0n)) return undefined
  return { type: 'liquidityRemoved', pool: log.address, provider, amounts, isPaidOut: false }
}

/** The exchange's own share has no provider. */
export function readCollectProtocol(log: RawLog): FeesCollected | undefined {
  const amounts = bothAmountsAt(log.data, 0)
  if (topicAddress(log.topics[1]) === undefined || topicAddress(log.topics[2]) === undefined) return undefined
  if (amounts === undefined) return undefined
  return { type: 'feesCollected', pool: log.address, provider: undefined, amounts }
}

function readInitialize(log: RawLog): PriceSet | undefined {
  const price = sqrtPriceAt(log.data, 0, 1)
  return price === undefined ? undefined : { type: 'priceSet', pool: log.address, price }
}

function readMint(log: RawLog): LiquidityAdded | undefined {
  const provider = positionOwner(log)
  const sender = addressAt(log.data, 0)
  const amounts = bothAmountsAt(log.data, 2)
  if (provider === undefined || sender === undefined || amounts === undefined) return undefined
  return { type: 'liquidityAdded', pool: log.address, provider, amounts }
}

function readCollect(log: RawLog): FeesCollected | undefined {
  const provider = positionOwner(log)
  const recipient = addressAt(log.data, 0)
  const amounts = bothAmountsAt(log.data, 1)
  if (provider === undefined || recipient === undefined || amounts === undefined) return undefined
  return { type: 'feesCollected', pool: log.address, provider, amounts }
}

/** The loan itself is repaid in the same transaction, so only the fee stays. */
function readFlash(log: RawLog): Donated | undefined {
  const amounts = bothAmountsAt(log.data, 2)
  if (topicAddress(log.topics[1]) === undefined || topicAddress(log.topics[2]) === undefined) return undefined
  return amounts === undefined ? undefined : { type: 'donated', pool: log.address, amounts }
}

/** The owner of the position, from an event that indexes the owner and both ticks of the range. */
function positionOwner(log: RawLog): string | undefined {
  const isRange = isTick(topicSmallInt(log.topics[2])) && isTick(topicSmallInt(log.topics[3]))
  return isRange ? topicAddress(log.topics[1]) : undefined
}
