import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  CHAIN,
  EVIL,
  EVIL_USDC,
  extremeSettings,
  floodBlock,
} from '../../test/support/builders/extreme-market.ts'
import { foldChangeSets } from '../../test/support/reference/change-tables.ts'
import { EngineRun } from '../../test/support/rigs/engine-run.ts'
import type { ChangeSet, Windows } from '../domain/change.ts'
import { decodeChangeSet, encodeChangeSet } from '../wire/change-codec.ts'

const DAY = 86_400

function windowsIn({ changes }: ChangeSet): Windows[] {
  return changes.flatMap((change) => (change.type === 'windows' ? [change.windows] : []))
}

test('a window whose sum exceeds its type is unknown, and right again once the trades have left', () => {
  const run = new EngineRun(extremeSettings())
  const flood = floodBlock(130)
  const [flooded] = windowsIn(run.apply(flood))
  assert.deepEqual([flooded?.pair, flooded?.token, flooded?.amountRaw], [EVIL_USDC, EVIL, undefined])
  assert.equal(flooded?.lengths.at(-1)?.buys, 130)
  const later = floodBlock(2, flood, DAY - 60)
  assert.equal(windowsIn(run.apply(later))[0]?.amountRaw, undefined)
  const next = floodBlock(1, later, 120)
  assert.equal(windowsIn(run.apply(next))[0]?.amountRaw, 3n * 2n ** 249n)
})

test('an undo brings a sum that did not fit back to what it was', () => {
  const run = new EngineRun(extremeSettings())
  const first = floodBlock(100)
  const before = windowsIn(run.apply(first))
  assert.equal(before[0]?.amountRaw, 100n * 2n ** 249n)
  assert.equal(windowsIn(run.apply(floodBlock(100, first)))[0]?.amountRaw, undefined)
  const lastValid = { number: first.number, hash: first.hash }
  const undone = run.apply({ kind: 'undo', chain: CHAIN, lastValid })
  assert.deepEqual(windowsIn(undone), before)
})

test('unknown values stay unknown through the log', () => {
  const run = new EngineRun(extremeSettings())
  const set = run.apply(floodBlock(130))
  assert.deepEqual(foldChangeSets([decodeChangeSet(encodeChangeSet(set))]), foldChangeSets([set]))
})
