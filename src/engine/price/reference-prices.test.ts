import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DexRegistry } from '../../dex/registry.ts'
import { JournaledState } from '../../domain/journaled-state.ts'
import { ONE_PRICE } from '../../domain/money.ts'
import { newPair, newToken } from '../first-records.ts'
import { openTables } from '../tables.ts'
import { ReferencePrices, UNKNOWN_WORTH } from './reference-prices.ts'

const STABLE = `0x${'01'.repeat(20)}`
const NATIVE = `0x${'02'.repeat(20)}`
/** Two dollars for a native coin, both without decimals. */
const TWO_DOLLARS = { raw0: 2n, raw1: 1n }

function reference(): ReferencePrices {
  const settings = {
    chain: 'local',
    registry: new DexRegistry([]),
    quoteAssets: [
      { address: STABLE, kind: 'stable' },
      { address: NATIVE, kind: 'native' },
    ] as const,
  }
  return new ReferencePrices(settings, openTables(new JournaledState({ get: () => undefined })))
}

function pairHolding(address: string, ...reserves: readonly bigint[]) {
  const empty = new Uint8Array()
  const texts = { nameRaw: empty, symbolRaw: empty, decimals: 0, supplyRaw: undefined }
  return newPair({
    address: address.padEnd(42, '0'),
    amm: 'any',
    tokens: [STABLE, NATIVE],
    reserves,
    targetToken: NATIVE,
    tokenOf: (token) => newToken({ type: 'token', address: token, ...texts }, UNKNOWN_WORTH, 1),
    time: 1,
  })
}

test('the pool with the most dollars says what the native coin is worth', () => {
  const prices = reference()
  prices.observe(pairHolding('0xa1', 10n, 1n), TWO_DOLLARS)
  prices.observe(pairHolding('0xa2', 11n, 0n), { raw0: 3n, raw1: 1n })
  assert.equal(prices.nativeUsd(), 3n * ONE_PRICE)
  prices.observe(pairHolding('0xa1', 12n, 0n), TWO_DOLLARS)
  assert.equal(prices.nativeUsd(), 2n * ONE_PRICE)
})

test('a pool without dollars does not, whatever its price', () => {
  const prices = reference()
  prices.observe(pairHolding('0xa1', 0n, 1_000n), TWO_DOLLARS)
  assert.equal(prices.nativeUsd(), undefined)
  prices.observe(pairHolding('0xa1', 1n, 1_000n), TWO_DOLLARS)
  assert.equal(prices.nativeUsd(), 2n * ONE_PRICE)
  prices.observe(pairHolding('0xa1', 0n, 1_001n), TWO_DOLLARS)
  assert.equal(prices.nativeUsd(), undefined)
})
