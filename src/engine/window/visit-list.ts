import { ByteReader } from '../../wire/byte-reader.ts'
import { ByteWriter } from '../../wire/byte-writer.ts'
import { type LastVisit, NEVER } from './last-visits.ts'
import type { Wallets } from './wallets.ts'

/** A block's change of the minutes in which a wallet last bought and sold a subject. */
export type Visit = {
  readonly subject: number
  readonly wallet: number
  readonly before: LastVisit
  readonly after: LastVisit
}

/** Sizes of the number of parts, and of each entry: its subject and its start. */
const COUNT_BYTES = 4
const PART_BYTES = 8

/**
 * The visits of one block in stored form: an index of subjects and the start of each part, in order of subject number,
 * so that one part is found without reading the others; the wallets, each once; the parts. Minutes are encoded as their
 * age, which is a small number; 0 means never, so the age of the block's own minute is 1.
 */
export class VisitList {
  readonly #wallets: Wallets
  readonly #addressOf = new Map<number, number>()
  readonly #addresses = new ByteWriter()
  readonly #parts = new ByteWriter()
  readonly #part = new ByteWriter()
  #starts: { readonly subject: number; readonly start: number }[] = []
  #subject = 0
  #minute = 0

  constructor(wallets: Wallets) {
    this.#wallets = wallets
  }

  begin(minute: number): void {
    this.#minute = minute
    this.#starts = []
    this.#addressOf.clear()
    for (const writer of [this.#addresses, this.#parts, this.#part]) writer.clear()
  }

  add({ subject, wallet, before, after }: Visit): void {
    if (subject !== this.#subject) this.#endPart()
    this.#subject = subject
    this.#part.varuint(this.#addressAt(wallet))
    this.#age(before.boughtAt)
    this.#age(before.soldAt)
    this.#age(after.boughtAt)
    this.#age(after.soldAt)
  }

  /** Undefined if there was no visit. */
  finish(): Uint8Array | undefined {
    this.#endPart()
    if (this.#starts.length === 0) return undefined
    const w = new ByteWriter(this.#parts.length * 2 + this.#addresses.length)
    w.u32(this.#starts.length)
    for (const { subject, start } of this.#starts.sort((a, b) => a.subject - b.subject)) {
      w.u32(subject)
      w.u32(this.#addresses.length + start)
    }
    w.rawOf(this.#addresses)
    w.rawOf(this.#parts)
    return w.finish()
  }

  /** The offset of its address, after the index. */
  #addressAt(wallet: number): number {
    const known = this.#addressOf.get(wallet)
    if (known !== undefined) return known
    const start = this.#addresses.length
    this.#addressOf.set(wallet, start)
    this.#wallets.write(this.#addresses, wallet)
    return start
  }

  #endPart(): void {
    if (this.#part.length === 0) return
    this.#starts.push({ subject: this.#subject, start: this.#parts.length })
    this.#parts.varuint(this.#part.length)
    this.#parts.rawOf(this.#part)
    this.#part.clear()
  }

  #age(minute: number): void {
    this.#part.varuint(minute === NEVER ? 0 : this.#minute - minute + 1)
  }
}

/** A stored list. Until it is closed, its wallets keep their numbers. */
export class StoredVisits {
  readonly #bytes: Uint8Array
  readonly #minute: number
  readonly #wallets: Wallets
  readonly #r: ByteReader
  readonly #parts: number
  /** By the start of their address. */
  readonly #numbers = new Map<number, number>()

  constructor(bytes: Uint8Array, minute: number, wallets: Wallets) {
    this.#bytes = bytes
    this.#minute = minute
    this.#wallets = wallets
    this.#r = new ByteReader(bytes)
    this.#parts = this.#r.u32()
  }

  all(): Visit[] {
    const visits: Visit[] = []
    for (let part = 0; part < this.#parts; part++) this.#readPart(part, visits)
    return visits
  }

  /** The visits to one subject, in order. */
  of(subject: number): Visit[] {
    const visits: Visit[] = []
    let [from, to] = [0, this.#parts]
    while (from < to) {
      const middle = (from + to) >>> 1
      if (this.#subjectOf(middle) < subject) from = middle + 1
      else to = middle
    }
    for (let part = from; part < this.#parts && this.#subjectOf(part) === subject; part++)
      this.#readPart(part, visits)
    return visits
  }

  close(): void {
    for (const wallet of this.#numbers.values()) this.#wallets.release(wallet)
  }

  #subjectOf(part: number): number {
    return this.#r.at(COUNT_BYTES + part * PART_BYTES).u32()
  }

  #readPart(part: number, visits: Visit[]): void {
    const subject = this.#subjectOf(part)
    const start = this.#r.u32()
    const behind = COUNT_BYTES + this.#parts * PART_BYTES
    const size = this.#r.at(behind + start).varuint()
    const end = this.#r.position + size
    while (this.#r.position < end) {
      const wallet = this.#walletAt(behind + this.#r.varuint())
      const before = { boughtAt: this.#readMinute(), soldAt: this.#readMinute() }
      const after = { boughtAt: this.#readMinute(), soldAt: this.#readMinute() }
      visits.push({ subject, wallet, before, after })
    }
  }

  #walletAt(start: number): number {
    const known = this.#numbers.get(start)
    if (known !== undefined) return known
    const wallet = this.#wallets.keep(this.#wallets.numberIn(this.#bytes, start))
    this.#numbers.set(start, wallet)
    return wallet
  }

  #readMinute(): number {
    const age = this.#r.varuint()
    return age === 0 ? NEVER : this.#minute + 1 - age
  }
}
