import type { LogPosition } from '../../../src/domain/log-position.ts'
import type { StateStore } from '../../../src/store/lmdb/state-store.ts'

/** The real store's contract on a map: a commit is whole or not at all, and nobody shares its bytes. */
export function memoryStore(): StateStore {
  const records = new Map<string, Uint8Array>()
  let position: LogPosition | undefined
  return {
    get: (key) => {
      const bytes = records.get(key)
      return bytes === undefined ? undefined : Buffer.from(bytes)
    },
    get position() {
      return position
    },
    commit: (writes, next) => {
      for (const [key, value] of writes) {
        if (value === undefined) records.delete(key)
        else records.set(key, Buffer.from(value))
      }
      position = next
    },
    clear: () => {
      records.clear()
      position = undefined
    },
    entries: () => [...records].sort(([a], [b]) => (a < b ? -1 : 1)),
    close: async () => undefined,
  }
}
