import type { RawLog } from '../../../domain/envelope.ts'
import type { PoolCreated } from '../../events.ts'
import type { Answer, DexDeployment, Inquiry, Protocol } from '../../protocol.ts'
import { addressAt, callData, topicAddress } from '../abi.ts'
import { create2Address, keccakOfPacked } from '../create2.ts'
import { readBurn, readMint, readSwap, readSync } from '../pair-events.ts'
import { readPairState } from '../pair-state.ts'

/** PairCreated(address indexed token0, address indexed token1, address pair, uint256) */
const PAIR_CREATED = '0x0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9'
/** Sync(uint112 reserve0, uint112 reserve1): reserves after, emitted before the event it belongs to. */
const SYNC = '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1'
/** Swap(address indexed sender, uint256 amount0In, amount1In, amount0Out, amount1Out, address indexed to) */
const SWAP = '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822'
/** Mint(address indexed sender, uint256 amount0, uint256 amount1) */
const MINT = '0x4c209b5fc8ad50758f13e2e1088ba56a560dff690a1c6fef26394f4c03821c4f'
/** Burn(address indexed sender, uint256 amount0, uint256 amount1, address indexed to) */
const BURN = '0xdccd412f0b1252819cb1fd330b93224ca42612892bb3f4f789976e6d81936496'

const FACTORY = '0xc45a0155'
const TOKEN0 = '0x0dfe1681'
const TOKEN1 = '0xd21220a7'
const GET_PAIR = '0xe6a43905'

/** Uniswap V2 and its forks. */
export const uniswapV2: Protocol = {
  announcements: { [PAIR_CREATED]: readPairCreated },
  events: { [SYNC]: readSync, [SWAP]: readSwap, [MINT]: readMint, [BURN]: readBurn },
  trial: 'v2',
  isSingleton: false,
  reserves: 'reported',
  identify,
  readState: readPairState,
}

function readPairCreated(log: RawLog): PoolCreated | undefined {
  const token0 = topicAddress(log.topics[1])
  const token1 = topicAddress(log.topics[2])
  const pool = addressAt(log.data, 0)
  if (token0 === undefined || token1 === undefined || pool === undefined) return undefined
  return { type: 'poolCreated', pool, tokens: [token0, token1], pricing: { kind: 'reserves' } }
}

function* identify(pool: string, deployments: readonly DexDeployment[]): Inquiry {
  const [claimed, first, second]: readonly Answer[] = yield [
    { to: pool, data: FACTORY },
    { to: pool, data: TOKEN0 },
    { to: pool, data: TOKEN1 },
  ]
  const factory = addressAt(claimed, 0)
  const token0 = addressAt(first, 0)
  const token1 = addressAt(second, 0)
  const deployment = deployments.find((one) => one.factory === factory)
  if (deployment === undefined || token0 === undefined || token1 === undefined) return undefined
  const found = {
    factory: deployment.factory,
    tokens: [token0, token1],
    pricing: { kind: 'reserves' },
    reservesBefore: undefined,
  } as const
  if (deployment.initCodeHash !== undefined) {
    const salt = keccakOfPacked(token0, token1)
    return create2Address(deployment, salt) === pool ? found : undefined
  }
  const [own]: readonly Answer[] = yield [
    { to: deployment.factory, data: callData(GET_PAIR, token0, token1) },
  ]
  return addressAt(own, 0) === pool ? found : undefined
}
