import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { ScriptCoverage } from '../../test/support/arbitraries/script-coverage.ts'
import { marketOf, marketScript, occurrences } from '../../test/support/builders/market-script.ts'
import { PairedFold } from '../../test/support/reference/paired-fold.ts'

const RUNS = Number(process.env['CHAINTAPE_ORACLE_RUNS'] ?? 250)
/** For the runs and, where one fails, for the search of a shorter script that fails as well. */
const LIMIT_MS = 100_000 + RUNS * 700
/** Fixed, so that the coverage check below is no matter of luck. */
const SEED = Number(process.env['CHAINTAPE_ORACLE_SEED'] ?? 15)

describe('the engine and the oracle', () => {
  const coverage = new ScriptCoverage()

  test(`publish the same sets, whatever is committed, restarted or abandoned (${RUNS} runs)`, {
    timeout: LIMIT_MS + 60_000,
  }, () => {
    fc.assert(
      fc.property(marketScript, (script) => {
        const market = marketOf(script)
        const folds = new PairedFold(market.settings)
        for (const occurrence of occurrences(market, script)) {
          coverage.seeOccurrence(market, occurrence)
          if (occurrence.type === 'message') folds.take(occurrence)
          else folds.interrupt(occurrence.how)
        }
        folds.compareExplanations(market.tokens)
        coverage.seeSets(folds.sets, folds.codes)
      }),
      { numRuns: RUNS, seed: SEED, interruptAfterTimeLimit: LIMIT_MS, markInterruptAsFailure: true },
    )
  })

  test('meet every event, fact, change and error', () => {
    assert.deepEqual(coverage.missing(), [])
  })
})
