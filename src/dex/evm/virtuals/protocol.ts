import type { CreatedPool } from '../../../domain/created-pool.ts'
import type { RawLog } from '../../../domain/envelope.ts'
import type { CurveDrained, LiquidityAdded, PoolCreated, Swapped, TokenGraduated } from '../../events.ts'
import type { Answer, DexDeployment, Inquiry, Protocol, StateInquiry } from '../../protocol.ts'
import { addressAt, callData, isWords, topicAddress, uintAt } from '../abi.ts'
import { bothAmounts } from '../event-parts.ts'
import { launchPlatform } from '../launch-events.ts'

/** PairCreated(address indexed tokenA, address indexed tokenB, address pair, uint256): the sold token comes first. */
const PAIR_CREATED = '0x0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9'
/** Swap(uint256 amount0In, uint256 amount0Out, uint256 amount1In, uint256 amount1Out): without the platform's tax */
const SWAP = '0x298c349c742327269dc8de6ad66687767310c948ea309df826f5bd103e19d207'
/** Mint(uint256 reserve0, uint256 reserve1): once, and the second reserve is virtual */
const MINT = '0xcc9c58b575eabd3f6a1ee653e91fcea3ff546867ffc3782a3bbca1f9b6dbb8df'
/** Graduated(address indexed token, address agentToken) */
const GRADUATED = '0x381d54fa425631e6266af114239150fae1d5db67bb65b4fa9ecc65013107e07e'
/** PrivatePoolDrained(address indexed token, address indexed recipient, uint256 assetAmount, uint256 tokenAmount) */
const PRIVATE_POOL_DRAINED = '0x6780d7960d1ee98bd98b0fe1eae47483ed1f37ec80e9cd2b69d812ba64f19b99'

/** tokenA() */
const TOKEN_A = '0x0fc63d10'
/** tokenB() */
const TOKEN_B = '0x5f64b55b'
/** getPair(address tokenA, address tokenB) */
const GET_PAIR = '0xe6a43905'
/** getReserves(): of the pricing formula, so the second one includes the virtual part */
const GET_RESERVES = '0x0902f1ac'
/** balanceOf(address) */
const BALANCE_OF = '0x70a08231'

/**
 * Virtuals: each curve is a contract of its own, an FPair of an FFactory. It sells the first token for the second one,
 * and begins with a virtual reserve of the second one that nobody paid in. Graduations are reported by `virtualsLaunchpad`.
 */
export const virtuals: Protocol = {
  announcements: { [PAIR_CREATED]: readPairCreated },
  events: { [SWAP]: readSwap, [MINT]: readMint },
  isSingleton: false,
  isLaunchPlatform: true,
  reserves: 'counted',
  identify,
  readState,
}

/** The contracts that report what happens to curves: Bonding and its later versions, and the FRouters. */
export const virtualsLaunchpad: Protocol = launchPlatform({
  [GRADUATED]: readGraduated,
  [PRIVATE_POOL_DRAINED]: readDrained,
})

function readPairCreated({ topics, data }: RawLog): PoolCreated | undefined {
  const token = topicAddress(topics[1])
  const quote = topicAddress(topics[2])
  const pool = isWords(data, 2) ? addressAt(data, 0) : undefined
  if (topics.length !== 3 || token === undefined || quote === undefined || pool === undefined)
    return undefined
  return { type: 'poolCreated', pool, tokens: [token, quote], pricing: { kind: 'trades' } }
}

function readSwap({ address, topics, data }: RawLog): Swapped | undefined {
  const [in0, out0, in1, out1] = [0, 1, 2, 3].map((index) => uintAt(data, index))
  if (topics.length !== 1 || !isWords(data, 4)) return undefined
  if (in0 === undefined || out0 === undefined || in1 === undefined || out1 === undefined) return undefined
  return {
    type: 'swapped',
    pool: address,
    // The event names neither the caller nor the trader.
    sender: undefined,
    recipient: undefined,
    token0: 0,
    token1: 1,
    delta0: in0 - out0,
    delta1: in1 - out1,
    price: undefined,
  }
}

function readMint({ address, topics, data }: RawLog): LiquidityAdded | undefined {
  const supply = uintAt(data, 0)
  if (topics.length !== 1 || !isWords(data, 2) || supply === undefined) return undefined
  return { type: 'liquidityAdded', pool: address, provider: undefined, amounts: bothAmounts(supply, 0n) }
}

function readGraduated({ topics, data }: RawLog): TokenGraduated | undefined {
  const token = topicAddress(topics[1])
  const agentToken = isWords(data, 1) ? addressAt(data, 0) : undefined
  if (topics.length !== 2 || token === undefined || agentToken === undefined) return undefined
  const event = { type: 'tokenGraduated', token } as const
  return agentToken === token ? event : { ...event, successor: agentToken }
}

function readDrained({ topics, data }: RawLog): CurveDrained | undefined {
  const token = topicAddress(topics[1])
  if (topics.length !== 3 || topicAddress(topics[2]) === undefined || !isWords(data, 2)) return undefined
  return token === undefined ? undefined : { type: 'curveDrained', token }
}

/** A curve does not name its factory, so all of them are asked. */
function* identify(pool: string, deployments: readonly DexDeployment[]): Inquiry {
  const claims: readonly Answer[] = yield [TOKEN_A, TOKEN_B].map((data) => ({ to: pool, data }))
  const token = addressAt(claims[0], 0)
  const quote = addressAt(claims[1], 0)
  if (token === undefined || quote === undefined || token === quote) return undefined
  const balanceOf = callData(BALANCE_OF, pool)
  const [balance0, balance1, ...pairs]: readonly Answer[] = yield [
    { to: token, data: balanceOf, before: true },
    { to: quote, data: balanceOf, before: true },
    ...deployments.map(({ factory }) => ({ to: factory, data: callData(GET_PAIR, token, quote) })),
  ]
  const factory = deployments.find((_, index) => addressAt(pairs[index], 0) === pool)?.factory
  if (factory === undefined) return undefined
  return {
    factory,
    tokens: [token, quote],
    pricing: { kind: 'trades' },
    reservesBefore: bothOf(uintAt(balance0, 0), uintAt(balance1, 0)),
  }
}

function* readState({ address, tokens }: CreatedPool): StateInquiry {
  const balanceOf = callData(BALANCE_OF, address)
  const [virtual, ...balances]: readonly Answer[] = yield [
    { to: address, data: GET_RESERVES },
    ...tokens.map((token) => ({ to: token, data: balanceOf })),
  ]
  const raw0 = uintAt(virtual, 0)
  const raw1 = uintAt(virtual, 1)
  if (raw0 === undefined || raw1 === undefined) return undefined
  const reserves = bothOf(uintAt(balances[0], 0), uintAt(balances[1], 0))
  // A curve without tokens has graduated: nobody trades at its price any more.
  const isOpen = reserves !== undefined && reserves[0] > 0n && raw0 > 0n && raw1 > 0n
  return { reserves, price: isOpen ? { kind: 'exchange', raw0, raw1 } : undefined }
}

function bothOf(amount0: bigint | undefined, amount1: bigint | undefined): [bigint, bigint] | undefined {
  return amount0 === undefined || amount1 === undefined ? undefined : [amount0, amount1]
}
