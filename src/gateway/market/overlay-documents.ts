import { ByteReader } from '../../wire/byte-reader.ts'

/** A document as one change set left it; without a record it is a tombstone. */
export type Version<T> = { readonly seq: number; readonly record: T | undefined }

/** The message that a set came in. */
export type SetMessage = { readonly seq: number; readonly bytes: Uint8Array }

type Id = string | number

const NOWHERE = -1

/**
 * A document as the bytes of its message, decoded at every read. Each block adds thousands for about a second, and few
 * are ever read: as objects they would keep the garbage collector busy. Outside the overlay, one would retain its message.
 */
export class EncodedDocument<T> {
  readonly table: Documents<T>
  readonly group: string
  readonly id: Id
  readonly #message: SetMessage
  readonly #at: number

  /** Without `at` it is a tombstone: the set removed the document. */
  constructor(table: Documents<T>, group: string, id: Id, message: SetMessage, at: number = NOWHERE) {
    this.table = table
    this.group = group
    this.id = id
    this.#message = message
    this.#at = at
  }

  get isTombstone(): boolean {
    return this.#at === NOWHERE
  }

  version(): Version<T> {
    const { seq, bytes } = this.#message
    return { seq, record: this.isTombstone ? undefined : this.table.read(new ByteReader(bytes, this.#at)) }
  }
}

/** The newest versions of documents of one kind, by group and id. No group is empty. */
export class Documents<T> {
  readonly read: (r: ByteReader) => T
  readonly #groups = new Map<string, Map<Id, EncodedDocument<T>>>()

  constructor(read: (r: ByteReader) => T) {
    this.read = read
  }

  get size(): number {
    let size = 0
    for (const versions of this.#groups.values()) size += versions.size
    return size
  }

  find(group: string, id: Id): EncodedDocument<T> | undefined {
    return this.#groups.get(group)?.get(id)
  }

  get(group: string, id: Id): Version<T> | undefined {
    return this.find(group, id)?.version()
  }

  group<Key extends Id>(group: string): ReadonlyMap<Key, Version<T>> {
    const versions = new Map<Key, Version<T>>()
    for (const [id, document] of this.#groups.get(group) ?? []) versions.set(id as Key, document.version())
    return versions
  }

  put(document: EncodedDocument<T>): void {
    const versions = this.#groups.get(document.group)
    if (versions === undefined) this.#groups.set(document.group, new Map([[document.id, document]]))
    else versions.set(document.id, document)
  }

  /** Keeps a later version that replaced this one. */
  drop(document: EncodedDocument<T>): void {
    const versions = this.#groups.get(document.group)
    if (versions?.get(document.id) !== document) return
    versions.delete(document.id)
    if (versions.size === 0) this.#groups.delete(document.group)
  }
}
