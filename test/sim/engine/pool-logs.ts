import type { RawLog } from '../../../src/domain/envelope.ts'
import type { Random } from '../../fuzz/random.ts'
import { algebra, pancakeswapV3, slipstream, uniswapV3 } from './protocol-logs/concentrated.ts'
import { balancerV2, balancerV3, curve } from './protocol-logs/larger-pools.ts'
import { flap, fourMeme, fourMemeV1, virtuals } from './protocol-logs/launch-platforms.ts'
import { traderJoeLb } from './protocol-logs/liquidity-book.ts'
import { solidly, uniswapV2 } from './protocol-logs/pairs.ts'
import type { PoolKind, SimPool } from './protocol-logs/pool-kind.ts'
import { infinityBin, infinityCl, uniswapV4 } from './protocol-logs/singletons.ts'

/** What pools of each protocol with pools emit on a chain, written down once more: by the names of `src/dex/protocols.ts`. */
export const POOL_KINDS: Readonly<Record<string, PoolKind>> = {
  uniswap_v2: uniswapV2,
  uniswap_v3: uniswapV3,
  uniswap_v4: uniswapV4,
  pancakeswap_v3: pancakeswapV3,
  pancakeswap_infinity_cl: infinityCl,
  pancakeswap_infinity_bin: infinityBin,
  solidly,
  slipstream,
  algebra,
  curve,
  balancer_v2: balancerV2,
  balancer_v3: balancerV3,
  trader_joe_lb: traderJoeLb,
  four_meme: fourMeme,
  four_meme_v1: fourMemeV1,
  flap,
  virtuals,
}

export function kindOf({ protocol }: Pick<SimPool, 'protocol'>): PoolKind {
  const kind = POOL_KINDS[protocol]
  if (kind === undefined) throw new Error(`no logs of ${protocol}`)
  return kind
}

/** A random log of this pool, or of its factory about it. */
export function randomLog(random: Random, pool: SimPool): RawLog {
  const log = kindOf(pool).log(random, pool)
  if (random.chance(0.97)) return log
  // Logs are untrusted: one that is cut short says nothing.
  return { ...log, data: log.data.subarray(0, random.below(log.data.length)) }
}

/** The log with which the exchange announces the pool; Curve has none. */
export function creationLog(random: Random, pool: SimPool): RawLog | undefined {
  return kindOf(pool).created(random, pool)
}
