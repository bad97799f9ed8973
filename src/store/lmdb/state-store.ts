import { randomBytes } from 'node:crypto'
import type { RootDatabase } from 'lmdb'
import { ChaintapeError } from '../../domain/errors.ts'
import type { LogPosition } from '../../domain/log-position.ts'
import type { StateKey, Writes } from '../../state/journaled-state.ts'
import type { HashSecret } from '../../state/slot-index.ts'
import { decodeStateKey, encodeStateKey } from '../../state/state-key.ts'
import { fromStoredPosition, type StoredPosition, toStoredPosition } from '../stored-position.ts'
import { openFile } from './open-file.ts'

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

/** As it is stored, with the store's own part. */
export function wholeFormat(format: string): string {
  return `${format}, ${KEY_LAYOUT}`
}

/** The format and position of a state; undefined in a store that was never committed. */
export function describeState(root: RootDatabase): {
  readonly format: string | undefined
  readonly position: StoredPosition | undefined
} {
  const meta = openMeta(root)
  return {
    format: meta.get(FORMAT) as string | undefined,
    position: meta.get(POSITION) as StoredPosition | undefined,
  }
}

function openMeta(root: RootDatabase) {
  return root.openDB<unknown, string>({ name: 'meta', encoding: 'json' })
}

export type StateFormat = {
  /** Identifies the layout of the records. */
  readonly format: string
  /** Earlier formats whose records can be read too; the first commit changes the state to `format`. */
  readonly earlier?: readonly string[]
}

/** All formats that can be read, as they are stored. */
export function readableFormats({ format, earlier = [] }: StateFormat): string[] {
  return [format, ...earlier].map(wholeFormat)
}

/** State in a format that cannot be read is refused. */
export function openStateStore(options: StateFormat & { readonly dir: string }): StateStore {
  const root = openFile(options.dir, { maxDbs: 2, mapSize: MAP_BYTES })
  const state = root.openDB<Uint8Array, Buffer>({ name: 'state', encoding: 'binary', keyEncoding: 'binary' })
  const meta = openMeta(root)
  let format = meta.get(FORMAT) as string | undefined
  const [needed = '', ...earlier] = readableFormats(options)
  if (format === undefined) {
    meta.putSync(FORMAT, needed)
    format = needed
  } else if (format !== needed && !earlier.includes(format)) {
    throw new ChaintapeError(
      'state_outdated',
      `${options.dir} has state format ${format}, this version needs ${[needed, ...earlier].join(' or ')}`,
    )
  }
  const { position: stored } = describeState(root)
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
        if (format !== needed) meta.putSync(FORMAT, needed)
      })
      position = next
      format = needed
    },
    clear: () => {
      root.transactionSync(() => {
        state.clearSync()
        meta.removeSync(POSITION)
        meta.putSync(FORMAT, needed)
      })
      position = undefined
      format = needed
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
