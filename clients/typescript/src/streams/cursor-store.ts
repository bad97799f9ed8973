/** Where streams store their cursors, so that a restarted program continues where it stopped. */
export type CursorStore = {
  get(stream: string): string | undefined | Promise<string | undefined>
  /** Called often: a store may write the latest cursor only. A failure ends the stream. */
  set(stream: string, cursor: string): void | Promise<void>
}

/** Survives streams, not the process. */
export function memoryCursors(): CursorStore {
  const cursors = new Map<string, string>()
  return {
    get: (stream) => cursors.get(stream),
    set: (stream, cursor) => {
      cursors.set(stream, cursor)
    },
  }
}

/** The part of `localStorage` that is used. */
export type StorageLike = {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
}

/** Survives reloads of a page; `storage` defaults to `localStorage`. */
export function storageCursors(storage?: StorageLike, prefix = 'chaintape:'): CursorStore {
  const used = storage ?? (globalThis as { readonly localStorage?: StorageLike }).localStorage
  if (used === undefined) throw new TypeError('this runtime has no localStorage: pass a storage')
  return {
    get: (stream) => used.getItem(`${prefix}${stream}`) ?? undefined,
    set: (stream, cursor) => used.setItem(`${prefix}${stream}`, cursor),
  }
}
