import type { RawLog } from '../../../../src/domain/envelope.ts'
import type { Random } from '../../../fuzz/random.ts'
import { words } from '../../../support/builders/abi-words.ts'
import { padded, rawLog } from '../../../support/builders/raw-log.ts'
import { amountOf, type PoolKind, type SimPool, WHO, WHOM } from './pool-kind.ts'

type Topics = {
  readonly sync: string
  readonly swap: readonly string[]
  readonly mint: string
  readonly burn: readonly string[]
  readonly claim?: string
}

const SWAP_V2 = '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822'
const BURN_V2 = '0xdccd412f0b1252819cb1fd330b93224ca42612892bb3f4f789976e6d81936496'
const MINT = '0x4c209b5fc8ad50758f13e2e1088ba56a560dff690a1c6fef26394f4c03821c4f'
const V2: Topics = {
  sync: '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1',
  swap: [SWAP_V2],
  mint: MINT,
  burn: [BURN_V2],
}
const SOLIDLY: Topics = {
  sync: '0xcf2aa50876cdfbb541206f89af0ee78d44a2abf8d328e37fa4917f982149848a',
  swap: ['0xb3e2773606abfd36b5bd91394b3a54d1398336c65005baf7bf7a05efeffaf75b', SWAP_V2],
  mint: MINT,
  burn: ['0x5d624aa9c148153ab3446c1b154f660ee7701e549fe9b62dab7171b1c80e6fa2', BURN_V2],
  claim: '0x865ca08d59f5cb456e85cd2f7ef63664ea4f73327414e9d8152c4158b0e94645',
}
const V2_CREATED = '0x0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9'
const SOLIDLY_CREATED = '0x2128d88d14c80cb081c1252a5acff7a264671bf199ce226b53788fb26065005e'
const SOLIDLY_CREATED_V1 = '0xc4805696c66d7cf352fc1d6bb633ad5ee82f6cb577c453024b6e0eb8306c6fc9'

export const uniswapV2: PoolKind = {
  pricing: () => ({ kind: 'reserves' }),
  log: (random, pool) => pairLog(random, pool, V2),
  created: (_random, { factory, address, tokens }) => {
    return rawLog(factory, [V2_CREATED, ...tokens.map(padded)], words(address, 1n))
  },
}

export const solidly: PoolKind = {
  pricing: (random) => ({ kind: random.pick(['reserves', 'trades']) }),
  log: (random, pool) => pairLog(random, pool, SOLIDLY),
  created: (random, { factory, address, tokens, pricing }) => {
    const isStable = pricing.kind === 'trades' ? 1n : 0n
    const sides = tokens.map(padded)
    return random.chance(0.5)
      ? rawLog(factory, [SOLIDLY_CREATED, ...sides, words(isStable)], words(address, 1n))
      : rawLog(factory, [SOLIDLY_CREATED_V1, ...sides], words(isStable, address, 1n))
  },
}

function pairLog(random: Random, pool: SimPool, topics: Topics): RawLog {
  const { address } = pool
  const both = [amountOf(random, pool), amountOf(random, pool)] as const
  const roll = random.below(100)
  if (roll < 45) return rawLog(address, [topics.sync], words(...both))
  if (roll < 84) {
    const [paid, got] = both
    const flows = random.chance(0.5) ? [paid, 0n, 0n, got] : [0n, paid, got, 0n]
    // Paid back in kind, at times: no trade.
    if (random.chance(0.1)) flows.fill(paid)
    return rawLog(address, [random.pick(topics.swap), WHO, WHOM], words(...flows))
  }
  if (roll < 91) return rawLog(address, [topics.mint, WHO], words(...both))
  if (roll < 96 || topics.claim === undefined)
    return rawLog(address, [random.pick(topics.burn), WHO, WHOM], words(...both))
  return rawLog(address, [topics.claim, WHO, WHOM], words(...both))
}
