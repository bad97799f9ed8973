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
  /** The slot that was looked up last: a subject is looked up several times in a row. */
  #recent = 0

  constructor(state: JournaledState, maxRows: number) {
    this.rows = state.rows('windows', SUBJECT, { key: ['u32'], maxRows })
    this.#read = this.rows.cursor()
    this.#write = this.rows.cursor()
    this.#numbers = state.rows('subject', SUBJECT_NUMBER, { key: ['u32', 'id'], maxRows: 2 * maxRows })
    this.#number = this.#numbers.cursor()
    this.#count = state.table('subjects', countCodec)
  }

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
    const subject = this.#write.edit(this.rows.create(this.#key.clear().u32(number)))
    subject.pair = pair
    subject.token = token
    if (pair !== undefined) this.#name(this.#key.clear().u32(PAIR).id(pair), number)
    if (token !== undefined) this.#name(this.#key.clear().u32(TOKEN).id(token), number)
    return number
  }

  /** A new one for the token, with all that the pair has until now. */
  part(shared: number, minute: number): number {
    const token = this.at(shared).token
    const own = this.create({ pair: undefined, token })
    this.rows.copy(this.#slot(shared), this.#slot(own))
    const subject = this.edit(own)
    subject.pair = undefined
    subject.partedFrom = shared
    subject.partedAt = minute
    const left = this.edit(shared)
    left.token = undefined
    left.ownOfToken = own
    return own
  }

  at(number: number): ReadSubject {
    return this.#read.at(this.#slot(number))
  }

  edit(number: number): Subject {
    return this.#write.edit(this.#slot(number))
  }

  #slot(number: number): number {
    const key = this.#key.clear().u32(number)
    if (this.rows.isAt(this.#recent, key)) return this.#recent
    const slot = this.rows.find(key)
    if (slot === NONE) throw new Error(`subject ${number} was traded, but has no windows`)
    this.#recent = slot
    return slot
  }

  #find(key: Key): number | undefined {
    const slot = this.#numbers.find(key)
    return slot === NONE ? undefined : this.#number.at(slot).subject
  }

  #name(key: Key, number: number): void {
    this.#number.edit(this.#numbers.findOrCreate(key)).subject = number
  }
}
