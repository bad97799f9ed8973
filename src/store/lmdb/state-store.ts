import { mkdirSync } from 'node:fs'
import { open } from 'lmdb'
import { ChaintapeError } from '../../domain/errors.ts'
import type { Writes } from '../../domain/journaled-state.ts'
import type { LogPosition } from '../../domain/log-position.ts'

export type StateStore = {
  get(key: string): Uint8Array | undefined
  /** Where in its log the state stands. */
  readonly position: LogPosition | undefined
  /** State and position become durable together, or not at all. */
  commit(writes: Writes, position: LogPosition): void
  /** Everything, in key order: to compare two states. */
  entries(): Iterable<[string, Uint8Array]>
  close(): Promise<void>
}

const FORMAT = 'format'
const POSITION = 'position'

/** `format` names the layout of the records; a state written in another one is refused, never guessed at. */
export function openStateStore(options: { dir: string; format: string }): StateStore {
  mkdirSync(options.dir, { recursive: true })
  const root = open({ path: options.dir, maxDbs: 2 })
  const state = root.openDB<Uint8Array, string>({ name: 'state', encoding: 'binary' })
  const meta = root.openDB<unknown, string>({ name: 'meta', encoding: 'json' })
  const format = meta.get(FORMAT)
  if (format === undefined) meta.putSync(FORMAT, options.format)
  else if (format !== options.format) {
    throw new ChaintapeError(
      'state_outdated',
      `${options.dir} holds state of format ${String(format)}, this program needs ${options.format}`,
    )
  }
  let position = meta.get(POSITION) as LogPosition | undefined
  return {
    get: (key) => state.get(key),
    get position() {
      return position
    },
    commit: (writes, next) => {
      root.transactionSync(() => {
        for (const [key, value] of writes) {
          if (value === undefined) state.removeSync(key)
          else state.putSync(key, value)
        }
        meta.putSync(POSITION, next)
      })
      position = next
    },
    entries: function* () {
      for (const { key, value } of state.getRange()) yield [key, value]
    },
    close: () => root.close(),
  }
}
