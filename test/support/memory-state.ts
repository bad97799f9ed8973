import type { CommittedState, StateKey, Writes } from '../../src/state/journaled-state.ts'
import { stateKeyText } from '../../src/state/state-key.ts'

/** Committed state on a map, by `<table>/<id>`, of records and rows alike. */
export class MemoryState implements CommittedState {
  readonly records = new Map<string, Uint8Array>()

  get(key: StateKey): Uint8Array | undefined {
    const bytes = this.records.get(stateKeyText(key))
    return bytes === undefined ? undefined : Uint8Array.from(bytes)
  }

  write(writes: Writes): void {
    for (const [key, value] of writes) {
      if (value === undefined) this.records.delete(stateKeyText(key))
      else this.records.set(stateKeyText(key), Uint8Array.from(value))
    }
  }

  entries(): [string, Uint8Array][] {
    return sortedByKey([...this.records])
  }
}

/** What the store would hold after a commit of these writes. */
export function entriesAfter(
  entries: Iterable<readonly [string, Uint8Array]>,
  writes: Writes,
): [string, Uint8Array][] {
  const after = new MemoryState()
  for (const [key, value] of entries) after.records.set(key, value)
  after.write(writes)
  return after.entries()
}

function sortedByKey<T>(entries: [string, T][]): [string, T][] {
  return entries.sort(([a], [b]) => (a < b ? -1 : 1))
}
