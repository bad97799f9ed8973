import type { Change, ChangeSet } from '../domain/change.ts'
import { ByteWriter } from './byte-writer.ts'
import { CAUSES, CHANGES_VERSION, END, TYPE } from './change-type.ts'
import { writeBlockRef } from './envelope-codec.ts'
import { writeTime } from './field-codec.ts'

/** All of a change set but its changes. */
export type ChangeSetHead = Omit<ChangeSet, 'changes'>

/**
 * A CHANGES message in the making. Whoever has something to tell appends its record where it stands, so a change is no
 * object on its way. One writer serves all messages: it has grown to their size.
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
    writeBlockRef(w, head)
    w.varuint(head.time)
    writeTime(w, head.startTime)
    w.varuint(finalNumber)
  }

  /** Begins a change; its record is to be written next, whole. Of candles, all of a pair at once. */
  next(type: Change['type']): ByteWriter {
    this.#w.u8(TYPE[type])
    return this.#w
  }

  /** The message, as a copy that the next one cannot touch. */
  finish(): Uint8Array {
    this.#w.u8(END)
    return this.#w.finish()
  }
}
