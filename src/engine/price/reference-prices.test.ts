import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { NOTHING_COMMITTED } from '../../../test/support/rigs/memory-state.ts'
import { DexRegistry } from '../../dex/registry.ts'
import { ONE_PRICE, pow10, VALUE_DIGITS } from '../../domain/money.ts'
import { JournaledState } from '../../state/journaled-state.ts'
import { NONE } from '../../state/slot-index.ts'
import { newPair, newToken } from '../first-records.ts'
import type { EngineSettings } from '../settings.ts'
import { openTables } from '../tables.ts'
import { noteAnchor } from './anchors.ts'
import { ReferencePrices } from './reference-prices.ts'
import { UNKNOWN_WORTH } from './worth.ts'

const STABLE = `0x${'01'.repeat(20)}`
const OTHER_STABLE = `0x${'03'.repeat(20)}`
const NATIVE = `0x${'02'.repeat(20)}`

const settings: EngineSettings = {
  chain: 'local',
  registry: new DexRegistry([]),
  quoteAssets: [
    { address: STABLE, kind: 'stable' },
    { address: OTHER_STABLE, kind: 'stable' },
    { address: NATIVE, kind: 'native' },
  ],
  minDepthUsd: 1_000n * pow10(VALUE_DIGITS),
  lockers: new Set(),
}

/** Stablecoin pools, each of so many dollars, asking so many of them for a native coin; nothing has decimals. */
class Pools {
  readonly #tables = openTables(new JournaledState(NOTHING_COMMITTED))

  note(name: string, dollars: bigint, price: bigint, stable = STABLE): this {
    const empty = new Uint8Array()
    const texts = { nameRaw: empty, symbolRaw: empty, decimals: 0, supplyRaw: undefined }
    const pair = {
      ...newPair({
        address: `0x${name}`,
        amm: 'any',
        tokens: [stable, NATIVE],
        reserves: [dollars, 1n],
        targetToken: NATIVE,
        tokenOf: (token) => newToken({ type: 'token', address: token, ...texts }, UNKNOWN_WORTH, 1),
        time: 1,
      }),
      askedSlot: NONE,
    }
    const ratio = price === 0n ? undefined : { raw0: price, raw1: 1n }
    this.#tables.prices.setCounted(pair, ratio)
    noteAnchor(pair, this.prices(), settings, this.#tables)
    return this
  }

  prices(): ReferencePrices {
    return new ReferencePrices(settings, this.#tables)
  }

  nativeUsd(): bigint | undefined {
    const { nativeUsd } = this.prices()
    return nativeUsd === undefined ? undefined : nativeUsd / ONE_PRICE
  }
}

describe('the native coin', () => {
  test('is priced by the median, weighted by liquidity', () => {
    const pools = new Pools()
      .note('a1', 10_000n, 2_000n)
      .note('a2', 9_000n, 2_010n)
      .note('a3', 8_000n, 9_999n)
    assert.equal(pools.nativeUsd(), 2_010n)
    assert.equal(pools.note('a3', 100_000n, 9_999n).nativeUsd(), 9_999n, 'more than all the others together')
    assert.equal(pools.note('a3', 0n, 9_999n).nativeUsd(), 2_000n, 'a pool that was emptied is forgotten')
  })

  test('is not priced by a pool that is too shallow, or asks nothing', () => {
    const pools = new Pools().note('a1', 999n, 5n)
    assert.equal(pools.nativeUsd(), undefined)
    assert.equal(pools.note('a1', 1_000n, 5n).nativeUsd(), 5n)
    assert.equal(pools.note('a1', 1_000n, 0n).nativeUsd(), undefined)
  })
})

describe('a stablecoin', () => {
  test('is a dollar if no pool prices it, or its pools deviate little', () => {
    assert.equal(new Pools().prices().worthOf(STABLE).usd, ONE_PRICE)
    const pools = new Pools().note('a1', 10_000n, 2_000n).note('a2', 5_000n, 2_030n, OTHER_STABLE)
    assert.equal(pools.prices().worthOf(OTHER_STABLE).usd, ONE_PRICE)
  })

  test('that lost its peg is worth what the others make of it', () => {
    const pools = new Pools().note('a1', 10_000n, 2_000n).note('a2', 5_000n, 2_500n, OTHER_STABLE)
    const { usd } = pools.prices().worthOf(OTHER_STABLE)
    assert.equal(usd, (ONE_PRICE * 8n) / 10n)
    assert.equal(pools.prices().worthOf(STABLE).usd, ONE_PRICE)
    assert.equal(pools.nativeUsd(), 2_000n)
  })
})
