import type { RawLog } from '../../../../src/domain/envelope.ts'
import type { Random } from '../../../fuzz/random.ts'
import { hashOf, words } from '../../../support/builders/abi-words.ts'
import { padded, rawLog } from '../../../support/builders/raw-log.ts'
import { amountOf, type PoolKind, type SimPool, tradesPricing, WHOM } from './pool-kind.ts'

const STOP = '0x8f9ab4bd7eff0d085f91575d50cd83f97aa5258e24ded7630d4fd6739e857132'
const FOUR = {
  create: '0x396d5e902b675b032348d3d2e9517ee8f0c4a926603fbc075d3d282ff00cad20',
  buy: '0x7db52723a3b2cdd6164364b3b766e65e540d7be48ffa89582956d8eaebe62942',
  sell: '0x0a5575b3648bae2210cee56bf33254cc1ddfbc7bf637c0af2ac18b14fb1bae19',
  added: '0xc18aa71171b358b706fe3dd345299685ba21a5316c66ffa9e319268b033c44b0',
}
const FOUR_V1 = {
  trades: [
    '0x623b3804fa71d67900d064613da8f94b9617215ee90799290593e1745087ad18',
    '0x3aa3f154f6bf5e3490d1a7205aa8d1412e76d26f9d186830de86fb9309224040',
  ],
  tradesWithFee: [
    '0x00fe0e12b43090c1fc19a34aefa5cc138a4eeafc60ab800f855c730b3fb9480e',
    '0x80d4e495cda89b31af98c8e977ff11f417bafcee26902a17a15be51830c47533',
  ],
}
const FLAP = {
  create: '0x504e7f360b2e5fe33cbaaae4c593bc55305328341bf79009e43e0e3b7f699603',
  buy: '0xa800a2038683844fac66747f771bfdfae862eb28b16bcfa387afa9fbacce8ff7',
  sell: '0x03a4693e592f5e75dc7c136acb39b146d2b4966c0e509c34f362dee02b3b861a',
  progress: '0x4c35e20d1e9bce377c7d9ec1572d934e46d62961f4da8af5beb8002d5906742d',
  launched: '0x6e4f47630b8745b8cacbd44f42a8a33e7eea7cc08ef22fc7630f4f385784ff7d',
}
const VIRTUALS = {
  create: '0x0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9',
  swap: '0x298c349c742327269dc8de6ad66687767310c948ea309df826f5bd103e19d207',
  mint: '0xcc9c58b575eabd3f6a1ee653e91fcea3ff546867ffc3782a3bbca1f9b6dbb8df',
  graduated: '0x381d54fa425631e6266af114239150fae1d5db67bb65b4fa9ecc65013107e07e',
  drained: '0x6780d7960d1ee98bd98b0fe1eae47483ed1f37ec80e9cd2b69d812ba64f19b99',
}
/** Reports what happens to all curves of Virtuals. */
export const VIRTUALS_LAUNCHPAD = '0x000000000000000000000000000000000000f300'
const LETTER = `0x41${'00'.repeat(31)}`

/** A curve's id is the hash of its platform and of the token it sells. */
const launched = {
  hasNative: true,
  isCurve: true,
  pricing: tradesPricing,
  idOf: (manager: string, [token = '']: readonly string[]) => hashOf(manager, token),
}

export const fourMeme: PoolKind = { ...launched, log: fourLog, created: fourCreated }

export const fourMemeV1: PoolKind = { ...launched, log: fourV1Log, created: fourCreated }

export const flap: PoolKind = {
  ...launched,
  isCounted: true,
  log: flapLog,
  created: (_random, { factory, tokens: [token = ''] }) => {
    const texts = [1n, LETTER, 1n, LETTER]
    return rawLog(factory, [FLAP.create], words(1n, WHOM, 1n, token, 224n, 288n, 288n, ...texts))
  },
}

/** Its curves have contracts of their own. */
export const virtuals: PoolKind = {
  isCurve: true,
  isCounted: true,
  pricing: tradesPricing,
  log: virtualsLog,
  created: (_random, { factory, address, tokens: [token = '', quote = ''] }) =>
    rawLog(factory, [VIRTUALS.create, padded(token), padded(quote)], words(address, 1n)),
}

function fourCreated(_random: Random, { factory, tokens: [token = ''] }: SimPool): RawLog {
  const data = words(WHOM, token, 1n, 256n, 320n, 10n ** 27n, 0n, 0n, 1n, LETTER, 1n, LETTER)
  return rawLog(factory, [FOUR.create], data)
}

function fourLog(random: Random, pool: SimPool): RawLog {
  const {
    factory,
    tokens: [token = '', quote = ''],
  } = pool
  const roll = random.below(100)
  if (roll < 90) {
    const [amount, cost] = [amountOf(random, pool), amountOf(random, pool)]
    const left = [amountOf(random, pool), amountOf(random, pool)]
    const topic = random.chance(0.6) ? FOUR.buy : FOUR.sell
    return rawLog(factory, [topic], words(token, WHOM, 1n, amount, cost, cost / 100n, ...left))
  }
  if (roll < 95) return rawLog(factory, [STOP], words(token))
  return rawLog(factory, [FOUR.added], words(token, amountOf(random, pool), quote, amountOf(random, pool)))
}

function fourV1Log(random: Random, pool: SimPool): RawLog {
  const {
    factory,
    tokens: [token = ''],
  } = pool
  if (random.chance(0.05)) return rawLog(factory, [STOP], words(token))
  const moved = [amountOf(random, pool), amountOf(random, pool)]
  if (random.chance(0.5)) return rawLog(factory, [random.pick(FOUR_V1.trades)], words(token, WHOM, ...moved))
  return rawLog(factory, [random.pick(FOUR_V1.tradesWithFee)], words(token, WHOM, ...moved, 1n))
}

function flapLog(random: Random, pool: SimPool): RawLog {
  const {
    factory,
    tokens: [token = ''],
  } = pool
  const roll = random.below(100)
  if (roll < 85) {
    const [amount, paid] = [amountOf(random, pool), amountOf(random, pool)]
    const topic = random.chance(0.6) ? FLAP.buy : FLAP.sell
    return rawLog(factory, [topic], words(1n, token, WHOM, amount, paid, paid / 100n, 1n))
  }
  if (roll < 95)
    return rawLog(factory, [FLAP.progress], words(token, BigInt(random.between(0, 100)) * 10n ** 16n))
  return rawLog(factory, [FLAP.launched], words(token, WHOM, 1n, 1n))
}

function virtualsLog(random: Random, pool: SimPool): RawLog {
  const {
    address,
    tokens: [token = '', quote = ''],
  } = pool
  const [amount, paid] = [amountOf(random, pool), amountOf(random, pool)]
  const roll = random.below(100)
  if (roll < 50) return rawLog(address, [VIRTUALS.swap], words(0n, amount, paid, 0n))
  if (roll < 80) return rawLog(address, [VIRTUALS.swap], words(amount, 0n, 0n, paid))
  if (roll < 88) return rawLog(address, [VIRTUALS.mint], words(amount, paid))
  if (roll < 92)
    return rawLog(VIRTUALS_LAUNCHPAD, [VIRTUALS.drained, padded(token), padded(quote)], words(amount, paid))
  const agent = random.chance(0.8) ? token : quote
  return rawLog(VIRTUALS_LAUNCHPAD, [VIRTUALS.graduated, padded(token)], words(agent))
}
