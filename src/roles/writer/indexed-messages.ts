import { ChaintapeError } from '../../domain/errors.ts'
import { blameMessage, type MessagePlace } from '../../domain/quarantine.ts'
import type { LogMessage } from '../../log/chain-log.ts'
import { type ChangeSetIndex, indexChangeSet } from '../../wire/change-index.ts'

/**
 * Two stores follow one log, mostly within milliseconds of each other: what the first has indexed is kept for the second.
 * What nobody else came for makes room, oldest first.
 */
export class IndexedMessages {
  readonly #chain: string
  /** Changes that may be kept. */
  readonly #room: number
  readonly #kept = new Map<number, ChangeSetIndex>()
  #size = 0

  constructor(chain: string, room: number) {
    this.#chain = chain
    this.#room = room
  }

  index({ body, position }: LogMessage): ChangeSetIndex {
    const known = this.#kept.get(position.seq)
    if (known !== undefined) {
      this.#forget(position.seq, known)
      return known
    }
    const set = blameMessage(placeOf(this.#chain, position.seq), () => indexChangeSet(body))
    if (set.chain !== this.#chain) {
      throw new ChaintapeError(
        'diverged',
        `CHANGES of chain ${this.#chain} holds a message of chain ${set.chain}`,
      )
    }
    this.#kept.set(position.seq, set)
    this.#size += sizeOf(set)
    for (const [seq, oldest] of this.#kept) {
      if (this.#size <= this.#room) break
      this.#forget(seq, oldest)
    }
    return set
  }

  #forget(seq: number, set: ChangeSetIndex): void {
    this.#kept.delete(seq)
    this.#size -= sizeOf(set)
  }
}

export function placeOf(chain: string, sequence: number): MessagePlace {
  return { chain, log: 'CHANGES', sequence }
}

/** A message without changes takes its place in a batch, too. */
export function sizeOf({ count }: ChangeSetIndex): number {
  return Math.max(1, count)
}
