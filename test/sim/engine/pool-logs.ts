import { sqrtPriceAtTick } from '../../../src/dex/evm/concentrated-liquidity.ts'
import type { RawLog } from '../../../src/domain/envelope.ts'
import type { Random } from '../../fuzz/random.ts'
import { words } from '../../support/abi-words.ts'
import { padded, rawLog } from '../../support/raw-log.ts'
import type { PoolKind, SimPool } from './sim-market.ts'

/** Written out once more: what pools of each kind say on a chain. */
const V2 = {
  created: '0x0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9',
  sync: '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1',
  swap: '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822',
}
const V3 = {
  created: '0x783cca1c0412dd0d695e784568c96da2e9c22ff989357a2e8b1d9b2b4e6b7118',
  initialize: '0x98636036cb66a9c19a37435efc1e90142190214e8abeb821bdba3f2990dd4c95',
  swap: '0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67',
  mint: '0x7a53080ba414158be7ec69b987b5fb7d07dee101fe85488f0853ae16239d0bde',
  burn: '0x0c396cd989a39f4459b5fa1aed6a9a8dcdbc45908acfd67e028cd568da98982c',
  collect: '0x70935338e69775456a85ddef226c395fb668b63fa0115f5f20610b388e6ca9c0',
  flash: '0xbdbdb71d7860376ba52b25a5028beea23581364a40522f6bcfb86bb1f2dca633',
}
const V4 = {
  initialize: '0xdd466e674ea557f56295e2d0218a125ea4b4f0f6f3307b95f85e6110838d6438',
  swap: '0x40e9cecb9f5f1f1c5b9c97dec2917b7ee92e57ba5563708daca94dd84ad7112f',
  modify: '0xf208f4912782fd25c7f114ca3723a2d5dd6f3bcc3ac8db5af63baa85f711d5ec',
  donate: '0x29ef05caaff9404b7cb6d1c0e9bbae9eaa7ab2541feba1a9c4248594c08156cb',
}
const CURVE = {
  exchange: '0x8b3e96f2b889fa771c53c981b40daf005f63f637f1869f707052d15a3dd97140',
  add: '0x423f6495a08fc652425cf4ed0d1f9e37e571d9b9529b1c1c23cce780b2e7df0d',
}
const WHO = padded('0x5e')
const WHOM = padded('0x4ec')
const TICK_RANGE = 60_000

/** A random log of this pool, or of its factory about it. */
export function randomLog(random: Random, pool: SimPool): RawLog {
  const log = LOGS[pool.kind](random, pool)
  if (random.chance(0.97)) return log
  // Logs are untrusted: one that is cut short says nothing.
  return { ...log, data: log.data.subarray(0, random.below(log.data.length)) }
}

/** The log with which the exchange tells of the pool; Curve has none. */
export function creationLog(random: Random, pool: SimPool): RawLog | undefined {
  const { address, factory, tokens, kind } = pool
  const [token0 = '', token1 = ''] = tokens
  const sides = [padded(token0), padded(token1)]
  switch (kind) {
    case 'v2':
      return rawLog(factory, [V2.created, ...sides], words(address, 1n))
    case 'v3':
      return rawLog(factory, [V3.created, ...sides, words(500n)], words(10n, address))
    case 'v4': {
      const { sqrtPrice, tick } = randomPrice(random)
      return rawLog(factory, [V4.initialize, address, ...sides], words(3_000n, 60n, '0x', sqrtPrice, tick))
    }
    case 'curve':
      return undefined
  }
}

const LOGS: Readonly<Record<PoolKind, (random: Random, pool: SimPool) => RawLog>> = {
  v2: v2Log,
  v3: v3Log,
  v4: v4Log,
  curve: curveLog,
}

function v2Log(random: Random, { address }: SimPool): RawLog {
  if (random.chance(0.5)) return rawLog(address, [V2.sync], words(amount(random), amount(random)))
  const [paid, got] = [amount(random), amount(random)]
  const flows = random.chance(0.5) ? [paid, 0n, 0n, got] : [0n, paid, got, 0n]
  // Paid back in kind, at times: no trade.
  if (random.chance(0.1)) flows.fill(paid)
  return rawLog(address, [V2.swap, WHO, WHOM], words(...flows))
}

function v3Log(random: Random, { address }: SimPool): RawLog {
  const range = [WHO, words(-BigInt(random.below(TICK_RANGE))), words(BigInt(random.below(TICK_RANGE)))]
  const both = [amount(random), amount(random)]
  const { sqrtPrice, tick } = randomPrice(random)
  const roll = random.below(100)
  if (roll < 50) {
    const [delta0, delta1] = deltas(random)
    return rawLog(address, [V3.swap, WHO, WHOM], words(delta0, delta1, sqrtPrice, 1_000n, tick))
  }
  if (roll < 70) return rawLog(address, [V3.mint, ...range], words(WHO, 1_000n, ...both))
  if (roll < 80) return rawLog(address, [V3.burn, ...range], words(1_000n, ...both))
  if (roll < 90) return rawLog(address, [V3.collect, ...range], words(WHOM, ...both))
  if (roll < 95) return rawLog(address, [V3.flash, WHO, WHOM], words(...both, ...both))
  return rawLog(address, [V3.initialize], words(sqrtPrice, tick))
}

/** One contract speaks for all pools, and names them by their ids. */
function v4Log(random: Random, { address, factory }: SimPool): RawLog {
  const roll = random.below(100)
  if (roll < 55) {
    const { sqrtPrice, tick } = randomPrice(random)
    const [delta0, delta1] = deltas(random)
    const fee = BigInt(random.pick([0, 500, 3_000, 1_000_000]))
    return rawLog(factory, [V4.swap, address, WHO], words(delta0, delta1, sqrtPrice, 1_000n, tick, fee))
  }
  if (roll < 90) {
    const [lower, upper] = [-BigInt(random.below(TICK_RANGE)), BigInt(1 + random.below(TICK_RANGE))]
    const liquidity = random.chance(0.7) ? amount(random) : -amount(random)
    return rawLog(factory, [V4.modify, address, WHO], words(lower, upper, liquidity, '0x'))
  }
  return rawLog(factory, [V4.donate, address, WHO], words(amount(random), amount(random)))
}

function curveLog(random: Random, { address, tokens }: SimPool): RawLog {
  if (random.chance(0.1)) {
    return rawLog(address, [CURVE.add, WHO], words(...Array.from({ length: 8 }, () => amount(random))))
  }
  const sold = random.below(tokens.length)
  // A coin too far, or sold for itself, at times.
  const bought = random.chance(0.9) ? (sold + 1) % tokens.length : random.below(tokens.length + 1)
  const told = [BigInt(sold), amount(random), BigInt(bought), amount(random)]
  return rawLog(address, [CURVE.exchange, WHO], words(...told))
}

function deltas(random: Random): [bigint, bigint] {
  const [paid, got] = [amount(random), -amount(random)]
  return random.chance(0.5) ? [paid, got] : [got, paid]
}

function randomPrice(random: Random): { sqrtPrice: bigint; tick: bigint } {
  const tick = random.between(-TICK_RANGE, TICK_RANGE)
  return { sqrtPrice: sqrtPriceAtTick(tick), tick: BigInt(tick) }
}

/** Few different values at times, so that pools come to be equally deep and undone values to come back. */
export function amount(random: Random): bigint {
  const roll = random.below(20)
  if (roll < 11) return BigInt(random.between(1, 999_999)) * 10n ** BigInt(random.between(9, 18))
  if (roll < 18) return random.pick([10n ** 6n, 10n ** 18n, 2n * 10n ** 18n, 10n ** 21n])
  return random.pick([0n, 1n, 7n, 2n ** 112n - 1n])
}
