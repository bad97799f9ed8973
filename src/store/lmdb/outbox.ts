import { ChaintapeError } from '../../domain/errors.ts'
import type { Outbox } from '../../lib/outbox.ts'
import { frameChecksum } from '../../wire/frame.ts'
import { openFile } from './open-file.ts'

/** Holds many minutes of messages at the head of a chain; a lazily syncing NATS loses at most two. */
const MAX_BYTES = 128 * 1024 * 1024

/** Version of the layout: frames by sequence, which have versions of their own, and the epoch of their log. */
const FORMAT = 'outbox-1'

/**
 * An outbox on disk, in a folder of its own. Writes are asynchronous: publishing does not wait for the disk. A full disk
 * is no failure of the log; the frames that were not stored cannot be restored later.
 */
export function openOutbox(dir: string, maxBytes = MAX_BYTES): Outbox & { close(): Promise<void> } {
  // Without batches per turn, whose own promise the library leaves unhandled if the disk is full.
  const root = openFile(dir, { maxDbs: 2, eventTurnBatching: false })
  const frames = root.openDB<Uint8Array, number>({ name: 'frames', encoding: 'binary' })
  const meta = root.openDB<string, string>({ name: 'meta', encoding: 'json' })
  // Release 0.2.0 wrote no format.
  const format = meta.get('format') ?? FORMAT
  if (format !== FORMAT) {
    throw new ChaintapeError(
      'state_outdated',
      `${dir} has outbox format ${format}, this version needs ${FORMAT}`,
    )
  }
  let epoch = meta.get('epoch')
  /** The retained frames, oldest first: those at `first`, `first + 1` and so on. */
  const retained: { readonly size: number; readonly checksum: number }[] = []
  let first = 1
  let bytes = 0
  for (const { key, value } of frames.getRange()) {
    if (retained.length === 0) first = key
    // A gap means a frame was not yet durable when the process died.
    if (key !== first + retained.length) break
    retained.push({ size: value.length, checksum: frameChecksum(value) })
    bytes += value.length
  }

  /** After a full disk: the stored frames have a gap. */
  let hasGap = false
  let failure = Promise.withResolvers<void>()
  const inBackground = (writing: Promise<unknown>): void => {
    writing.catch((error: { commitError?: Promise<unknown> }) => {
      // The library reports the cause in a second promise.
      error.commitError?.catch(() => undefined)
      hasGap = true
      failure.resolve()
      failure = Promise.withResolvers()
    })
  }

  const evictFrom = (seq: number): void => {
    while (retained.length > 0 && first + retained.length > seq) {
      bytes -= retained.pop()?.size ?? 0
      inBackground(frames.remove(first + retained.length))
    }
  }
  const evictOldest = (): void => {
    bytes -= retained.shift()?.size ?? 0
    inBackground(frames.remove(first))
    first += 1
  }

  return {
    add: (of, seq, frame) => {
      const checksum = frameChecksum(frame)
      if (!hasGap && of === epoch && retained[seq - first]?.checksum === checksum) return
      if (hasGap || of !== epoch || seq < first || seq > first + retained.length) {
        evictFrom(0)
        first = seq
        hasGap = false
      } else evictFrom(seq)
      if (of !== epoch) {
        epoch = of
        inBackground(meta.put('format', FORMAT))
        inBackground(meta.put('epoch', of))
      }
      inBackground(frames.put(seq, frame))
      retained.push({ size: frame.length, checksum })
      bytes += frame.length
      while (bytes > maxBytes && retained.length > 1) evictOldest()
    },
    get: (of, seq) => {
      if (of !== epoch || seq < first || seq >= first + retained.length) return undefined
      return frames.get(seq)
    },
    oldest: () => (epoch === undefined || retained.length === 0 ? undefined : { epoch, sequence: first }),
    flushed: async () => {
      await Promise.race([root.flushed, failure.promise])
    },
    close: async () => {
      const closing = root.close()
      closing.catch(() => undefined)
      // On a full disk the library waits for a write that succeeds.
      await Promise.race(hasGap ? [closing, Promise.resolve()] : [closing, failure.promise])
    },
  }
}
