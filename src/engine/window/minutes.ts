import type { Cursor, ReadRow, Row } from '../../state/cursor.ts'
import type { JournaledState } from '../../state/journaled-state.ts'
import { Key } from '../../state/key.ts'
import type { Rows } from '../../state/rows.ts'
import { NONE } from '../../state/slot-index.ts'
import { MINUTE, TRADED_MINUTE } from './minute-row.ts'

export type Minute = Row<typeof MINUTE.fields>
export type ReadMinute = ReadRow<typeof MINUTE.fields>

/** A day of minutes, and as many that are known to be without trades. */
const MAX_TRADED = 2_880

/** What was traded in every minute of the last day, by subject, and which subjects were. */
export class Minutes {
  readonly #rows: Rows<typeof MINUTE.fields>
  /** One to read and one to write: a minute that is being written is compared with others. */
  readonly #read: Cursor<typeof MINUTE.fields>
  readonly #write: Cursor<typeof MINUTE.fields>
  readonly #traded: Rows<typeof TRADED_MINUTE.fields>
  readonly #list: Cursor<typeof TRADED_MINUTE.fields>
  readonly #key = new Key()
  /** The slot that was looked up last: a minute is looked up several times in a row. */
  #recent = 0

  constructor(state: JournaledState, maxRows: number) {
    this.#rows = state.rows('minute', MINUTE, { key: ['u32', 'u32'], maxRows })
    this.#read = this.#rows.cursor()
    this.#write = this.#rows.cursor()
    this.#traded = state.rows('tradedMinute', TRADED_MINUTE, { key: ['u32'], maxRows: MAX_TRADED })
    this.#list = this.#traded.cursor()
  }

  at(subject: number, minute: number): ReadMinute {
    return this.#read.at(this.#slot(subject, minute))
  }

  edit(subject: number, minute: number): Minute {
    return this.#write.edit(this.#slot(subject, minute))
  }

  create(subject: number, minute: number): Minute {
    return this.#write.edit(this.#rows.create(this.#keyOf(subject, minute)))
  }

  /** The same for another subject, but for its place in the list. */
  copy(from: number, to: number, minute: number): void {
    const slot = this.#rows.create(this.#keyOf(to, minute))
    this.#rows.copy(this.#slot(from, minute), slot)
    this.#write.edit(slot).nextSubject = undefined
  }

  remove(subject: number, minute: number): void {
    this.#rows.remove(this.#slot(subject, minute))
  }

  /** Puts a subject at the end of the minute's list, which is the order in which they will leave. */
  list(subject: number, minute: number): void {
    const known = this.#traded.find(this.#key.clear().u32(minute))
    if (known === NONE) {
      const begun = this.#list.edit(this.#traded.create(this.#key))
      begun.firstSubject = subject
      begun.lastSubject = subject
      return
    }
    const list = this.#list.edit(known)
    this.edit(list.lastSubject, minute).nextSubject = subject
    list.lastSubject = subject
  }

  /** The first of the list; each one's row tells the next. */
  firstOf(minute: number): number | undefined {
    const slot = this.#traded.find(this.#key.clear().u32(minute))
    return slot === NONE ? undefined : this.#list.at(slot).firstSubject
  }

  /** How many lists of visits it has. */
  visitLists(minute: number): number {
    const slot = this.#traded.find(this.#key.clear().u32(minute))
    return slot === NONE ? 0 : this.#list.at(slot).visitLists
  }

  /** The place of one more list of visits to the minute's subjects. */
  nextVisitList(minute: number): number {
    const list = this.#list.edit(this.#traded.find(this.#key.clear().u32(minute)))
    return list.visitLists++
  }

  /** Nobody was traded in it any more. Tells how many lists of visits there were. */
  forget(minute: number): number {
    const slot = this.#traded.find(this.#key.clear().u32(minute))
    const { visitLists } = this.#list.at(slot)
    this.#traded.remove(slot)
    return visitLists
  }

  #slot(subject: number, minute: number): number {
    const key = this.#keyOf(subject, minute)
    if (this.#rows.isAt(this.#recent, key)) return this.#recent
    const slot = this.#rows.find(key)
    if (slot === NONE) throw new Error(`subject ${subject} was not traded in minute ${minute}`)
    this.#recent = slot
    return slot
  }

  /** The minute first: what leaves together stands together in the store. */
  #keyOf(subject: number, minute: number): Key {
    return this.#key.clear().u32(minute).u32(subject)
  }
}
