import type { Change, ChangeSet } from '../domain/change.ts'
import { blockRefCodec } from './block-ref-codec.ts'
import { ByteWriter } from './byte-writer.ts'
import { CAUSES, CHANGES_VERSION, END, TYPE } from './change-type.ts'
import { writeTime } from './field-codec.ts'

/** A change set without its changes. */
export type ChangeSetHead = Omit<ChangeSet, 'changes'>

/**
 * Builds a CHANGES message. Each part of the engine appends its records directly, so changes need no objects. One
 * writer serves all messages, so that its buffer grows only once.
 */
export class ChangeSetWriter {
  readonly #w = new ByteWriter(4096)

  begin({ chain, seq, cause, head, finalNumber }: ChangeSetHead): void {
    const w = this.#w
    w.clear()
    w.u8(CHANGES_VERSION)
    w.text(chain)
    w.varuint(seq)
    w.u8(CAUSES.indexOf(cause))
    blockRefCodec.write(w, head)
    w.varuint(head.time)
    writeTime(w, head.startTime)
    w.varuint(finalNumber)
  }

  /** Starts a change; the caller then writes the complete record. For candles, all of a pair at once. */
  next(type: Change['type']): ByteWriter {
    this.#w.u8(TYPE[type])
    return this.#w
  }

  /** The message, as a copy that the next one does not overwrite. */
  finish(): Uint8Array {
    this.#w.u8(END)
    return this.#w.finish()
  }
}
