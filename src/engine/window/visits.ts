import { DAY_MINUTES } from '../../domain/window.ts'
import type { JournaledState, Table } from '../../state/journaled-state.ts'
import { enlarged } from '../../state/slot-index.ts'
import type { Restored } from '../../state/undone-values.ts'
import type { Codec } from '../../wire/codec.ts'
import type { OpenedTransaction } from '../../wire/opened-transaction.ts'
import { type LastVisit, LastVisits, NEVER, NO_VISIT } from './last-visits.ts'
import type { Minutes } from './minutes.ts'
import type { Subjects } from './subjects.ts'
import { StoredVisits, type Visit, VisitList } from './visit-list.ts'
import { Wallets } from './wallets.ts'

const LISTS = 'visitors'
/** A list is read a day later, and when one of its subjects is traded for the first time since the start. */
const MAX_LISTS = 8

/** The message of a transaction, and the offset of its sender. */
export type SentBy = Pick<OpenedTransaction, 'message' | 'fromAt'>

const bytesCodec: Codec<Uint8Array> = {
  write: (w, bytes) => w.raw(bytes),
  read: (r) => r.raw(r.remaining),
}

/**
 * Last visits of wallets to subjects, within a day. They are derived from the lists of visits, one per block, and only
 * the lists are stored. A subject's visits are read at its first trade since the start; an undo reverts the changes of
 * the lists that it removed.
 */
export class Visits {
  readonly #subjects: Subjects
  readonly #minutes: Minutes
  /** By minute and place. */
  readonly #lists: Table<Uint8Array>
  readonly #wallets: Wallets
  readonly #last: LastVisits
  /** By subject: 1 if its visits were read. */
  #isRead = new Uint8Array(1)
  /** Wallets of the block being folded, once per trade. */
  #coming: number[] = []
  /** The visits of the current block, all in `#minute`. */
  readonly #list: VisitList
  #minute = 0

  constructor(state: JournaledState, subjects: Subjects, minutes: Minutes) {
    this.#subjects = subjects
    this.#minutes = minutes
    this.#lists = state.table(LISTS, bytesCodec, MAX_LISTS)
    this.#wallets = new Wallets(state.hashSecret)
    this.#last = new LastVisits(state.hashSecret)
    this.#list = new VisitList(this.#wallets)
  }

  /** Begins a block of this minute. */
  begin(minute: number): void {
    this.#minute = minute
    this.#list.begin(minute)
  }

  /**
   * The number of the sender's wallet. It is reserved until the block ends, even if the wallet's last visit expires
   * before.
   */
  walletOf({ message, fromAt }: SentBy): number {
    const wallet = this.#wallets.keep(this.#wallets.numberIn(message, fromAt))
    this.#coming.push(wallet)
    return wallet
  }

  last(subject: number, wallet: number): LastVisit | undefined {
    if (this.#isRead[subject] !== 1) this.#readSubject(subject)
    const last = this.#last.get(subject, wallet)
    if (last === undefined) return undefined
    const lastOutside = this.#minute - DAY_MINUTES
    return {
      boughtAt: last.boughtAt > lastOutside ? last.boughtAt : NEVER,
      soldAt: last.soldAt > lastOutside ? last.soldAt : NEVER,
    }
  }

  /** Call after `last`. One of the two minutes is that of the block. */
  put(subject: number, wallet: number, after: LastVisit): void {
    const before = this.#last.get(subject, wallet) ?? NO_VISIT
    this.#list.add({ subject, wallet, before, after })
    this.#set(subject, wallet, after)
  }

  /** Ends the block and stores its list, until its visits expire. */
  keepList(): void {
    const list = this.#list.finish()
    if (list !== undefined)
      this.#lists.put(idOf(this.#minute, this.#minutes.nextVisitList(this.#minute)), list)
    for (const wallet of this.#coming) this.#wallets.release(wallet)
    this.#coming = []
  }

  /** Drops the visits of a minute that is a day old and had this many lists. */
  forget(minute: number, lists: number): void {
    for (let place = 0; place < lists; place++) {
      const id = idOf(minute, place)
      const list = this.#open(this.#lists.get(id), minute)
      for (const { subject, wallet } of list?.all() ?? []) {
        const { boughtAt, soldAt } = this.#last.get(subject, wallet) ?? NO_VISIT
        // Unless the wallet has returned since.
        if (boughtAt <= minute && soldAt <= minute) this.#set(subject, wallet, NO_VISIT)
      }
      list?.close()
      this.#lists.delete(id)
    }
  }

  /** Restores visits after an undo, latest first: the oldest undone visit holds what was before all of them. */
  undo(restored: readonly Restored[]): void {
    const lists = restored
      .filter(({ table }) => table === LISTS)
      .map(({ id, restored, undone }) => ({ ...partsOf(id), restored, undone }))
      .sort((a, b) => b.minute - a.minute || b.place - a.place)
    for (const { minute, restored, undone } of lists) {
      if (restored !== undefined) continue
      const list = this.#open(undone[0], minute)
      for (const { subject, wallet, before } of list?.all().reverse() ?? [])
        if (this.#isRead[subject] === 1) this.#set(subject, wallet, before)
      list?.close()
    }
    for (const { minute, restored } of lists) {
      const list = this.#open(restored, minute)
      for (const visit of list?.all().reverse() ?? [])
        if (this.#isRead[visit.subject] === 1) this.#setOlder(visit)
      list?.close()
    }
  }

  /** Drops everything in memory, because the state was replaced. */
  abandon(): void {
    this.#last.clear()
    this.#coming = []
    this.#wallets.clear()
    this.#isRead.fill(0)
  }

  /** Reads a subject's visits from the lists of all minutes of the last day in which it was traded. */
  #readSubject(subject: number): void {
    if (subject >= this.#isRead.length) this.#isRead = enlarged(this.#isRead, new Uint8Array(subject * 2))
    this.#isRead[subject] = 1
    const { lastMinute, lastSlot } = this.#subjects.at(this.#subjects.slotOf(subject))
    let minute = lastMinute
    let slot = lastSlot
    while (minute !== undefined && minute > this.#minute - DAY_MINUTES) {
      for (let place = this.#minutes.visitLists(minute) - 1; place >= 0; place--) {
        const list = this.#open(this.#lists.get(idOf(minute, place)), minute)
        for (const visit of list?.of(subject).reverse() ?? []) this.#setOlder(visit)
        list?.close()
      }
      slot = this.#minutes.slotOf(subject, minute, slot)
      const { earlier, earlierSlot } = this.#minutes.at(slot)
      minute = earlier
      slot = earlierSlot
    }
  }

  #open(bytes: Uint8Array | undefined, minute: number): StoredVisits | undefined {
    return bytes && new StoredVisits(bytes, minute, this.#wallets)
  }

  /** Keeps a later visit if there is one. */
  #setOlder({ subject, wallet, after }: Visit): void {
    if (this.#last.get(subject, wallet) === undefined) this.#set(subject, wallet, after)
  }

  #set(subject: number, wallet: number, visit: LastVisit): void {
    if (visit.boughtAt === NEVER && visit.soldAt === NEVER) {
      if (this.#last.delete(subject, wallet)) this.#wallets.release(wallet)
    } else if (this.#last.set(subject, wallet, visit)) this.#wallets.keep(wallet)
  }
}

function idOf(minute: number, place: number): string {
  return `${minute}/${place}`
}

function partsOf(id: string): { minute: number; place: number } {
  const [minute, place] = id.split('/')
  return { minute: Number(minute), place: Number(place) }
}
