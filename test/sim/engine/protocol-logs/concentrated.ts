import type { RawLog } from '../../../../src/domain/envelope.ts'
import type { Random } from '../../../fuzz/random.ts'
import { words } from '../../../support/builders/abi-words.ts'
import { padded, rawLog } from '../../../support/builders/raw-log.ts'
import {
  amountOf,
  deltas,
  type PoolKind,
  randomPrice,
  type SimPool,
  sqrtPricing,
  TICK_RANGE,
  WHO,
  WHOM,
} from './pool-kind.ts'

const INITIALIZE = '0x98636036cb66a9c19a37435efc1e90142190214e8abeb821bdba3f2990dd4c95'
const MINT = '0x7a53080ba414158be7ec69b987b5fb7d07dee101fe85488f0853ae16239d0bde'
const BURN = '0x0c396cd989a39f4459b5fa1aed6a9a8dcdbc45908acfd67e028cd568da98982c'
const BURN_WITH_FEE = '0x932214d4a69c27c086643126ed97c32681da179064c678836c173f99bd13ca01'
const COLLECT = '0x70935338e69775456a85ddef226c395fb668b63fa0115f5f20610b388e6ca9c0'
const COLLECT_PROTOCOL = '0x596b573906218d3411850b26a6b437d6c4522fdb43d2d2386263f86d50b8b151'
const COLLECT_FEES = '0x205860e66845f2bbc0966bfab80db9bf93fca93862ea2b9fcf6945748352b4a3'
const FLASH = '0xbdbdb71d7860376ba52b25a5028beea23581364a40522f6bcfb86bb1f2dca633'
const SWAP = '0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67'
const SWAP_PANCAKE = '0x19b47279256b2a23a1665c810c8d55a1758940ee09377d4f8d26497a3577dc83'
const SWAP_ALGEBRA = '0x121cb44ee54098b1a04743c487e7460d8dd429b27f88b1f4d4767396e1a59f79'
const CREATED = '0x783cca1c0412dd0d695e784568c96da2e9c22ff989357a2e8b1d9b2b4e6b7118'
const CREATED_SLIPSTREAM = '0xab0d57f0df537bb25e80245ef7748fa62353808c54d6e528a9dd20887aed9ac2'
const CREATED_ALGEBRA = '0x91ccaa7a278130b65168c3a0c8d3bcae84cf5e43704342bd3ec0b59e59c036db'
const CREATED_CUSTOM = '0x8a5f030f5fc13b04a1e4ef7c47177e3d76b0e80e1d9be9843db37caa5b7b9b8f'

type MakeLog = (random: Random, pool: SimPool) => RawLog

export const uniswapV3: PoolKind = {
  isCounted: true,
  pricing: sqrtPricing,
  log: poolLog(swapped(SWAP), [collectProtocol]),
  created: (_random, { factory, address, tokens }) => {
    return rawLog(factory, [CREATED, ...tokens.map(padded), words(500n)], words(10n, address))
  },
}

export const pancakeswapV3: PoolKind = {
  ...uniswapV3,
  log: poolLog(
    swapped(SWAP_PANCAKE, () => [3n, 0n]),
    [collectProtocol],
  ),
}

export const slipstream: PoolKind = {
  ...uniswapV3,
  log: poolLog(swapped(SWAP), [
    (random, pool) => rawLog(pool.address, [COLLECT_FEES, WHOM], words(...bothOf(random, pool))),
  ]),
  created: (_random, { factory, address, tokens }) => {
    return rawLog(factory, [CREATED_SLIPSTREAM, ...tokens.map(padded), words(100n)], words(address))
  },
}

export const algebra: PoolKind = {
  pricing: sqrtPricing,
  log: poolLog(
    swapped(SWAP_ALGEBRA, (random) => [
      BigInt(random.pick([0, 500, 900_000])),
      BigInt(random.below(100_000)),
    ]),
    [swapped(SWAP), (random, pool) => position(random, pool, BURN_WITH_FEE, 1_000n, undefined, 7n)],
  ),
  created: (random, { factory, address, tokens }) => {
    const sides = tokens.map(padded)
    return random.chance(0.5)
      ? rawLog(factory, [CREATED_ALGEBRA, ...sides], words(address))
      : rawLog(factory, [CREATED_CUSTOM, WHO, ...sides], words(address))
  },
}

/** `others` are the events that only this protocol has. */
function poolLog(swap: MakeLog, others: readonly MakeLog[]): MakeLog {
  return (random, pool) => {
    const { address } = pool
    const roll = random.below(100)
    if (roll < 50) return swap(random, pool)
    if (roll < 67) return position(random, pool, MINT, 1_000n, WHO)
    if (roll < 76) return position(random, pool, BURN, 1_000n)
    if (roll < 85) return position(random, pool, COLLECT, undefined, WHOM)
    if (roll < 90) return random.pick(others)(random, pool)
    if (roll < 95)
      return rawLog(address, [FLASH, WHO, WHOM], words(...bothOf(random, pool), ...bothOf(random, pool)))
    const { sqrtPrice, tick } = randomPrice(random)
    return rawLog(address, [INITIALIZE], words(sqrtPrice, tick))
  }
}

function swapped(topic: string, more: (random: Random) => readonly bigint[] = () => []): MakeLog {
  return (random, pool) => {
    const { sqrtPrice, tick } = randomPrice(random)
    const [paid, got] = bothOf(random, pool)
    const moved = [...deltas(random, paid, got), sqrtPrice, 1_000n, tick, ...more(random)]
    return rawLog(pool.address, [topic, WHO, WHOM], words(...moved))
  }
}

/** An event of a position: owner, range, liquidity, and both amounts. */
function position(
  random: Random,
  pool: SimPool,
  topic: string,
  liquidity?: bigint,
  first?: string,
  last?: bigint,
): RawLog {
  const range = [words(-BigInt(random.below(TICK_RANGE))), words(BigInt(random.below(TICK_RANGE)))]
  const values = [first, liquidity, ...bothOf(random, pool), last].filter((word) => word !== undefined)
  return rawLog(pool.address, [topic, WHO, ...range], words(...values))
}

function collectProtocol(random: Random, pool: SimPool): RawLog {
  return rawLog(pool.address, [COLLECT_PROTOCOL, WHO, WHOM], words(...bothOf(random, pool)))
}

function bothOf(random: Random, pool: SimPool): [bigint, bigint] {
  return [amountOf(random, pool), amountOf(random, pool)]
}
