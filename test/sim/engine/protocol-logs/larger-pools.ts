import type { RawLog } from '../../../../src/domain/envelope.ts'
import type { Random } from '../../../fuzz/random.ts'
import { words } from '../../../support/builders/abi-words.ts'
import { padded, rawLog } from '../../../support/builders/raw-log.ts'
import { amountOf, type PoolKind, type SimPool, tradesPricing, WHO } from './pool-kind.ts'

/** Pools of two to four tokens. */

const EXCHANGES = [
  '0x8b3e96f2b889fa771c53c981b40daf005f63f637f1869f707052d15a3dd97140',
  '0xb2e76ae99761dc136e598d4a629bb347eccb9532a5f8bbd72e18467c3c34cc98',
  '0x143f1f8e861fbdeddd5b46e844b7d3ac7b86a122f36e8c463859ee6811b1f29c',
  '0xd013ca23e77a65003c2c659c5442c00c805371b7fc1ebd4c206c41d1536bd90b',
]
/** By the number of coins: an amount for each of them, one word after the other, and more behind them. */
const BY_COINS: readonly (readonly string[])[] = [
  [
    '0x26f55a85081d24974e85c6c00045d0f0453991e95873f52bff0d21af4079a768',
    '0x540ab385f9b5d450a27404172caade516b3ba3f4be88239ac56a2ad1de2a1f5a',
    '0x7196cbf63df1f2ec20638e683ebe51d18260be510592ee1e2efe3f3cfd4c33e9',
    '0x7c363854ccf79623411f8995b362bce5eddff18c927edc6f5dbbb5e05819a82c',
    '0xdd3c0336a16f1b64f172b7bb0dad5b2b3c7c76f91e8c4aafd6aae60dce800153',
    '0x2b5508378d7e19e0d5fa338419034731416c4f5b219a10379956f764317fd47e',
    '0x22f9ea3e7d7b113cb423896d2e121f96a66c17814ac7f63d69096769fa3e2a55',
  ],
  [
    '0x423f6495a08fc652425cf4ed0d1f9e37e571d9b9529b1c1c23cce780b2e7df0d',
    '0x96b486485420b963edd3fdec0b0195730035600feb7de6f544383d7950fa97ee',
    '0xe1b60455bd9e33720b547f60e4e0cfbf1252d0f2ee0147d53029945f39fe3c1a',
    '0xa49d4cf02656aebf8c771f5a8585638a2a15ee6c97cf7205d4208ed7c1df252d',
    '0xd6cc314a0b1e3b2579f8e64248e82434072e8271290eef8ad0886709304195f5',
    '0x173599dbf9c6ca6f7c3b590df07ae98a45d74ff54065505141e7de6c46a624c2',
  ],
  [
    '0x3f1915775e0c9a38a57a7bb7f1f9005f486fb904e1f84aa215364d567319a58d',
    '0x9878ca375e106f2a43c3b599fc624568131c4c9a4ba66a14563715763be9d59d',
    '0xb964b72f73f5ef5bf0fdc559b2fab9a7b12a39e47817a547f1f0aee47febd602',
  ],
]
/** As a list of any length. */
const LISTED = [
  '0x189c623b666b1b45b83d7178f39b8c087cb09774317ca2f53c2d3c3726f222a2',
  '0x347ad828e58cbe534d8f6b67985d791360756b18f0d95fd9f197a66cc46480ea',
  '0x3631c28b1f9dd213e0319fb167b554d76b6c283a41143eb400a0d1adb1af1755',
]
/** One coin's part. */
const REMOVED_ONE = '0x6f48129db1f37ccb9cc5dd7e119cb32750cabdf75b48375d730d26ce3659bbe1'
const REMOVED_ONE_CRYPTO = '0xe200e24d4a4c7cd367dd9befe394dc8a14e6d58c88ff5e2f512d65a9e0aa9c5c'

const BALANCER_V2 = {
  registered: '0xf5847d3f2197b16cdcd2098ec95d0905cd1abdaf415f07bb7cef2bba8ac5dec4',
  swap: '0x2170c741c41531aec20e7c107c24eecfdd15e69c9bb0a8dd37b1840b9e0b207b',
  changed: '0xe5ce249087ce04f05a957192435400fd97868dba0e6a4b4c049abf8af80dae78',
}
const BALANCER_V3 = {
  registered: '0xbc1561eeab9f40962e2fb827a7ff9c7cdb47a9d7c84caeefa4ed90e043842dad',
  swap: '0x0874b2d545cb271cdbda4e093020c452328b24af12382ed62c4d00f5c26709db',
  added: '0xa26a52d8d53702bba7f137907b8e1f99ff87f6d450144270ca25e72481cca871',
  removed: '0xfbe5b0d79fb94f1e81c0a92bf86ae9d3a19e9d1bf6202c0d3e75120f65d5d8a5',
}

export const curve: PoolKind = {
  maxTokens: 4,
  hasNative: true,
  pricing: tradesPricing,
  log: curveLog,
  created: () => undefined,
}

export const balancerV2: PoolKind = {
  maxTokens: 4,
  pricing: tradesPricing,
  log: balancerV2Log,
  created: (_random, { factory, address, tokens }) => {
    const managers = list(tokens.map(() => 0n))
    const data = words(64n, BigInt(96 + 32 * tokens.length), ...list(tokens), ...managers)
    return rawLog(factory, [BALANCER_V2.registered, vaultId(address)], data)
  },
}

export const balancerV3: PoolKind = {
  maxTokens: 4,
  pricing: tradesPricing,
  log: balancerV3Log,
  created: (_random, { factory, address, tokens }) => {
    const configs = tokens.flatMap((token) => [token, 0n, '0x', 0n])
    const data = words(32n, BigInt(tokens.length), ...configs)
    return rawLog(factory, [BALANCER_V3.registered, padded(address), WHO], data)
  },
}

function curveLog(random: Random, pool: SimPool): RawLog {
  const { address, tokens } = pool
  const amounts = tokens.map(() => amountOf(random, pool))
  const roll = random.below(100)
  if (roll < 70) {
    const [sold, bought] = twoPlaces(random, tokens)
    const values = [BigInt(sold), amountOf(random, pool), BigInt(bought), amountOf(random, pool)]
    return rawLog(address, [random.pick(EXCHANGES), WHO], words(...values))
  }
  if (roll < 88) {
    // Most name as many amounts as the pool has coins.
    const topics = BY_COINS[random.chance(0.9) ? tokens.length - 2 : random.below(3)] ?? []
    return rawLog(address, [random.pick(topics), WHO], words(...amounts, 1n, 1n, 1n, 1n, 1n, 1n))
  }
  if (roll < 94) return rawLog(address, [random.pick(LISTED), WHO], words(32n, ...list(amounts)))
  const coin = BigInt(random.below(tokens.length + 1))
  const paid = amountOf(random, pool)
  return random.chance(0.5)
    ? rawLog(address, [REMOVED_ONE, WHO], words(coin, 5n, paid, 9n))
    : rawLog(address, [REMOVED_ONE_CRYPTO, WHO], words(5n, coin, paid, 9n, 1n))
}

function balancerV2Log(random: Random, pool: SimPool): RawLog {
  const { address, factory, tokens } = pool
  if (random.chance(0.75)) {
    const [sold, bought] = twoPlaces(random, tokens)
    // What is paid for the pool's own share joins it.
    const share = random.chance(0.1) ? random.below(2) : undefined
    const sides = [sold, bought].map((place, at) => (share === at ? address : (tokens[place] ?? address)))
    const data = words(amountOf(random, pool), amountOf(random, pool))
    return rawLog(factory, [BALANCER_V2.swap, vaultId(address), ...sides.map(padded)], data)
  }
  const sign = random.chance(0.6) ? 1n : -1n
  const amounts = tokens.map(() => sign * (amountOf(random, pool) % 2n ** 255n))
  const data = words(96n, BigInt(128 + 32 * tokens.length), 0n, ...list(tokens), ...list(amounts))
  return rawLog(factory, [BALANCER_V2.changed, vaultId(address), WHO], data)
}

function balancerV3Log(random: Random, pool: SimPool): RawLog {
  const { address, factory, tokens } = pool
  if (random.chance(0.7)) {
    const [sold, bought] = twoPlaces(random, tokens)
    const sides = [sold, bought].map((place) => padded(tokens[place] ?? address))
    const data = words(amountOf(random, pool), amountOf(random, pool), 10n ** 15n, 1n)
    return rawLog(factory, [BALANCER_V3.swap, padded(address), ...sides], data)
  }
  const topic = random.chance(0.6) ? BALANCER_V3.added : BALANCER_V3.removed
  const data = words(1n, 96n, 0n, ...list(tokens.map(() => amountOf(random, pool))))
  return rawLog(factory, [topic, padded(address), WHO, words(0n)], data)
}

/** Different ones; a coin too far, or sold for itself, at times. */
function twoPlaces(random: Random, tokens: readonly string[]): [number, number] {
  const sold = random.below(tokens.length)
  const other = (sold + random.between(1, tokens.length - 1)) % tokens.length
  return [sold, random.chance(0.9) ? other : random.below(tokens.length + 1)]
}

/** A pool's id in the vault begins with its address. */
function vaultId(address: string): string {
  return address.padEnd(66, '0')
}

function list<Item>(items: readonly Item[]): (Item | bigint)[] {
  return [BigInt(items.length), ...items]
}
