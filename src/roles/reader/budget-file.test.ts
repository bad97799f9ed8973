import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createTestCommon } from '../../../test/support/rigs/test-common.ts'
import { openBudgetFile } from './budget-file.ts'

const dir = mkdtempSync(join(tmpdir(), 'chaintape-budget-'))
after(() => rmSync(dir, { recursive: true, force: true }))
const { logger } = createTestCommon()

test('a restart continues the day', () => {
  const first = openBudgetFile(dir, { perDay: 10 }, logger)
  assert.equal(first.spentBefore('a'), undefined)
  first.onSpent('a', { day: 3, requests: 4 })
  first.onSpent('b', { day: 3, requests: 1 })
  first.close()
  const second = openBudgetFile(dir, { perDay: 10 }, logger)
  assert.deepEqual(second.spentBefore('a'), { day: 3, requests: 4 })
  assert.deepEqual(second.spentBefore('b'), { day: 3, requests: 1 })
})

test('a damaged file begins the day anew', () => {
  writeFileSync(join(dir, 'rpc-budget.json'), '{"a":{"day":3,"requests":"4"},"b":')
  assert.equal(openBudgetFile(dir, {}, logger).spentBefore('a'), undefined)
  writeFileSync(join(dir, 'rpc-budget.json'), '{"a":{"day":3,"requests":"4"},"b":{"day":1,"requests":2}}')
  const budget = openBudgetFile(dir, {}, logger)
  assert.equal(budget.spentBefore('a'), undefined)
  assert.deepEqual(budget.spentBefore('b'), { day: 1, requests: 2 })
})
