import { invalid } from '../rpc-answer.ts'
import type { SlotHeader } from '../slots.ts'
import type { LiveBlock } from './decode-block.ts'

export type WindowLimits = { readonly blocks: number; readonly bytes: number }

/** Finality takes about 32 slots, and a fork cannot go deeper. */
const DEFAULT_LIMITS: WindowLimits = { blocks: 256, bytes: 128 * 1024 * 1024 }

/** The recent blocks of one stream, without a gap. What it does not have is read by JSON-RPC. */
export class BlockWindow {
  readonly #limits: WindowLimits
  /** Oldest first, with the blocks of branches that were left. */
  readonly #known = new Map<string, LiveBlock>()
  readonly #canonical = new Map<number, LiveBlock>()
  #head: LiveBlock | undefined
  #final: SlotHeader | undefined
  #bytes = 0

  constructor(limits: WindowLimits = DEFAULT_LIMITS) {
    this.#limits = limits
  }

  get head(): SlotHeader | undefined {
    return this.#head?.header
  }

  /** The newest block that can no longer be undone. */
  get final(): SlotHeader | undefined {
    return this.#final
  }

  get size(): number {
    return this.#known.size
  }

  get bytes(): number {
    return this.#bytes
  }

  /** The block of the current branch at this height. */
  at(number: number): LiveBlock | undefined {
    return this.#canonical.get(number)
  }

  of(hash: string): LiveBlock | undefined {
    return this.#known.get(hash)
  }

  /** A block whose parent is not here begins a new window. A repeated one changes nothing. */
  add(block: LiveBlock): void {
    const { header } = block
    const known = this.#known.get(header.hash)
    if (known !== undefined && this.at(header.number) === known) return
    const parent = this.#known.get(header.parentHash)
    if (parent !== undefined) expectLink(parent.header, header)
    else this.clear()
    const kept = this.#known.get(header.hash) ?? block
    if (kept === block) {
      this.#known.set(header.hash, block)
      this.#bytes += block.bytes
    }
    this.#lead(kept)
    this.#evict()
  }

  finalise(slot: number): void {
    for (let at = this.head; at !== undefined && at.slot >= slot; at = this.at(at.number - 1)?.header) {
      if (at.slot === slot && at.number > (this.#final?.number ?? -1)) this.#final = at
    }
  }

  /** The cluster abandoned this slot, and with it everything on top. */
  abandon(slot: number): void {
    for (const { header } of this.#canonical.values()) {
      if (header.slot !== slot) continue
      const parent = this.#known.get(header.parentHash)
      if (parent === undefined) this.clear()
      else this.#lead(parent)
      return
    }
  }

  clear(): void {
    this.#known.clear()
    this.#canonical.clear()
    this.#head = undefined
    this.#final = undefined
    this.#bytes = 0
  }

  /** Makes a block the head, and its ancestors the current branch. */
  #lead(head: LiveBlock): void {
    for (let number = this.head?.number ?? -1; number > head.header.number; number--)
      this.#canonical.delete(number)
    for (let at = head; this.at(at.header.number) !== at; ) {
      const { number, parentHash } = at.header
      this.#canonical.set(number, at)
      const parent = this.#known.get(parentHash)
      // What is below was on another branch.
      if (parent === undefined)
        for (const each of [...this.#canonical.keys()]) if (each < number) this.#canonical.delete(each)
      if (parent === undefined) break
      at = parent
    }
    this.#head = head
    const final = this.#final
    if (final !== undefined && this.at(final.number)?.header !== final) this.#final = undefined
  }

  #evict(): void {
    for (const [hash, oldest] of this.#known) {
      const isFull = this.#known.size > this.#limits.blocks || this.#bytes > this.#limits.bytes
      if (!isFull || oldest === this.#head) return
      this.#known.delete(hash)
      this.#bytes -= oldest.bytes
      const { number } = oldest.header
      if (this.at(number) === oldest) this.#canonical.delete(number)
      if (this.#final === oldest.header) this.#final = undefined
    }
  }
}

function expectLink(parent: SlotHeader, child: SlotHeader): void {
  if (child.number !== parent.number + 1 || child.parentSlot !== parent.slot)
    throw invalid(`slot ${child.slot} does not link to its parent`)
}
