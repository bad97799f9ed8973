import type { Cursor, ReadRow, Row } from '../../state/cursor.ts'
import type { JournaledState } from '../../state/journaled-state.ts'
import { Key } from '../../state/key.ts'
import type { Rows } from '../../state/rows.ts'
import { NONE } from '../../state/slot-index.ts'
import { MINUTE, TRADED_MINUTE } from './minute-row.ts'

export type Minute = Row<typeof MINUTE.fields>
export type ReadMinute = ReadRow<typeof MINUTE.fields>

/** A subject traded in a minute, and the slot of that minute's row. */
export type Listed = { readonly subject: number; readonly slot: number }
/** The same, with the minute and the slot of the subject's windows. */
export type SubjectMinute = Listed & { readonly minute: number; readonly subjectSlot: number }

/** A day of minutes, and as many that are known to have no trades. */
const MAX_TRADED = 2_880

/** Trades of the last day by minute and subject, and the list of traded subjects per minute. */
export class Minutes {
  readonly #rows: Rows<typeof MINUTE.fields>
  /** One cursor to read and one to write, because a minute that is being written is compared with others. */
  readonly #read: Cursor<typeof MINUTE.fields>
  readonly #write: Cursor<typeof MINUTE.fields>
  readonly #traded: Rows<typeof TRADED_MINUTE.fields>
  readonly #list: Cursor<typeof TRADED_MINUTE.fields>
  readonly #key = new Key()

  constructor(state: JournaledState, maxRows: number) {
    this.#rows = state.rows('minute', MINUTE, { key: ['u32', 'u32'], maxRows })
    this.#read = this.#rows.cursor()
    this.#write = this.#rows.cursor()
    this.#traded = state.rows('tradedMinute', TRADED_MINUTE, { key: ['u32'], maxRows: MAX_TRADED })
    this.#list = this.#traded.cursor()
  }

  /** The slot of a subject's minute. A correct hint saves the lookup. */
  slotOf(subject: number, minute: number, hint = NONE): number {
    const slot = this.find(subject, minute, hint)
    if (slot === NONE) throw new Error(`subject ${subject} was not traded in minute ${minute}`)
    return slot
  }

  /** The slot of a subject's minute; NONE if the subject was not traded in it. */
  find(subject: number, minute: number, hint = NONE): number {
    const key = this.#keyOf(subject, minute)
    return this.#rows.isAt(hint, key) ? hint : this.#rows.find(key)
  }

  /** The slot of a minute before the one in `from`, usually the previous one. */
  slotBefore(subject: number, from: number, minute: number): number {
    return this.slotOf(subject, minute, this.at(from).earlierSlot)
  }

  at(slot: number): ReadMinute {
    return this.#read.at(slot)
  }

  edit(slot: number): Minute {
    return this.#write.edit(slot)
  }

  create(subject: number, minute: number): number {
    return this.#rows.create(this.#keyOf(subject, minute))
  }

  /** Copies the row for another subject, except for its place in the list. */
  copy(from: number, to: number, minute: number): void {
    const slot = this.create(to, minute)
    this.#rows.copy(from, slot)
    this.#write.edit(slot).nextSubject = undefined
  }

  remove(slot: number): void {
    this.#rows.remove(slot)
  }

  /** Appends a subject to the minute's list, which is the order in which subjects expire. */
  list({ subject, minute, slot }: SubjectMinute): void {
    const known = this.#traded.find(this.#key.clear().u32(minute))
    if (known === NONE) {
      const begun = this.#list.edit(this.#traded.create(this.#key))
      begun.firstSubject = subject
      begun.firstSlot = slot
      begun.lastSubject = subject
      begun.lastSlot = slot
      return
    }
    const list = this.#list.edit(known)
    const last = this.edit(this.slotOf(list.lastSubject, minute, list.lastSlot))
    last.nextSubject = subject
    last.nextSlot = slot
    list.lastSubject = subject
    list.lastSlot = slot
  }

  /** The first entry of the list; undefined if nothing was traded. */
  first(minute: number): Listed | undefined {
    const slot = this.#traded.find(this.#key.clear().u32(minute))
    if (slot === NONE) return undefined
    const { firstSubject, firstSlot } = this.#list.at(slot)
    return { subject: firstSubject, slot: this.slotOf(firstSubject, minute, firstSlot) }
  }

  /** The next entry of the list. */
  next({ slot }: Listed, minute: number): Listed | undefined {
    const { nextSubject, nextSlot } = this.at(slot)
    return nextSubject === undefined
      ? undefined
      : { subject: nextSubject, slot: this.slotOf(nextSubject, minute, nextSlot) }
  }

  /** The number of visit lists of a minute. */
  visitLists(minute: number): number {
    const slot = this.#traded.find(this.#key.clear().u32(minute))
    return slot === NONE ? 0 : this.#list.at(slot).visitLists
  }

  /** The index of a new visit list of the minute. */
  nextVisitList(minute: number): number {
    const list = this.#list.edit(this.#traded.find(this.#key.clear().u32(minute)))
    return list.visitLists++
  }

  /** Drops a minute that no window contains any more, and returns its number of visit lists. */
  forget(minute: number): number {
    const slot = this.#traded.find(this.#key.clear().u32(minute))
    const { visitLists } = this.#list.at(slot)
    this.#traded.remove(slot)
    return visitLists
  }

  /** The minute comes first, so that rows which expire together are adjacent in the store. */
  #keyOf(subject: number, minute: number): Key {
    return this.#key.clear().u32(minute).u32(subject)
  }
}
