import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { ChaintapeError } from '../../domain/errors.ts'
import type { LogPosition } from '../../domain/log-position.ts'
import type { StreamCopy } from '../../log/stream-copy.ts'
import type { BackupFiles } from './backup-files.ts'
import type { ChainBackup } from './manifest.ts'
import { encodeRecord } from './records.ts'

export type CopyStart = { readonly copy: StreamCopy; readonly epoch: string; readonly first: number }

/** While other data is copied, the log is followed so closely that it is not trimmed before it is copied. */
const FOLLOW_EVERY_MS = 500

/** Where the copy of a log begins: with the message at a commit point, which shows where a store continues. */
export async function startOfCopy(copy: StreamCopy, committed: LogPosition | undefined): Promise<CopyStart> {
  const { stream } = copy
  const summary = await copy.summary()
  const epoch = summary?.epoch
  if (summary === undefined || epoch === undefined)
    throw new ChaintapeError('log_damaged', `stream ${stream} does not exist, or has no epoch`)
  if (committed === undefined) return { copy, epoch, first: summary.first }
  if (committed.epoch !== epoch) {
    throw new ChaintapeError(
      'log_epoch_changed',
      `${stream} was recreated after ClickHouse was written from it`,
    )
  }
  const frame = await copy.frameAt(committed.sequence)
  if (frame !== undefined && frame.checksum !== committed.link) {
    throw new ChaintapeError(
      'log_damaged',
      `${stream}: message ${committed.sequence} is not the one that was stored`,
    )
  }
  if (frame === undefined && summary.first !== committed.sequence + 1) {
    throw new ChaintapeError(
      'log_truncated',
      `${stream} holds ${summary.first} to ${summary.last}, but ClickHouse continues after ${committed.sequence}`,
    )
  }
  return { copy, epoch, first: frame?.start ?? summary.first }
}

/** Copies the frames of a log up to its end as of the moment at which `done` settles. */
export async function copyFrames(
  files: BackupFiles,
  file: string,
  { copy, epoch, first }: CopyStart,
  done: Promise<unknown>,
): Promise<ChainBackup['blocks']> {
  let next = first
  let isDone = false
  const settled = done
    .catch(() => undefined)
    .then(() => {
      isDone = true
    })
  async function* records(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const isLast = isDone
      const end = (await copy.summary())?.last ?? 0
      for await (const { seq, data } of copy.read(next, end)) {
        if (seq !== next)
          throw new ChaintapeError(
            'log_truncated',
            `${copy.stream} dropped message ${next} before it was copied`,
          )
        next++
        yield encodeRecord(data)
      }
      if (isLast) return
      await Promise.race([settled, sleep(FOLLOW_EVERY_MS)])
    }
  }
  await files.add(file, Readable.from(records(), { objectMode: false }), { compress: true })
  return { epoch, first, last: next - 1, file }
}
