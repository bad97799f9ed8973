import type { Cursor } from '../../state/cursor.ts'
import type { JournaledState, RecordCodec, Table } from '../../state/journaled-state.ts'
import { Key } from '../../state/key.ts'
import type { Rows } from '../../state/rows.ts'
import { NONE } from '../../state/slot-index.ts'
import { VISIT } from './visit-row.ts'

/** A wallet that traded a subject. */
export type Visitor = { readonly subject: number; readonly wallet: string }

/** The minutes in which a wallet last bought and sold a subject, or `NEVER`. */
export type LastVisit = { readonly boughtAt: number; readonly soldAt: number }

export const NEVER = 0

/** Each list is read once, a day later. */
const MAX_LISTS = 8

const visitorsCodec: RecordCodec<readonly Visitor[]> = {
  write: (w, visitors) =>
    w.list(visitors, ({ subject, wallet }) => {
      w.varuint(subject)
      w.id(wallet)
    }),
  read: (r) => r.list(() => ({ subject: r.varuint(), wallet: r.id() })),
}

/** When wallets last came, within a day. */
export class Visits {
  readonly #rows: Rows<typeof VISIT.fields>
  readonly #visit: Cursor<typeof VISIT.fields>
  /** By minute and place: who came, to be forgotten a day later. */
  readonly #visitors: Table<readonly Visitor[]>
  readonly #key = new Key()

  constructor(state: JournaledState, maxRows: number) {
    this.#rows = state.rows('visit', VISIT, { key: ['u32', 'id'], maxRows })
    this.#visit = this.#rows.cursor()
    this.#visitors = state.table('visitors', visitorsCodec, MAX_LISTS)
  }

  last(subject: number, wallet: string): LastVisit | undefined {
    const slot = this.#rows.find(this.#keyOf(subject, wallet))
    if (slot === NONE) return undefined
    const { boughtAt, soldAt } = this.#visit.at(slot)
    return { boughtAt, soldAt }
  }

  put(subject: number, wallet: string, { boughtAt, soldAt }: LastVisit): void {
    const visit = this.#visit.edit(this.#rows.findOrCreate(this.#keyOf(subject, wallet)))
    visit.boughtAt = boughtAt
    visit.soldAt = soldAt
  }

  /** What was last done in this minute is a day ago. */
  forget(subject: number, wallet: string, minute: number): void {
    const slot = this.#rows.find(this.#keyOf(subject, wallet))
    if (slot === NONE) return
    const visit = this.#visit.edit(slot)
    if (visit.boughtAt === minute) visit.boughtAt = NEVER
    if (visit.soldAt === minute) visit.soldAt = NEVER
    if (visit.boughtAt === NEVER && visit.soldAt === NEVER) this.#rows.remove(slot)
  }

  keepVisitors(minute: number, place: number, visitors: readonly Visitor[]): void {
    this.#visitors.put(`${minute}/${place}`, visitors)
  }

  takeVisitors(minute: number, place: number): readonly Visitor[] {
    const key = `${minute}/${place}`
    const visitors = this.#visitors.get(key) ?? []
    this.#visitors.delete(key)
    return visitors
  }

  #keyOf(subject: number, wallet: string): Key {
    return this.#key.clear().u32(subject).id(wallet)
  }
}
