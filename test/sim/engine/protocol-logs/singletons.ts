import type { Pricing, RawLog } from '../../../../src/domain/envelope.ts'
import type { Random } from '../../../fuzz/random.ts'
import { hashOf, packed, words } from '../../../support/builders/abi-words.ts'
import { padded, rawLog } from '../../../support/builders/raw-log.ts'
import {
  amountOf,
  binPricing,
  deltas,
  halfOf,
  type PoolKind,
  randomBin,
  randomPrice,
  type SimPool,
  sqrtPricing,
  TICK_RANGE,
  WHO,
} from './pool-kind.ts'

const MODIFY = '0xf208f4912782fd25c7f114ca3723a2d5dd6f3bcc3ac8db5af63baa85f711d5ec'
const V4 = {
  initialize: '0xdd466e674ea557f56295e2d0218a125ea4b4f0f6f3307b95f85e6110838d6438',
  swap: '0x40e9cecb9f5f1f1c5b9c97dec2917b7ee92e57ba5563708daca94dd84ad7112f',
  donate: '0x29ef05caaff9404b7cb6d1c0e9bbae9eaa7ab2541feba1a9c4248594c08156cb',
}
const CL = {
  initialize: '0x426cc62fe6a33a40ba2788c2c87a9c34ee4582b95bc9fa5a7bb7ae70b750b99c',
  swap: '0x04206ad2b7c0f463bff3dd4f33c5735b0f2957a351e4f79763a4fa9e775dd237',
  donate: '0xbe708911656ae186ac3fc26a794e5f1319609ce340a14c63524f985fee4bc841',
}
const BIN = {
  initialize: '0xddfde5903015c0eb1671976c6c8f760f1328bec57f15286b6bdab2f955cab9c9',
  swap: '0x3e8aae37f890eb1f9d63dd4d2062f3f0be757848a0f0760e4f3e53dad556e861',
  mint: '0x7b6bc49b385af8644341f07a67cd976bf9daf2bdd5d71668e651a3a792e318e1',
  burn: '0x16d40aa4e497175b58e47cbf101544758de8c01d92a760c738943044c758df8a',
  donate: '0xfc18146d5586318640b3febea90b094b834f09982812258534a1c07bdda12954',
}
const FEE = 3_000n
const TICK_SPACING = 60n

export const uniswapV4: PoolKind = {
  hasNative: true,
  isCounted: true,
  pricing: sqrtPricing,
  // The hash of its key: tokens, fee, tick spacing and no hooks.
  idOf: (_factory, [token0 = '', token1 = '']) => hashOf(token0, token1, FEE, TICK_SPACING, '0x'),
  log: (random, pool) => liquidityLog(random, pool, V4),
  created: (random, { factory, address, tokens }) => {
    const { sqrtPrice, tick } = randomPrice(random)
    const data = words(FEE, TICK_SPACING, '0x', sqrtPrice, tick)
    return rawLog(factory, [V4.initialize, address, ...tokens.map(padded)], data)
  },
}

export const infinityCl: PoolKind = {
  ...uniswapV4,
  idOf: (factory, [token0 = '', token1 = '']) => infinityId(factory, token0, token1, TICK_SPACING << 16n),
  log: (random, pool) => liquidityLog(random, pool, CL, [0n]),
  created: (random, { factory, address, tokens }) => {
    const { sqrtPrice, tick } = randomPrice(random)
    const data = words('0x', FEE, TICK_SPACING << 16n, sqrtPrice, tick)
    return rawLog(factory, [CL.initialize, address, ...tokens.map(padded)], data)
  },
}

export const infinityBin: PoolKind = {
  hasNative: true,
  isCounted: true,
  pricing: binPricing,
  idOf: (factory, [token0 = '', token1 = ''], pricing) =>
    infinityId(factory, token0, token1, parametersOf(pricing)),
  log: binLog,
  created: (random, { factory, address, tokens, pricing }) => {
    const data = words('0x', FEE, parametersOf(pricing), randomBin(random))
    return rawLog(factory, [BIN.initialize, address, ...tokens.map(padded)], data)
  },
}

function infinityId(manager: string, token0: string, token1: string, parameters: bigint): string {
  return hashOf(token0, token1, '0x', manager, FEE, parameters)
}

function parametersOf(pricing: Pricing): bigint {
  return BigInt(pricing.kind === 'bins' ? pricing.binStep : 0) << 16n
}

/** One contract speaks for all pools, and names them by their ids. */
function liquidityLog(
  random: Random,
  pool: SimPool,
  topics: { readonly swap: string; readonly donate: string },
  more: readonly bigint[] = [],
): RawLog {
  const { address, factory } = pool
  const roll = random.below(100)
  if (roll < 55) {
    const { sqrtPrice, tick } = randomPrice(random)
    const moved = deltas(random, halfOf(random, pool), halfOf(random, pool))
    const data = words(...moved, sqrtPrice, 1_000n, tick, anyFee(random), ...more)
    return rawLog(factory, [topics.swap, address, WHO], data)
  }
  if (roll < 90) {
    const [lower, upper] = [-BigInt(random.below(TICK_RANGE)), BigInt(1 + random.below(TICK_RANGE))]
    const liquidity = random.chance(0.7) ? halfOf(random, pool) : -halfOf(random, pool)
    return rawLog(factory, [MODIFY, address, WHO], words(lower, upper, liquidity, '0x'))
  }
  const donated = [amountOf(random, pool), amountOf(random, pool)]
  return rawLog(factory, [topics.donate, address, WHO], words(...donated, ...more))
}

function binLog(random: Random, pool: SimPool): RawLog {
  const { address, factory } = pool
  const [first, second] = [halfOf(random, pool), halfOf(random, pool)]
  const roll = random.below(100)
  if (roll < 55) {
    const fees = [anyFee(random), BigInt(random.pick([0, 0, 100, 1_000]))]
    const data = words(...deltas(random, first, second), randomBin(random), ...fees)
    return rawLog(factory, [BIN.swap, address, WHO], data)
  }
  const lists = [1n, randomBin(random), 1n, packed(first, second)]
  if (roll < 75)
    return rawLog(factory, [BIN.mint, address, WHO], words(160n, 0n, 224n, 0n, packed(1n, 2n), ...lists))
  if (roll < 90) return rawLog(factory, [BIN.burn, address, WHO], words(96n, 0n, 160n, ...lists))
  return rawLog(factory, [BIN.donate, address, WHO], words(-first, -second, randomBin(random)))
}

function anyFee(random: Random): bigint {
  return BigInt(random.pick([0, 500, 3_000, 1_000_000]))
}
