import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { ChainLog } from '../../log/chain-log.ts'
import { DATA_FILE, markAsOwn } from '../../store/lmdb/open-file.ts'
import { listSnapshots, unpackSnapshot } from '../../store/lmdb/snapshot-files.ts'
import type { StateFolder } from '../../store/lmdb/snapshots.ts'
import { openStateStore, type StateStore, wholeFormat } from '../../store/lmdb/state-store.ts'

/** Where a stretch may begin. */
export type StretchStart = {
  /** A snapshot before this sequence is needed: the oldest one for a long stretch, the newest one to be there soon. */
  readonly before: number
  readonly prefer: 'oldest' | 'newest'
  /** Fold from the first message if no snapshot fits: right for a short log, and for a person who waits. */
  readonly orFromStart: boolean
}

/**
 * Unpacks a snapshot before a sequence into a folder of its own, so that neither the engine's state nor its
 * snapshots are touched. Undefined if none fits.
 */
export async function openScratchState(
  dir: string,
  { format, snapshots }: Pick<StateFolder, 'format' | 'snapshots'>,
  blocks: Pick<ChainLog, 'epoch'>,
  { before, prefer, orFromStart }: StretchStart,
): Promise<StateStore | undefined> {
  removeScratchState(dir)
  mkdirSync(dir, { recursive: true })
  const newestFirst = listSnapshots(snapshots, wholeFormat(format))
  for (const snapshot of prefer === 'newest' ? newestFirst : newestFirst.reverse()) {
    const { epoch, sequence } = snapshot.position
    if (epoch !== blocks.epoch || sequence >= before) continue
    if (!(await unpackSnapshot(snapshot, join(dir, DATA_FILE)))) continue
    markAsOwn(dir)
    return openStateStore({ dir, format })
  }
  return orFromStart ? openStateStore({ dir, format }) : undefined
}

export function removeScratchState(dir: string): void {
  rmSync(dir, { recursive: true, force: true })
}
