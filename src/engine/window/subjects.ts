import type { WindowsRef } from '../../domain/change.ts'
import type { Cursor, ReadRow, Row } from '../../state/cursor.ts'
import type { JournaledState, RecordCodec, Table } from '../../state/journaled-state.ts'
import { Key } from '../../state/key.ts'
import type { Rows } from '../../state/rows.ts'
import { NONE } from '../../state/slot-index.ts'
import { SUBJECT, SUBJECT_NUMBER } from './subject-row.ts'

export type Subject = Row<typeof SUBJECT.fields>
export type ReadSubject = ReadRow<typeof SUBJECT.fields>

const ONLY = 'only'
/** A pool can itself be a token: the kind keeps them apart. */
const PAIR = 0
const TOKEN = 1

const countCodec: RecordCodec<number> = { write: (w, count) => w.varuint(count), read: (r) => r.varuint() }

/** All windows there are, by the number a subject is given at its first trade. */
export class Subjects {
  readonly rows: Rows<typeof SUBJECT.fields>
  readonly #read: Cursor<typeof SUBJECT.fields>
  readonly #write: Cursor<typeof SUBJECT.fields>
  readonly #numbers: Rows<typeof SUBJECT_NUMBER.fields>
  readonly #number: Cursor<typeof SUBJECT_NUMBER.fields>
  readonly #count: Table<number>
  readonly #key = new Key()

  constructor(state: JournaledState, maxRows: number) {
    this.rows = state.rows('windows', SUBJECT, { key: ['u32'], maxRows })
    this.#read = this.rows.cursor()
    this.#write = this.rows.cursor()
    this.#numbers = state.rows('subject', SUBJECT_NUMBER, { key: ['u32', 'id'], maxRows: 2 * maxRows })
    this.#number = this.#numbers.cursor()
    this.#count = state.table('subjects', countCodec)
  }

  /** The number of a pair's. */
  ofPair(pair: string): number | undefined {
    return this.#find(this.#key.clear().u32(PAIR).id(pair))
  }

  /** Its own, or that of the pair it shares its windows with. */
  ofToken(token: string): number | undefined {
    return this.#find(this.#key.clear().u32(TOKEN).id(token))
  }

  /** With empty windows. */
  create({ pair, token }: WindowsRef): number {
    const number = this.#count.get(ONLY) ?? 0
    this.#count.put(ONLY, number + 1)
    const subject = this.edit(this.rows.create(this.#key.clear().u32(number)))
    subject.pair = pair
    subject.token = token
    if (pair !== undefined) this.#name(this.#key.clear().u32(PAIR).id(pair), number)
    if (token !== undefined) this.#name(this.#key.clear().u32(TOKEN).id(token), number)
    return number
  }

  /** A new one for the token, with all that the pair has until now. */
  part(shared: number, minute: number): number {
    const sharedSlot = this.slotOf(shared)
    const own = this.create({ pair: undefined, token: this.at(sharedSlot).token })
    const ownSlot = this.slotOf(own)
    this.rows.copy(sharedSlot, ownSlot)
    const subject = this.edit(ownSlot)
    subject.pair = undefined
    subject.partedFrom = shared
    subject.partedAt = minute
    const left = this.edit(sharedSlot)
    left.token = undefined
    left.ownOfToken = own
    return own
  }

  /** Where the windows of a subject stand. With the right hint there is nothing to look up. */
  slotOf(number: number, hint = NONE): number {
    const key = this.#key.clear().u32(number)
    if (this.rows.isAt(hint, key)) return hint
    const slot = this.rows.find(key)
    if (slot === NONE) throw new Error(`subject ${number} was traded, but has no windows`)
    return slot
  }

  at(slot: number): ReadSubject {
    return this.#read.at(slot)
  }

  edit(slot: number): Subject {
    return this.#write.edit(slot)
  }

  #find(key: Key): number | undefined {
    const slot = this.#numbers.find(key)
    return slot === NONE ? undefined : this.#number.at(slot).subject
  }

  #name(key: Key, number: number): void {
    this.#number.edit(this.#numbers.findOrCreate(key)).subject = number
  }
}
