import type { WindowsRef } from '../../domain/change.ts'
import type { Cursor, ReadRow, Row } from '../../state/cursor.ts'
import type { JournaledState, Table } from '../../state/journaled-state.ts'
import { Key } from '../../state/key.ts'
import type { Rows } from '../../state/rows.ts'
import { NONE } from '../../state/slot-index.ts'
import { varuint } from '../../wire/codec.ts'
import { SUBJECT, SUBJECT_NUMBER } from './subject-row.ts'

export type Subject = Row<typeof SUBJECT.fields>
export type ReadSubject = ReadRow<typeof SUBJECT.fields>

const ONLY = 'only'
/** A pool can itself be a token, so the kind is part of the key. */
const PAIR = 0
const TOKEN = 1

/** All windows by subject number, which is assigned at the first trade. */
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
    this.#count = state.table('subjects', varuint)
  }

  /** The subject of a pair. */
  ofPair(pair: string): number | undefined {
    return this.#find(this.#key.clear().u32(PAIR).id(pair))
  }

  /** The token's own subject, or the one it shares with its pair. */
  ofToken(token: string): number | undefined {
    return this.#find(this.#key.clear().u32(TOKEN).id(token))
  }

  /** Creates a subject with empty windows. */
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

  /** Creates a subject for the token, with a copy of the pair's windows. */
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

  /** The slot of a subject's windows. A correct hint saves the lookup. */
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
