import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  ETH_POOL,
  type ExampleMarket,
  eth,
  ethAt,
  sync,
  usd,
  value,
  WETH,
  world,
} from '../../../test/support/builders/example-market.ts'
import { FIRST_RULES } from '../../domain/chain-settings.ts'
import { ZERO_ADDRESS } from '../../domain/known-addresses.ts'

const ANN = `0x${'b1'.padStart(40, '0')}`
const stated = (coins: bigint | undefined) => ({
  native: { address: WETH, supplyRaw: coins === undefined ? undefined : eth(coins) },
})

/** Supply in coins, FDV and market cap. */
function shown(example: ExampleMarket): unknown[] {
  const { supplyRaw, fdvUsd, marketCapUsd } = example.token(WETH)
  return [supplyRaw === undefined ? undefined : supplyRaw / eth(1n), value(fdvUsd), value(marketCapUsd)]
}

const UNKNOWN = [undefined, undefined, undefined]

describe('the supply of the native coin', () => {
  test('is unknown unless the settings state it', () => {
    assert.deepEqual(shown(ethAt(2_000n)), UNKNOWN)
  })

  test('counts as circulating, from the first block that is folded by the settings on', () => {
    const example = ethAt(2_000n).settings(stated(120n))
    assert.deepEqual(shown(example), UNKNOWN)
    assert.deepEqual(shown(example.block(12)), [120n, '240000', '240000'])
    example.block(12, sync(ETH_POOL, usd(3_000_000n), eth(1_000n)))
    assert.deepEqual(shown(example), [120n, '360000', '360000'])
    const pair = example.pair(ETH_POOL)
    assert.deepEqual([pair.targetToken, value(pair.fdvUsd)], [WETH, '360000'])
  })

  test('is known in the block that mentions the coin first', () => {
    const example = ethAt(2_000n).undo().settings(stated(120n))
    example.block(12, sync(ETH_POOL, usd(2_000_000n), eth(1_000n)))
    assert.deepEqual(shown(example), [120n, '240000', '240000'])
  })

  test('follows the settings, also when they no longer state it', () => {
    const example = ethAt(2_000n).settings(stated(120n)).block(12)
    assert.deepEqual(shown(example.settings(stated(130n)).block(12)), [130n, '260000', '260000'])
    assert.deepEqual(shown(example.settings(stated(undefined)).block(12)), UNKNOWN)
  })

  test('is undone with the block, and set again by the block that replaces it', () => {
    const example = ethAt(2_000n).settings(stated(120n)).block(12).undo()
    assert.deepEqual(shown(example), UNKNOWN)
    assert.deepEqual(shown(example.block(13)), [120n, '240000', '240000'])
  })

  test('does not change when coins are wrapped', () => {
    const of = world.tokens.findIndex(({ address }) => address === WETH)
    const move = { from: ZERO_ADDRESS, to: ANN, amount: eth(7n) }
    const example = ethAt(2_000n).settings(stated(120n)).block(12)
    example.block(12, { do: 'move', of, form: 'plain', move, newTx: true })
    assert.deepEqual(shown(example), [120n, '240000', '240000'])
  })

  test('has no value beyond the limit of values', () => {
    const example = ethAt(2_000n).settings({ native: { address: WETH, supplyRaw: 2n ** 256n - 1n } })
    assert.deepEqual(shown(example.block(12)).slice(1), [undefined, undefined])
  })

  test('is no part of the first rules', () => {
    assert.throws(() => ethAt(2_000n).settings({ ...stated(120n), rules: FIRST_RULES }), RangeError)
  })
})
