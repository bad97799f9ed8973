import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Decision, decide, type Outcome } from './endpoint-decision.ts'

type Row = readonly [endpoint: Decision['endpoint'], question: Decision['question']]
type Columns = {
  readonly plain: Row
  readonly late: Row
  readonly missed: Row
  readonly both: Row
}

/** The same reaction whether or not time is left, and another one where a block was missed. */
const steady = (plain: Row, missed: Row): Columns => ({ plain, late: plain, missed, both: missed })
const always = (row: Row): Columns => steady(row, row)

const TABLE: Readonly<Record<Outcome['kind'], Columns>> = {
  answered: steady(['credit', 'accept'], ['credit', 'hold']),
  reverted: steady(['credit', 'retry_elsewhere'], ['credit', 'hold']),
  refused: steady(['credit', 'retry_elsewhere'], ['credit', 'hold']),
  unknown_block: steady(['credit', 'retry_elsewhere'], ['credit', 'hold']),
  pruned: steady(['credit', 'retry_elsewhere'], ['credit', 'hold']),
  too_many_logs: steady(['credit', 'shrink'], ['credit', 'hold']),
  too_large: steady(['keep', 'shrink'], ['keep', 'hold']),
  unsupported: steady(['drop_method', 'retry_elsewhere'], ['drop_method', 'hold']),
  failed: steady(['back_off', 'retry_elsewhere'], ['back_off', 'hold']),
  timeout: steady(['back_off', 'retry_elsewhere'], ['back_off', 'hold']),
  rate_limited: {
    plain: ['limit_rate', 'wait'],
    late: ['limit_rate', 'retry_elsewhere'],
    missed: ['limit_rate', 'hold'],
    both: ['limit_rate', 'hold'],
  },
  invalid: steady(['blame', 'retry_elsewhere'], ['keep', 'hold']),
  outrun: always(['count_slow', 'fail']),
  canceled: always(['keep', 'fail']),
  unexpected: always(['keep', 'fail']),
}

for (const [kind, columns] of Object.entries(TABLE) as [Outcome['kind'], Columns][]) {
  test(`the reaction to ${kind}`, () => {
    const rowOf = (flags: Omit<Outcome, 'kind'>): Row => {
      const { endpoint, question } = decide({ kind, ...flags })
      return [endpoint, question]
    }
    assert.deepEqual(
      {
        plain: rowOf({}),
        late: rowOf({ isLate: true }),
        missed: rowOf({ hasMissedBlock: true }),
        both: rowOf({ hasMissedBlock: true, isLate: true }),
      },
      columns,
    )
  })
}
