import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { ScriptCoverage } from '../../test/support/arbitraries/script-coverage.ts'
import {
  marketOf,
  marketScript,
  occurrences,
  settingsChanges,
  withSettings,
} from '../../test/support/builders/market-script.ts'
import { InterruptedFold } from '../../test/support/rigs/interrupted-fold.ts'

const RUNS = 250
/** Fixed, so that the coverage check below is no matter of luck. */
const SEED = 15

describe('random chains', () => {
  const coverage = new ScriptCoverage()

  test('give the same messages again, whatever is committed, restarted or abandoned', () => {
    fc.assert(
      fc.property(marketScript, (script) => {
        const market = marketOf(script)
        const fold = new InterruptedFold(market.settings)
        for (const occurrence of occurrences(market, script)) {
          coverage.seeOccurrence(market, occurrence)
          fold.meet(occurrence)
        }
        coverage.seeSets(fold.sets, fold.codes)
      }),
      { numRuns: RUNS, seed: SEED },
    )
  })

  test('with settings at any position give the same messages again', () => {
    fc.assert(
      fc.property(marketScript, settingsChanges, (script, changes) => {
        const market = marketOf(script)
        const fold = new InterruptedFold(market.settings)
        for (const each of withSettings(market, occurrences(market, script), changes)) fold.meet(each)
      }),
      { numRuns: 100, seed: SEED },
    )
  })

  test('meet every event, fact, change and error', () => {
    assert.deepEqual(coverage.missing(), [])
  })
})
