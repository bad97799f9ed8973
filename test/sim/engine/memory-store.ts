import type { LogPosition } from '../../../src/domain/log-position.ts'
import type { StateStore } from '../../../src/store/lmdb/state-store.ts'
import { MemoryState } from '../../support/rigs/memory-state.ts'

/** The real store's contract on a map: a commit is whole or not at all, and nobody shares its bytes. */
export function memoryStore(): StateStore {
  const state = new MemoryState()
  let position: LogPosition | undefined
  return {
    get: (key) => state.get(key),
    hashSecret: state.hashSecret,
    get position() {
      return position
    },
    commit: (writes, next) => {
      state.write(writes)
      position = next
    },
    clear: () => {
      state.records.clear()
      position = undefined
    },
    entries: () => state.entries(),
    close: async () => undefined,
  }
}
