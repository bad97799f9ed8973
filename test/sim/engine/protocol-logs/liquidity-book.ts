import type { RawLog } from '../../../../src/domain/envelope.ts'
import type { Random } from '../../../fuzz/random.ts'
import { packed, words } from '../../../support/builders/abi-words.ts'
import { padded, rawLog } from '../../../support/builders/raw-log.ts'
import { binPricing, halfOf, type PoolKind, randomBin, type SimPool, WHO, WHOM } from './pool-kind.ts'

const CREATED = '0x2c8d104b27c6b7f4492017a6f5cf3803043688934ebcaa6a03540beeaf976aff'
const SWAP = '0xad7d6f97abf51ce18e17a38f4d70e975be9c0708474987bb3e26ad21bd93ca70'
const DEPOSITED = '0x87f1f9dcf5e8089a3e00811b6a008d8f30293a3da878cb1fe8c90ca376402f8a'
const WITHDRAWN = '0xa32e146844d6144a22e94c586715a1317d58a8aa3581ec33d040113ddcb24350'
const COMPOSITION_FEES = '0x3f0b46725027bb418b2005f4683538eccdbcdf1de2b8649a29dbd9c507d16ff4'
const FLASH_LOAN = '0xd126bd9d94daca8e55ffd8283fac05394aec8326c6b1639e1e8a445fbe8bbc7d'
const COLLECTED = '0x3f41a5ddc53701cc7db577ade4f1fca9838a8ec0b5ea50b9f0f5d17bc4554e32'

export const traderJoeLb: PoolKind = {
  isCounted: true,
  pricing: binPricing,
  log: bookLog,
  created: (_random, { factory, address, tokens, pricing }) => {
    const binStep = BigInt(pricing.kind === 'bins' ? pricing.binStep : 0)
    return rawLog(factory, [CREATED, ...tokens.map(padded), words(binStep)], words(address, 1n))
  },
}

function bookLog(random: Random, pool: SimPool): RawLog {
  const { address } = pool
  const [first, second] = [halfOf(random, pool), halfOf(random, pool)]
  const both = packed(first, second)
  const bin = randomBin(random)
  const roll = random.below(100)
  if (roll < 55) {
    const isFirstIn = random.chance(0.5)
    const side = (amount: bigint, isFirst: boolean) => (isFirst ? packed(amount, 0n) : packed(0n, amount))
    const fees = [side(first / 300n, isFirstIn), side(first / 1_000n, isFirstIn)]
    const flows = [side(first, isFirstIn), side(second, !isFirstIn)]
    return rawLog(address, [SWAP, WHO, WHOM], words(bin, ...flows, 0n, ...fees))
  }
  const lists = words(64n, 128n, 1n, bin, 1n, both)
  if (roll < 72) return rawLog(address, [DEPOSITED, WHO, WHOM], lists)
  if (roll < 84) return rawLog(address, [WITHDRAWN, WHO, WHOM], lists)
  if (roll < 89) return rawLog(address, [COMPOSITION_FEES, WHO], words(bin, both, both))
  if (roll < 94) return rawLog(address, [FLASH_LOAN, WHO, WHOM], words(bin, both, both, both))
  return rawLog(address, [COLLECTED, WHO], words(both))
}
