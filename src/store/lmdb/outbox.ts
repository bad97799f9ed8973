import { mkdirSync } from 'node:fs'
import { open } from 'lmdb'
import type { Outbox } from '../../lib/outbox.ts'
import { frameChecksum } from '../../wire/frame.ts'

/** Holds many minutes of messages at the head of a chain; a lazily syncing NATS loses at most two. */
const MAX_BYTES = 128 * 1024 * 1024

/** An outbox on disk, in a folder of its own. Writes are asynchronous: publishing does not wait for the disk. */
export function openOutbox(dir: string, maxBytes = MAX_BYTES): Outbox & { close(): Promise<void> } {
  mkdirSync(dir, { recursive: true })
  const root = open({ path: dir, maxDbs: 2 })
  const frames = root.openDB<Uint8Array, number>({ name: 'frames', encoding: 'binary' })
  const meta = root.openDB<string, string>({ name: 'meta', encoding: 'json' })
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

  const evictFrom = (seq: number): void => {
    while (retained.length > 0 && first + retained.length > seq) {
      bytes -= retained.pop()?.size ?? 0
      void frames.remove(first + retained.length)
    }
  }
  const evictOldest = (): void => {
    bytes -= retained.shift()?.size ?? 0
    void frames.remove(first)
    first += 1
  }

  return {
    add: (of, seq, frame) => {
      const checksum = frameChecksum(frame)
      if (of === epoch && retained[seq - first]?.checksum === checksum) return
      if (of !== epoch || seq < first || seq > first + retained.length) {
        evictFrom(0)
        first = seq
      } else evictFrom(seq)
      if (of !== epoch) {
        epoch = of
        void meta.put('epoch', of)
      }
      void frames.put(seq, frame)
      retained.push({ size: frame.length, checksum })
      bytes += frame.length
      while (bytes > maxBytes && retained.length > 1) evictOldest()
    },
    get: (of, seq) => {
      if (of !== epoch || seq < first || seq >= first + retained.length) return undefined
      return frames.get(seq)
    },
    flushed: async () => {
      await root.flushed
    },
    close: () => root.close(),
  }
}
