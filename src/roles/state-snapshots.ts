import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config/schema.ts'
import type { LogPosition } from '../domain/log-position.ts'
import type { Common } from '../lib/common.ts'
import type { ChainLog } from '../log/chain-log.ts'
import { lastSnapshotAt, openNewestState, type StateFolder, takeSnapshotOf } from '../store/lmdb/snapshots.ts'
import type { StateStore } from '../store/lmdb/state-store.ts'
import type { RoleName } from './role.ts'

/** After a start, and after a failure. */
const DELAY_MS = 60_000

/** Where a role has its state of a chain, and the snapshots of it. */
export function stateFolder(
  { data_dir, snapshots: { dir = join(data_dir, 'snapshots') } }: Pick<Config, 'data_dir' | 'snapshots'>,
  role: RoleName,
  chain: string,
  format: string,
  earlier: readonly string[] = [],
): StateFolder {
  return { format, earlier, dir: join(data_dir, role, chain), snapshots: join(dir, role, chain) }
}

/** Opens the state that BLOCKS is folded into, from a snapshot if there is none or BLOCKS begins after it. */
export function openState(
  folder: StateFolder,
  blocks: Pick<ChainLog, 'locate'>,
  { logger }: Pick<Common, 'logger'>,
): Promise<StateStore> {
  const isTooOld = async (position: LogPosition): Promise<boolean> =>
    (await blocks.locate(position)) === 'dropped'
  // What BLOCKS no longer holds is in the archive.
  const fits = async (position: LogPosition): Promise<boolean> =>
    ['held', 'dropped'].includes(await blocks.locate(position))
  return openNewestState(folder, isTooOld, fits, logger)
}

/** Takes a snapshot every so often, until shutdown. A failure is logged, and does not stop the role. */
export function keepSnapshots(
  folder: StateFolder,
  everySeconds: number,
  { logger, shutdown }: Pick<Common, 'logger' | 'shutdown'>,
): void {
  if (everySeconds === 0) return
  const stop = new AbortController()
  const signal = AbortSignal.any([shutdown.signal, stop.signal])
  const run = async (): Promise<void> => {
    let notBefore = Date.now() + Math.min(DELAY_MS, everySeconds * 1_000)
    while (!signal.aborted) {
      const dueAt = Math.max(lastSnapshotAt(folder) + everySeconds * 1_000, notBefore)
      await sleep(Math.max(0, dueAt - Date.now()), undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return
      try {
        const startedAt = performance.now()
        const isTaken = await takeSnapshotOf(folder, signal)
        const ms = Math.round(performance.now() - startedAt)
        if (isTaken) logger.info({ folder: folder.snapshots, ms }, 'Snapshot taken')
      } catch (error) {
        if (!signal.aborted) logger.error({ err: error }, 'Snapshot failed; retrying')
      }
      // Also if there was nothing to copy yet.
      notBefore = Date.now() + Math.min(DELAY_MS, everySeconds * 1_000)
    }
  }
  const running = run()
  shutdown.onClose('snapshots', () => {
    stop.abort()
    return running
  })
}
