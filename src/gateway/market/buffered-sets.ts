import type { ChangeSet } from '../../domain/change.ts'
import { openChangeSet } from '../../wire/change-codec.ts'
import { Overlay } from './overlay.ts'
import { ownBytes } from './own-bytes.ts'

/** Overhead of a document in the overlay beside its bytes, roughly. */
const DOCUMENT_BYTES = 250

/** The change sets of one chain that a store may lack: their documents in an overlay, over the bytes of their messages. */
export class BufferedSets {
  readonly overlay = new Overlay()
  /** Oldest first. */
  readonly #sets: { readonly seq: number; readonly bytes: number }[] = []
  #bytes = 0

  /** Roughly what they take. */
  get bytes(): number {
    return this.#bytes
  }

  add(body: Uint8Array): ChangeSet {
    const opened = openChangeSet(ownBytes(body))
    const { set } = opened
    this.overlay.apply(opened)
    const bytes = body.length + set.changes.length * DOCUMENT_BYTES
    this.#sets.push({ seq: set.seq, bytes })
    this.#bytes += bytes
    return set
  }

  /** Drops sets up to `seq`, and stops after `maxChanges` changes. Returns the `seq` that it reached, if it dropped any. */
  drop(seq: number, maxChanges?: number): number | undefined {
    const dropped = this.overlay.drop(seq, maxChanges)
    this.#free(dropped ?? seq)
    return dropped
  }

  /** Drops the oldest sets until the rest takes at most this, and returns the `seq` of the last one dropped. */
  shed(maxBytes: number): number | undefined {
    let left = this.#bytes
    let upTo: number | undefined
    for (const { seq, bytes } of this.#sets) {
      if (left <= maxBytes) break
      left -= bytes
      upTo = seq
    }
    if (upTo !== undefined) this.drop(upTo)
    return upTo
  }

  /** Subtracts the sizes of sets that the overlay does not hold. */
  #free(upTo: number): void {
    const left = this.#sets.findIndex(({ seq }) => seq > upTo)
    const count = left === -1 ? this.#sets.length : left
    for (const { bytes } of this.#sets.splice(0, count)) this.#bytes -= bytes
  }
}
