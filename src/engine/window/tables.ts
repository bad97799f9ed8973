import type { JournaledState, Table } from '../../state/journaled-state.ts'
import { Minutes } from './minutes.ts'
import { Subjects } from './subjects.ts'
import { Visits } from './visits.ts'

export type WindowTables = {
  readonly subjects: Subjects
  readonly minutes: Minutes
  readonly visits: Visits
  /** The current minute of the chain. */
  readonly openMinute: Table<number>
  /** Present after an old block: all windows are empty. */
  readonly emptied: Table<boolean>
}

/** Rows cached in memory; others are read from the store when needed. */
const MAX_ROWS = { subjects: 65_536, minutes: 262_144 }

export function openWindowTables(state: JournaledState, maxRows = MAX_ROWS): WindowTables {
  const subjects = new Subjects(state, maxRows.subjects)
  const minutes = new Minutes(state, maxRows.minutes)
  return {
    subjects,
    minutes,
    visits: new Visits(state, subjects, minutes),
    openMinute: state.table('openMinute', {
      write: (w, minute) => w.varuint(minute),
      read: (r) => r.varuint(),
    }),
    emptied: state.table('windowsEmptied', { write: (w) => w.bool(true), read: (r) => r.bool() }),
  }
}
