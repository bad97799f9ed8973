import type { CommittedState, StateKey, Writes } from '../../../src/state/journaled-state.ts'
import type { HashSecret } from '../../../src/state/slot-index.ts'
import { stateKeyText } from '../../../src/state/state-key.ts'

/** The hash of keys is the same in every run. */
export const TEST_HASH_SECRET: HashSecret = [0x5eed, 0xcafe]

/** Committed state that holds nothing. */
export const NOTHING_COMMITTED: CommittedState = { get: () => undefined, hashSecret: TEST_HASH_SECRET }

/** Committed state on a map, by `<table>/<id>`, of records and rows alike. */
export class MemoryState implements CommittedState {
  readonly records = new Map<string, Uint8Array>()
  readonly hashSecret = TEST_HASH_SECRET

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
