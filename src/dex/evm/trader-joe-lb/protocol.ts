import type { CreatedPool } from '../../../domain/created-pool.ts'
import type { RawLog } from '../../../domain/envelope.ts'
import type {
  Donated,
  FeesCollected,
  LiquidityAdded,
  LiquidityRemoved,
  PoolCreated,
  Swapped,
  TokenAmount,
} from '../../events.ts'
import type { Answer, DexDeployment, Inquiry, Protocol, StateInquiry } from '../../protocol.ts'
import { addressAt, callData, smallUintAt, topicAddress, topicSmallUint, uintAt } from '../abi.ts'
import { bothAmounts } from '../event-parts.ts'
import { type PackedAmounts, packedAmountsAt, packedSumAt } from '../packed-amounts.ts'

/** LBPairCreated(address indexed tokenX, address indexed tokenY, uint256 indexed binStep, address LBPair, uint256 pid) */
const PAIR_CREATED = '0x2c8d104b27c6b7f4492017a6f5cf3803043688934ebcaa6a03540beeaf976aff'
/**
 * Swap(address indexed sender, address indexed to, uint24 id, bytes32 amountsIn, bytes32 amountsOut, uint24
 * volatilityAccumulator, bytes32 totalFees, bytes32 protocolFees): one per bin that a swap crosses.
 */
const SWAP = '0xad7d6f97abf51ce18e17a38f4d70e975be9c0708474987bb3e26ad21bd93ca70'
/** DepositedToBins(address indexed sender, address indexed to, uint256[] ids, bytes32[] amounts) */
const DEPOSITED = '0x87f1f9dcf5e8089a3e00811b6a008d8f30293a3da878cb1fe8c90ca376402f8a'
/** WithdrawnFromBins(address indexed sender, address indexed to, uint256[] ids, bytes32[] amounts) */
const WITHDRAWN = '0xa32e146844d6144a22e94c586715a1317d58a8aa3581ec33d040113ddcb24350'
/** CompositionFees(address indexed sender, uint24 id, bytes32 totalFees, bytes32 protocolFees) */
const COMPOSITION_FEES = '0x3f0b46725027bb418b2005f4683538eccdbcdf1de2b8649a29dbd9c507d16ff4'
/**
 * FlashLoan(address indexed sender, address indexed receiver, uint24 activeId, bytes32 amounts, bytes32 totalFees,
 * bytes32 protocolFees)
 */
const FLASH_LOAN = '0xd126bd9d94daca8e55ffd8283fac05394aec8326c6b1639e1e8a445fbe8bbc7d'
/** CollectedProtocolFees(address indexed feeRecipient, bytes32 protocolFees) */
const COLLECTED_PROTOCOL_FEES = '0x3f41a5ddc53701cc7db577ade4f1fca9838a8ec0b5ea50b9f0f5d17bc4554e32'

const GET_FACTORY = '0x88cc58e4'
const GET_TOKEN_X = '0x05e8746d'
const GET_TOKEN_Y = '0xda10610c'
const GET_BIN_STEP = '0x17f11ecc'
/** getLBPairInformation(address tokenX, address tokenY, uint256 binStep): its bin step, its address, two flags */
const GET_PAIR_INFORMATION = '0x704037bd'
const GET_RESERVES = '0x0902f1ac'
const GET_PROTOCOL_FEES = '0xd8dfcea0'
/** getActiveId() */
const GET_ACTIVE_ID = '0xdbe65edc'

const MAX_BIN = 0xff_ffff
const MAX_BIN_STEP = 0xffff
const MILLION = 1_000_000n

/**
 * Trader Joe's Liquidity Book, 2.1 and later.
 *
 * A pair's reserves are counted exactly. Providers' fees stay in the bins and leave with the liquidity. The protocol's
 * share stays in the pair until it is collected, but events exclude it from the amounts that enter the bins. It is
 * added back here, so that a swap has the amount paid, and the count equals the pair's own record.
 */
export const traderJoeLb: Protocol = {
  announcements: { [PAIR_CREATED]: readPairCreated },
  events: {
    [SWAP]: readSwap,
    [DEPOSITED]: readDeposited,
    [WITHDRAWN]: readWithdrawn,
    [COMPOSITION_FEES]: readCompositionFees,
    [FLASH_LOAN]: readFlashLoan,
    [COLLECTED_PROTOCOL_FEES]: readCollectedProtocolFees,
  },
  isSingleton: false,
  reserves: 'counted',
  identify,
  readState,
}

function readPairCreated(log: RawLog): PoolCreated | undefined {
  const tokenX = topicAddress(log.topics[1])
  const tokenY = topicAddress(log.topics[2])
  const binStep = topicSmallUint(log.topics[3])
  const pool = addressAt(log.data, 0)
  if (tokenX === undefined || tokenY === undefined || pool === undefined) return undefined
  if (!isBinStep(binStep)) return undefined
  return { type: 'poolCreated', pool, tokens: [tokenX, tokenY], pricing: { kind: 'bins', binStep } }
}

function readSwap(log: RawLog): Swapped | undefined {
  const sender = topicAddress(log.topics[1])
  const recipient = topicAddress(log.topics[2])
  const id = smallUintAt(log.data, 0)
  const toBin = packedAmountsAt(log.data, 1)
  const out = packedAmountsAt(log.data, 2)
  const fees = packedAmountsAt(log.data, 4)
  const protocolFees = packedAmountsAt(log.data, 5)
  if (sender === undefined || recipient === undefined || id === undefined || id > MAX_BIN) return undefined
  if (toBin === undefined || out === undefined || fees === undefined || protocolFees === undefined) {
    return undefined
  }
  const in0 = toBin.amount0 + protocolFees.amount0
  const in1 = toBin.amount1 + protocolFees.amount1
  const feePpm = in0 > 0n ? ppm(fees.amount0, in0) : ppm(fees.amount1, in1)
  return {
    type: 'swapped',
    pool: log.address,
    sender,
    recipient,
    token0: 0,
    token1: 1,
    delta0: in0 - out.amount0,
    delta1: in1 - out.amount1,
    price: { kind: 'bin', id },
    ...(feePpm !== undefined && { feePpm }),
  }
}

function readDeposited(log: RawLog): LiquidityAdded | undefined {
  const provider = providerOf(log)
  const added = packedSumAt(log.data, 1)
  if (provider === undefined || added === undefined) return undefined
  return { type: 'liquidityAdded', pool: log.address, provider, amounts: both(added) }
}

function readWithdrawn(log: RawLog): LiquidityRemoved | undefined {
  const provider = providerOf(log)
  const removed = packedSumAt(log.data, 1)
  if (provider === undefined || removed === undefined) return undefined
  return {
    type: 'liquidityRemoved',
    pool: log.address,
    provider,
    amounts: both(removed),
    isPaidOut: true,
  }
}

/** Composition fee: the providers' share is in the deposit that follows, the protocol's share is not. */
function readCompositionFees(log: RawLog): Donated | undefined {
  const protocolFees = packedAmountsAt(log.data, 2)
  if (topicAddress(log.topics[1]) === undefined || protocolFees === undefined) return undefined
  if (protocolFees.amount0 === 0n && protocolFees.amount1 === 0n) return undefined
  return { type: 'donated', pool: log.address, amounts: both(protocolFees) }
}

function readFlashLoan(log: RawLog): Donated | undefined {
  const paid = packedAmountsAt(log.data, 2)
  if (topicAddress(log.topics[1]) === undefined || topicAddress(log.topics[2]) === undefined) return undefined
  if (paid === undefined || uintAt(log.data, 3) === undefined) return undefined
  return { type: 'donated', pool: log.address, amounts: both(paid) }
}

function readCollectedProtocolFees(log: RawLog): FeesCollected | undefined {
  const collected = packedAmountsAt(log.data, 0)
  if (topicAddress(log.topics[1]) === undefined || collected === undefined) return undefined
  // The exchange's own share has no provider.
  return { type: 'feesCollected', pool: log.address, provider: undefined, amounts: both(collected) }
}

function* identify(pool: string, deployments: readonly DexDeployment[]): Inquiry {
  const [claimed, first, second, step]: readonly Answer[] = yield [
    { to: pool, data: GET_FACTORY },
    { to: pool, data: GET_TOKEN_X },
    { to: pool, data: GET_TOKEN_Y },
    { to: pool, data: GET_BIN_STEP },
  ]
  const factory = addressAt(claimed, 0)
  const tokenX = addressAt(first, 0)
  const tokenY = addressAt(second, 0)
  const binStep = smallUintAt(step, 0)
  const deployment = deployments.find((one) => one.factory === factory)
  if (deployment === undefined || tokenX === undefined || tokenY === undefined) return undefined
  if (!isBinStep(binStep)) return undefined
  const [own, reserves, protocolFees]: readonly Answer[] = yield [
    { to: deployment.factory, data: callData(GET_PAIR_INFORMATION, tokenX, tokenY, binStep) },
    { to: pool, data: GET_RESERVES, before: true },
    { to: pool, data: GET_PROTOCOL_FEES, before: true },
  ]
  if (addressAt(own, 1) !== pool) return undefined
  return {
    factory: deployment.factory,
    tokens: [tokenX, tokenY],
    pricing: { kind: 'bins', binStep },
    // Not the token balances: tokens sent to the pair directly become part of the next swap and are counted there.
    reservesBefore: sums(reserves, protocolFees),
  }
}

function* readState({ address: to }: CreatedPool): StateInquiry {
  const [active, reserves, protocolFees]: readonly Answer[] = yield [
    { to, data: GET_ACTIVE_ID },
    { to, data: GET_RESERVES },
    { to, data: GET_PROTOCOL_FEES },
  ]
  const id = smallUintAt(active, 0)
  if (id === undefined || id > MAX_BIN) return undefined
  return { price: { kind: 'bin', id }, reserves: sums(reserves, protocolFees) }
}

/** `getReserves` covers only the bins. */
function sums(reserves: Answer, protocolFees: Answer): readonly bigint[] | undefined {
  const x = uintAt(reserves, 0)
  const y = uintAt(reserves, 1)
  const feesX = uintAt(protocolFees, 0)
  const feesY = uintAt(protocolFees, 1)
  if (x === undefined || y === undefined || feesX === undefined || feesY === undefined) return undefined
  return [x + feesX, y + feesY]
}

/** The sender is a router; LP tokens and withdrawn tokens go to the provider. */
function providerOf(log: RawLog): string | undefined {
  return topicAddress(log.topics[1]) === undefined ? undefined : topicAddress(log.topics[2])
}

function isBinStep(binStep: number | undefined): binStep is number {
  return binStep !== undefined && binStep > 0 && binStep <= MAX_BIN_STEP
}

function ppm(part: bigint, whole: bigint): number | undefined {
  return whole > 0n && part <= whole ? Number((part * MILLION) / whole) : undefined
}

function both({ amount0, amount1 }: PackedAmounts): TokenAmount[] {
  return bothAmounts(amount0, amount1)
}
