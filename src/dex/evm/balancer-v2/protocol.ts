import type { CreatedPool } from '../../../domain/created-pool.ts'
import type { RawLog } from '../../../domain/envelope.ts'
import type { LiquidityAdded, LiquidityRemoved, PoolCreated, Swapped } from '../../events.ts'
import type { Answer, DexDeployment, Inquiry, Protocol, StateInquiry } from '../../protocol.ts'
import { addressAt, callData, intAt, listAt, topicAddress, topicId, uintAt, wordAt } from '../abi.ts'
import { GET_NORMALIZED_WEIGHTS, vaultState } from '../vault-state.ts'

/** TokensRegistered(bytes32 indexed poolId, address[] tokens, address[] assetManagers) */
const TOKENS_REGISTERED = '0xf5847d3f2197b16cdcd2098ec95d0905cd1abdaf415f07bb7cef2bba8ac5dec4'
/** Swap(bytes32 indexed poolId, address indexed tokenIn, address indexed tokenOut, uint256 amountIn, uint256 amountOut) */
const SWAP = '0x2170c741c41531aec20e7c107c24eecfdd15e69c9bb0a8dd37b1840b9e0b207b'
/** PoolBalanceChanged(bytes32 indexed poolId, address indexed liquidityProvider, address[] tokens, int256[] deltas, uint256[] protocolFeeAmounts) */
const POOL_BALANCE_CHANGED = '0xe5ce249087ce04f05a957192435400fd97868dba0e6a4b4c049abf8af80dae78'

/** getPoolId() */
const GET_POOL_ID = '0x38fff2d0'
/** getPoolTokens(bytes32) */
const GET_POOL_TOKENS = '0xf94d4668'

/**
 * One vault holds all pools and emits their events. A pool's contract is also its LP token, so a swap for it or with it
 * is a join or an exit, not a trade. Reserves cannot be counted: a join or an exit may also pay protocol fees, and its
 * event reports either the provider's amounts or the pool's loss, not both.
 */
export const balancerV2: Protocol = {
  announcements: { [TOKENS_REGISTERED]: readTokensRegistered },
  events: { [SWAP]: readSwap, [POOL_BALANCE_CHANGED]: readPoolBalanceChanged },
  isSingleton: true,
  payerOf: ({ address }) => address,
  reserves: 'unknown',
  identify,
  readState,
}

/** The tokens may include the pool's own LP token. */
function readTokensRegistered(log: RawLog): PoolCreated | undefined {
  const pool = poolOf(topicId(log.topics[1]))
  const tokens = listAt(log.data, 0, addressAt)
  // Some pools register another token later, so a list of one token announces no pool.
  if (pool === undefined || tokens === undefined || tokens.length < 2) return undefined
  return { type: 'poolCreated', pool, tokens, pricing: { kind: 'trades' } }
}

function readSwap(log: RawLog): Swapped | LiquidityAdded | LiquidityRemoved | undefined {
  const pool = poolOf(topicId(log.topics[1]))
  const tokenIn = topicAddress(log.topics[2])
  const tokenOut = topicAddress(log.topics[3])
  const amountIn = uintAt(log.data, 0)
  const amountOut = uintAt(log.data, 1)
  if (pool === undefined || tokenIn === undefined || tokenOut === undefined) return undefined
  if (amountIn === undefined || amountOut === undefined) return undefined
  if (tokenOut === pool) {
    const amounts = [{ token: tokenIn, amount: amountIn }]
    return { type: 'liquidityAdded', pool, provider: undefined, amounts }
  }
  if (tokenIn === pool) {
    const amounts = [{ token: tokenOut, amount: amountOut }]
    return { type: 'liquidityRemoved', pool, provider: undefined, amounts, isPaidOut: true }
  }
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
  }
}

function readPoolBalanceChanged(log: RawLog): LiquidityAdded | LiquidityRemoved | undefined {
  const pool = poolOf(topicId(log.topics[1]))
  const provider = topicAddress(log.topics[2])
  const tokens = listAt(log.data, 0, addressAt)
  const deltas = listAt(log.data, 1, intAt)
  if (pool === undefined || provider === undefined || tokens === undefined) return undefined
  if (deltas?.length !== tokens.length) return undefined
  const isAdded = deltas.some((delta) => delta > 0n)
  // The vault never mixes both signs in one event, and an event without a movement is ignored.
  if (isAdded === deltas.some((delta) => delta < 0n)) return undefined
  const amounts = tokens.flatMap((token, at) => {
    const delta = deltas[at] ?? 0n
    return token === pool ? [] : [{ token, amount: isAdded ? delta : -delta }]
  })
  if (isAdded) return { type: 'liquidityAdded', pool, provider, amounts }
  return { type: 'liquidityRemoved', pool, provider, amounts, isPaidOut: true }
}

/** An id starts with the address of the pool's contract. */
function poolOf(id: string | undefined): string | undefined {
  return id?.slice(0, 42)
}

function* readState({ address: pool }: CreatedPool, { factory }: DexDeployment): StateInquiry {
  const [claimed, weights]: readonly Answer[] = yield [
    { to: pool, data: GET_POOL_ID },
    { to: pool, data: GET_NORMALIZED_WEIGHTS },
  ]
  const id = wordAt(claimed, 0)
  if (id === undefined || poolOf(id) !== pool) return undefined
  const [held]: readonly Answer[] = yield [{ to: factory, data: callData(GET_POOL_TOKENS, id) }]
  return vaultState(listAt(held, 1, uintAt), weights)
}

function* identify(pool: string, deployments: readonly DexDeployment[]): Inquiry {
  const [claimed]: readonly Answer[] = yield [{ to: pool, data: GET_POOL_ID }]
  const id = wordAt(claimed, 0)
  if (id === undefined || poolOf(id) !== pool) return undefined
  const lists: readonly Answer[] = yield deployments.map(({ factory }) => {
    return { to: factory, data: callData(GET_POOL_TOKENS, id) }
  })
  for (const [at, { factory }] of deployments.entries()) {
    const tokens = listAt(lists[at], 0, addressAt)
    if (tokens === undefined || tokens.length < 2) continue
    return { factory, tokens, pricing: { kind: 'trades' }, reservesBefore: undefined }
  }
  return undefined
}
