import { ByteReader } from '../domain/wire/byte-reader.ts'

/** A document as one change set left it; without a record it is a tombstone. */
export type Version<T> = { readonly seq: number; readonly record: T | undefined }

/** The message that a set came in. */
export type Told = { readonly seq: number; readonly bytes: Uint8Array }

type Id = string | number

const NOWHERE = -1

/**
 * A document that is still bytes of the message that told it, and is decoded whenever somebody looks. Of each block
 * thousands are kept, for a second or so, and few are ever looked at: as objects they would keep the garbage collector busy.
 */
export class Kept<T> implements Version<T> {
  readonly table: Documents<T>
  readonly group: string
  readonly id: Id
  readonly #told: Told
  readonly #at: number
  readonly #nth: number

  /** `nth` of those that begin at this byte; nowhere, if the set says that there is no such document any more. */
  constructor(table: Documents<T>, group: string, id: Id, told: Told, at: number = NOWHERE, nth = 0) {
    this.table = table
    this.group = group
    this.id = id
    this.#told = told
    this.#at = at
    this.#nth = nth
  }

  get seq(): number {
    return this.#told.seq
  }

  get record(): T | undefined {
    if (this.#at === NOWHERE) return undefined
    return this.table.read(new ByteReader(this.#told.bytes, this.#at), this.#nth)
  }
}

/** The newest versions of documents of one kind, by group and id. No group is empty. */
export class Documents<T> {
  readonly read: (r: ByteReader, nth: number) => T | undefined
  readonly #groups = new Map<string, Map<Id, Kept<T>>>()

  constructor(read: (r: ByteReader, nth: number) => T | undefined) {
    this.read = read
  }

  get size(): number {
    let size = 0
    for (const versions of this.#groups.values()) size += versions.size
    return size
  }

  get(group: string, id: Id): Version<T> | undefined {
    return this.#groups.get(group)?.get(id)
  }

  group<Key extends Id>(group: string): ReadonlyMap<Key, Version<T>> | undefined {
    return this.#groups.get(group) as ReadonlyMap<Key, Version<T>> | undefined
  }

  put(kept: Kept<T>): void {
    const versions = this.#groups.get(kept.group)
    if (versions === undefined) this.#groups.set(kept.group, new Map([[kept.id, kept]]))
    else versions.set(kept.id, kept)
  }

  /** Unless something newer has come by then. */
  forget(kept: Kept<T>): void {
    const versions = this.#groups.get(kept.group)
    if (versions?.get(kept.id) !== kept) return
    versions.delete(kept.id)
    if (versions.size === 0) this.#groups.delete(kept.group)
  }
}
