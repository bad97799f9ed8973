import type { JournaledState, Table } from '../../state/journaled-state.ts'
import { Minutes } from './minutes.ts'
import { Subjects } from './subjects.ts'
import { Visits } from './visits.ts'

export type WindowTables = {
  readonly subjects: Subjects
  readonly minutes: Minutes
  readonly visits: Visits
  /** The minute the chain has reached. */
  readonly openMinute: Table<number>
  /** Present after an old block: there is nothing in any window. */
  readonly emptied: Table<boolean>
}

/** So many rows stay in memory; what is not used for a while is read from the store when it is needed again. */
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
