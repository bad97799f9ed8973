import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EVM_PROTOCOLS } from '../../src/dex/protocols.ts'
import { allTransactions, hasRecordings } from '../support/recorded/recorded-transactions.ts'
import { curve } from './second-opinion/curve.ts'
import {
  clanker,
  flap,
  fourMeme,
  fourMemeV1,
  virtuals,
  virtualsLaunchpad,
  zora,
} from './second-opinion/launch-platforms.ts'
import { traderJoeLb } from './second-opinion/liquidity-book.ts'
import type { Opinion } from './second-opinion/opinion.ts'
import { algebra, pancakeswapV3, slipstream, solidly, uniswapV2, uniswapV3 } from './second-opinion/pairs.ts'
import { balancerV2, balancerV3, infinityBin, infinityCl, uniswapV4 } from './second-opinion/vaults.ts'

const opinions: Readonly<Record<string, readonly Opinion[]>> = {
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
  virtuals_launchpad: virtualsLaunchpad,
  clanker,
  zora,
}

/** Why a log with the topic of a known event is none, and how many there are. */
const foreign: Readonly<Record<string, { count: number; why: string }>> = {
  '0x4c209b5fc8ad50758f13e2e1088ba56a560dff690a1c6fef26394f4c03821c4f': {
    count: 6,
    why: 'Mint(address, uint256, uint256) of lending markets and the like indexes nothing',
  },
  '0x0874b2d545cb271cdbda4e093020c452328b24af12382ed62c4d00f5c26709db': {
    count: 1,
    why: "the Swap of GMX's vault has the types of Balancer's and indexes nothing",
  },
}

/** Known, well-formed logs that yield no event, and how many there are. */
const leftOut: Readonly<Record<string, number>> = {
  "sold what is another pool's: pools report its amount differently": 3,
  'a position burned by nothing, to have its fees reckoned up': 9,
  'a position changed by nothing, to have its fees paid out': 294,
}

test('each protocol knows the events that are written out here, and no others', () => {
  assert.deepEqual(Object.keys(opinions).sort(), Object.keys(EVM_PROTOCOLS).sort())
  for (const [name, { announcements, events, tokenEvents = {} }] of Object.entries(EVM_PROTOCOLS)) {
    const known = [announcements, events, tokenEvents].flatMap((readers) => Object.keys(readers))
    const written = opinions[name]?.map(({ topic }) => topic)
    assert.deepEqual(known.toSorted(), written?.toSorted(), name)
  }
})

test('every log of a known event decodes as viem decodes it', { skip: !hasRecordings }, () => {
  // By log: several protocols have the same event, and each has to agree.
  const agreed = new Set<string>()
  const silent = new Map<string, Set<string>>()
  const readings: Record<string, number> = {}
  for (const { hash, logs } of allTransactions()) {
    for (const log of logs) {
      const topic = log.topics[0] ?? ''
      for (const [name, { announcements, events, tokenEvents }] of Object.entries(EVM_PROTOCOLS)) {
        const opinion = opinions[name]?.find((one) => one.topic === topic)
        if (opinion === undefined) continue
        const place = `log ${log.index} of ${hash}`
        const event = (announcements[topic] ?? events[topic] ?? tokenEvents?.[topic])?.(log)
        const expected = opinion.decode(log)
        if (typeof expected === 'object') {
          assert.deepEqual(event, expected, `${name}, ${place}`)
          agreed.add(place)
          readings[`${name} ${expected.type}`] = (readings[`${name} ${expected.type}`] ?? 0) + 1
          continue
        }
        assert.equal(event, undefined, `${name}, ${place}`)
        const why = expected ?? foreign[topic]?.why
        assert.ok(why !== undefined, `${name}, ${place}: neither decoded nor listed`)
        silent.set(why, (silent.get(why) ?? new Set()).add(place))
      }
    }
  }
  const listed = { ...leftOut }
  for (const { count, why } of Object.values(foreign)) listed[why] = count
  assert.deepEqual(Object.fromEntries([...silent].map(([why, places]) => [why, places.size])), listed)
  for (const [why, count] of Object.entries(listed)) console.log(`${count} logs without an event: ${why}`)
  assert.ok(agreed.size > 2_000, 'the fixtures hold logs of exchanges')
  console.log(`${agreed.size} logs agree; readings by protocol`, readings)
})
