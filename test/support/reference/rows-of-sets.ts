import type { ChangeSet } from '../../../src/domain/change.ts'
import { rowsOf, type TableRows } from '../../../src/store/clickhouse/rows.ts'
import { type LatestChanges, latestChanges } from '../../../src/store/latest-changes.ts'
import { encodeChangeSet } from '../../../src/wire/change-codec.ts'
import { indexChangeSet } from '../../../src/wire/change-index.ts'

/** The latest changes of these sets, by way of their messages. */
export function latestOf(sets: readonly ChangeSet[]): LatestChanges {
  return latestChanges(sets.map((set) => indexChangeSet(encodeChangeSet(set))))
}

export function rowsOfSets(sets: readonly ChangeSet[]): TableRows[] {
  return rowsOf(latestOf(sets))
}
