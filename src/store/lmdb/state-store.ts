import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { open } from 'lmdb'
import { ChaintapeError } from '../../domain/errors.ts'
import type { LogPosition } from '../../domain/log-position.ts'
import type { StateKey, Writes } from '../../state/journaled-state.ts'
import type { HashSecret } from '../../state/slot-index.ts'
import { decodeStateKey, encodeStateKey } from '../../state/state-key.ts'
import { fromStoredPosition, type StoredPosition, toStoredPosition } from '../stored-position.ts'

export type StateStore = {
  get(key: StateKey): Uint8Array | undefined
  /** Random, and new whenever the store is opened. */
  readonly hashSecret: HashSecret
  /** The log position of the state. */
  readonly position: LogPosition | undefined
  /** State and position become durable together, or not at all. */
  commit(writes: Writes, position: LogPosition): void
  /** Drops the whole state and its position, so that it can be folded again from the start of the log. */
  clear(): void
  /** All entries in key order, to compare two states. */
  entries(): Iterable<[string, Uint8Array]>
  close(): Promise<void>
}

/**
 * Reserves address space, not memory or disk. Without it, LMDB remaps the file whenever it has grown and keeps the old
 * mappings, which add up to two or three times the file size.
 */
const MAP_BYTES = 2 ** 40

/** The key encoding is the store's own part of the format. */
const KEY_LAYOUT = 'by id'

const FORMAT = 'format'
const POSITION = 'position'

/** `format` identifies the layout of the records; state in another format is refused. */
export function openStateStore(options: { dir: string; format: string }): StateStore {
  mkdirSync(options.dir, { recursive: true })
  const root = open({ path: options.dir, maxDbs: 2, mapSize: MAP_BYTES })
  const state = root.openDB<Uint8Array, Buffer>({ name: 'state', encoding: 'binary', keyEncoding: 'binary' })
  const meta = root.openDB<unknown, string>({ name: 'meta', encoding: 'json' })
  const format = meta.get(FORMAT)
  const needed = `${options.format}, ${KEY_LAYOUT}`
  if (format === undefined) meta.putSync(FORMAT, needed)
  else if (format !== needed) {
    throw new ChaintapeError(
      'state_outdated',
      `${options.dir} has state format ${String(format)}, this version needs ${needed}`,
    )
  }
  const stored = meta.get(POSITION) as StoredPosition | undefined
  let position = stored && fromStoredPosition(stored)
  return {
    get: (key) => state.get(storeKey(key)),
    hashSecret: [randomBytes(4).readInt32LE(), randomBytes(4).readInt32LE()],
    get position() {
      return position
    },
    commit: (writes, next) => {
      root.transactionSync(() => {
        for (const [key, value] of writes) {
          if (value === undefined) state.removeSync(storeKey(key))
          else state.putSync(storeKey(key), value)
        }
        meta.putSync(POSITION, toStoredPosition(next))
      })
      position = next
    },
    clear: () => {
      root.transactionSync(() => {
        state.clearSync()
        meta.removeSync(POSITION)
      })
      position = undefined
    },
    // The store sorts by its own key encoding.
    entries: () =>
      Array.from(state.getRange(), ({ key, value }): [string, Uint8Array] => [
        decodeStateKey(key),
        value,
      ]).sort(([a], [b]) => (a < b ? -1 : 1)),
    close: () => root.close(),
  }
}

function storeKey(key: StateKey): Buffer {
  if (typeof key === 'string') return encodeStateKey(key)
  return Buffer.isBuffer(key) ? key : Buffer.from(key.buffer, key.byteOffset, key.length)
}
