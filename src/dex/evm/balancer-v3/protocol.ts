import type { CreatedPool } from '../../../domain/created-pool.ts'
import type { RawLog } from '../../../domain/envelope.ts'
import type { LiquidityAdded, LiquidityRemoved, PoolCreated, Swapped, TokenAmount } from '../../events.ts'
import type { Answer, DexDeployment, Inquiry, Protocol, StateInquiry } from '../../protocol.ts'
import { addressAt, callData, listAt, topicAddress, topicSmallUint, uintAt } from '../abi.ts'
import { GET_NORMALIZED_WEIGHTS, vaultState } from '../vault-state.ts'

/**
 * PoolRegistered(address indexed pool, address indexed factory, TokenConfig[] tokenConfig, uint256
 * swapFeePercentage, uint32 pauseWindowEndTime, PoolRoleAccounts roleAccounts, HooksConfig hooksConfig,
 * LiquidityManagement liquidityManagement) with TokenConfig(address token, uint8 tokenType, address
 * rateProvider, bool paysYieldFees)
 */
const POOL_REGISTERED = '0xbc1561eeab9f40962e2fb827a7ff9c7cdb47a9d7c84caeefa4ed90e043842dad'
/** Swap(address indexed pool, address indexed tokenIn, address indexed tokenOut, uint256 amountIn, uint256 amountOut, uint256 swapFeePercentage, uint256 swapFeeAmount) */
const SWAP = '0x0874b2d545cb271cdbda4e093020c452328b24af12382ed62c4d00f5c26709db'
/** LiquidityAdded(address indexed pool, address indexed liquidityProvider, uint8 indexed kind, uint256 totalSupply, uint256[] amountsAddedRaw, uint256[] swapFeeAmountsRaw) */
const LIQUIDITY_ADDED = '0xa26a52d8d53702bba7f137907b8e1f99ff87f6d450144270ca25e72481cca871'
/** LiquidityRemoved(address indexed pool, address indexed liquidityProvider, uint8 indexed kind, uint256 totalSupply, uint256[] amountsRemovedRaw, uint256[] swapFeeAmountsRaw) */
const LIQUIDITY_REMOVED = '0xfbe5b0d79fb94f1e81c0a92bf86ae9d3a19e9d1bf6202c0d3e75120f65d5d8a5'

const TOKEN_CONFIG_WORDS = 4
/** A fee of 100 % in the vault's fixed point, and a millionth of it. */
const WHOLE = 10n ** 18n
const MILLIONTH = 10n ** 12n

/** getPoolTokens(address) */
const GET_POOL_TOKENS = '0xca4f2803'
/** getPoolTokenInfo(address): tokens, their types, raw balances, scaled balances */
const GET_POOL_TOKEN_INFO = '0x67e0e076'

/**
 * One vault holds all pools and emits their events. Reserves cannot be counted: the protocol's and the creator's shares
 * of the fees leave a pool without an event. Wrap and Unwrap are ignored, because they move a buffer of the vault
 * between a token and its wrapper, not a pool.
 */
export const balancerV3: Protocol = {
  announcements: { [POOL_REGISTERED]: readPoolRegistered },
  events: {
    [SWAP]: readSwap,
    [LIQUIDITY_ADDED]: readLiquidityAdded,
    [LIQUIDITY_REMOVED]: readLiquidityRemoved,
  },
  isSingleton: true,
  payerOf: ({ address }) => address,
  reserves: 'unknown',
  identify,
  readState,
}

function readPoolRegistered(log: RawLog): PoolCreated | undefined {
  const pool = topicAddress(log.topics[1])
  const tokens = listAt(log.data, 0, addressAt, TOKEN_CONFIG_WORDS)
  if (pool === undefined || tokens === undefined || tokens.length < 2) return undefined
  return { type: 'poolCreated', pool, tokens, pricing: { kind: 'trades' } }
}

function readSwap(log: RawLog): Swapped | undefined {
  const pool = topicAddress(log.topics[1])
  const tokenIn = topicAddress(log.topics[2])
  const tokenOut = topicAddress(log.topics[3])
  const amountIn = uintAt(log.data, 0)
  const amountOut = uintAt(log.data, 1)
  const fee = uintAt(log.data, 2)
  if (pool === undefined || tokenIn === undefined || tokenOut === undefined) return undefined
  if (amountIn === undefined || amountOut === undefined || fee === undefined || fee > WHOLE) return undefined
  return {
    type: 'swapped',
    pool,
    sender: undefined,
    recipient: undefined,
    token0: tokenIn,
    token1: tokenOut,
    delta0: amountIn,
    delta1: -amountOut,
    price: undefined,
    feePpm: Number(fee / MILLIONTH),
  }
}

function readLiquidityAdded(log: RawLog): LiquidityAdded | undefined {
  const moved = readMoved(log)
  return moved && { type: 'liquidityAdded', ...moved }
}

function readLiquidityRemoved(log: RawLog): LiquidityRemoved | undefined {
  const moved = readMoved(log)
  return moved && { type: 'liquidityRemoved', ...moved, isPaidOut: true }
}

function readMoved(log: RawLog): { pool: string; provider: string; amounts: TokenAmount[] } | undefined {
  const pool = topicAddress(log.topics[1])
  const provider = topicAddress(log.topics[2])
  const kind = topicSmallUint(log.topics[3])
  const amounts = listAt(log.data, 1, uintAt)
  if (pool === undefined || provider === undefined || kind === undefined || amounts === undefined) {
    return undefined
  }
  return { pool, provider, amounts: amounts.map((amount, token) => ({ token, amount })) }
}

function* readState({ address: pool }: CreatedPool, { factory }: DexDeployment): StateInquiry {
  const [held, weights]: readonly Answer[] = yield [
    { to: factory, data: callData(GET_POOL_TOKEN_INFO, pool) },
    { to: pool, data: GET_NORMALIZED_WEIGHTS },
  ]
  return vaultState(listAt(held, 2, uintAt), weights)
}

function* identify(pool: string, deployments: readonly DexDeployment[]): Inquiry {
  const lists: readonly Answer[] = yield deployments.map(({ factory }) => {
    return { to: factory, data: callData(GET_POOL_TOKENS, pool) }
  })
  for (const [at, { factory }] of deployments.entries()) {
    const tokens = listAt(lists[at], 0, addressAt)
    if (tokens === undefined || tokens.length < 2) continue
    return { factory, tokens, pricing: { kind: 'trades' }, reservesBefore: undefined }
  }
  return undefined
}
