import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChainSettings, DexDeployment } from './chain-settings.ts'
import { MissingDexes } from './missing-dexes.ts'

const dex = (name: string, more: Partial<DexDeployment> = {}): DexDeployment => ({
  amm: name,
  protocol: 'uniswap_v2',
  factory: `0x${name}`,
  ...more,
})
const at = (sequence: number, ...dexes: DexDeployment[]) => {
  const settings: ChainSettings = { rules: 1, dexes, quoteAssets: [], minDepthUsd: 1n, lockers: [] }
  return { sequence, settings }
}
const namesAt = (missing: MissingDexes, sequence: number, block = sequence): string[] =>
  missing.at(sequence, block).map(({ amm }) => amm)

test('an exchange is missing before the settings that added it', () => {
  const missing = new MissingDexes([at(1, dex('a')), at(50, dex('a'), dex('b')), at(90, dex('c'), dex('b'))])
  assert.deepEqual(
    [...missing.all].map(([{ amm }, gap]) => [amm, gap]),
    [
      ['c', { after: 0, before: 90 }],
      ['b', { after: 0, before: 50 }],
    ],
  )
  assert.deepEqual(namesAt(missing, 49), ['c', 'b'])
  assert.deepEqual(namesAt(missing, 51), ['c'])
  assert.deepEqual(namesAt(missing, 91), [])
})

test('an exchange that was removed and added again is missing in between', () => {
  const missing = new MissingDexes([at(1, dex('a')), at(50), at(90, dex('a'))])
  assert.deepEqual([...missing.all.values()], [{ after: 50, before: 90 }])
  assert.deepEqual(
    [49, 51, 91].map((sequence) => namesAt(missing, sequence)),
    [[], ['a'], []],
  )
})

test('another name or order leaves nothing out; another range of blocks or code hash does', () => {
  const both = [dex('a'), dex('b')]
  assert.equal(new MissingDexes([at(1, ...both), at(9, dex('b'), dex('a', { amm: 'z' }))]).all.size, 0)
  const later = new MissingDexes([at(1, dex('a', { fromBlock: 20 })), at(90, dex('a', { fromBlock: 10 }))])
  assert.equal(later.all.size, 1)
  assert.deepEqual(
    [9, 10, 19, 20].map((block) => namesAt(later, 50, block)),
    [[], ['a'], ['a'], []],
  )
  assert.equal(new MissingDexes([at(1, dex('a')), at(9, dex('a', { initCodeHash: '0x01' }))]).all.size, 1)
})

test('blocks before the first settings count as read by them; without settings nothing is missing', () => {
  assert.equal(new MissingDexes([at(70, dex('a'))]).all.size, 0)
  assert.deepEqual(namesAt(new MissingDexes([at(70, dex('a')), at(80, dex('a'), dex('b'))]), 5), ['b'])
  assert.deepEqual(namesAt(new MissingDexes([]), 5), [])
})
