import type { Pricing, RawLog } from '../../../domain/envelope.ts'
import type { FeesCollected, PoolCreated } from '../../events.ts'
import type { Answer, DexDeployment, Inquiry, Protocol } from '../../protocol.ts'
import { addressAt, callData, topicAddress, topicSmallUint, uintAt } from '../abi.ts'
import { bothAmountsAt } from '../event-parts.ts'
import { readBurn, readMint, readSwap, readSync } from '../pair-events.ts'
import { readPairState } from '../pair-state.ts'

/** PoolCreated(address indexed token0, address indexed token1, bool indexed stable, address pool, uint256) */
const POOL_CREATED = '0x2128d88d14c80cb081c1252a5acff7a264671bf199ce226b53788fb26065005e'
/** PairCreated(address indexed token0, address indexed token1, bool stable, address pair, uint256) */
const PAIR_CREATED = '0xc4805696c66d7cf352fc1d6bb633ad5ee82f6cb577c453024b6e0eb8306c6fc9'
/** Sync(uint256 reserve0, uint256 reserve1): reserves after, emitted before the event it belongs to. */
const SYNC = '0xcf2aa50876cdfbb541206f89af0ee78d44a2abf8d328e37fa4917f982149848a'
/** Swap(address indexed sender, address indexed to, uint256 amount0In, amount1In, amount0Out, amount1Out) */
const SWAP = '0xb3e2773606abfd36b5bd91394b3a54d1398336c65005baf7bf7a05efeffaf75b'
/** Swap(address indexed sender, uint256 amount0In, amount1In, amount0Out, amount1Out, address indexed to): the first version */
const SWAP_V1 = '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822'
/** Mint(address indexed sender, uint256 amount0, uint256 amount1) */
const MINT = '0x4c209b5fc8ad50758f13e2e1088ba56a560dff690a1c6fef26394f4c03821c4f'
/** Burn(address indexed sender, address indexed to, uint256 amount0, uint256 amount1) */
const BURN = '0x5d624aa9c148153ab3446c1b154f660ee7701e549fe9b62dab7171b1c80e6fa2'
/** Burn(address indexed sender, uint256 amount0, uint256 amount1, address indexed to): the first version */
const BURN_V1 = '0xdccd412f0b1252819cb1fd330b93224ca42612892bb3f4f789976e6d81936496'
/** Claim(address indexed sender, address indexed recipient, uint256 amount0, uint256 amount1) */
const CLAIM = '0x865ca08d59f5cb456e85cd2f7ef63664ea4f73327414e9d8152c4158b0e94645'

const TOKEN0 = '0x0dfe1681'
const TOKEN1 = '0xd21220a7'
/** stable() */
const STABLE = '0x22be3de1'
/** isPool(address); isPair(address) in the first version. */
const IS_POOL = '0x5b16ebb7'
const IS_PAIR = '0xe5e31b13'

/**
 * Solidly and its descendants: Aerodrome, Velodrome, Thena. The first version emits the events of Uniswap V2. A pool
 * uses one form or the other; where the order of fields is the same, only the indexing differs. Fees is ignored,
 * because the Sync of the same swap already excludes the fees from the reserves.
 */
export const solidly: Protocol = {
  announcements: { [POOL_CREATED]: readPoolCreated, [PAIR_CREATED]: readPairCreated },
  events: {
    [SYNC]: readSync,
    [SWAP]: readSwap,
    [SWAP_V1]: readSwap,
    [MINT]: readMint,
    [BURN]: readBurn,
    [BURN_V1]: readBurn,
    [CLAIM]: readClaim,
  },
  trial: 'solidly',
  isSingleton: false,
  reserves: 'reported',
  identify,
  readState: readPairState,
}

function readPoolCreated(log: RawLog): PoolCreated | undefined {
  return toPoolCreated(log, addressAt(log.data, 0), topicSmallUint(log.topics[3]))
}

function readPairCreated(log: RawLog): PoolCreated | undefined {
  return toPoolCreated(log, addressAt(log.data, 1), uintAt(log.data, 0))
}

function toPoolCreated(
  log: RawLog,
  pool: string | undefined,
  stable: number | bigint | undefined,
): PoolCreated | undefined {
  const token0 = topicAddress(log.topics[1])
  const token1 = topicAddress(log.topics[2])
  const pricing = toPricing(stable)
  if (token0 === undefined || token1 === undefined || pool === undefined || pricing === undefined) {
    return undefined
  }
  return { type: 'poolCreated', pool, tokens: [token0, token1], pricing }
}

/** In a stable pool, the ratio of the reserves is not the price. */
function toPricing(stable: number | bigint | undefined): Pricing | undefined {
  if (stable === undefined || (Number(stable) !== 0 && Number(stable) !== 1)) return undefined
  return Number(stable) === 1 ? { kind: 'trades' } : { kind: 'reserves' }
}

/** Paid by a separate contract that holds the pool's fees. */
function readClaim(log: RawLog): FeesCollected | undefined {
  const provider = topicAddress(log.topics[1])
  const amounts = bothAmountsAt(log.data, 0)
  if (provider === undefined || topicAddress(log.topics[2]) === undefined || amounts === undefined) {
    return undefined
  }
  return { type: 'feesCollected', pool: log.address, provider, amounts }
}

/** Some pools of this family do not expose their factory, so every factory is asked to confirm the pool. */
function* identify(pool: string, deployments: readonly DexDeployment[]): Inquiry {
  const [first, second, claimed, ...vouched]: readonly Answer[] = yield [
    { to: pool, data: TOKEN0 },
    { to: pool, data: TOKEN1 },
    { to: pool, data: STABLE },
    ...deployments.flatMap(({ factory }) => [
      { to: factory, data: callData(IS_POOL, pool) },
      { to: factory, data: callData(IS_PAIR, pool) },
    ]),
  ]
  const own = vouched.findIndex((answer) => uintAt(answer, 0) === 1n)
  const deployment = deployments[Math.floor(own / 2)]
  const token0 = addressAt(first, 0)
  const token1 = addressAt(second, 0)
  const pricing = toPricing(uintAt(claimed, 0))
  if (deployment === undefined || token0 === undefined || token1 === undefined || pricing === undefined) {
    return undefined
  }
  return { factory: deployment.factory, tokens: [token0, token1], pricing, reservesBefore: undefined }
}
