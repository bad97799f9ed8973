/** Messages share blocks of this size; one that is larger than a quarter has memory of its own. */
const BLOCK_BYTES = 4 * 1_024 * 1_024
const LARGE_BYTES = BLOCK_BYTES / 4
/** Blocks that wait to be used again. */
const MAX_SPARE = 2

type Block = { readonly bytes: Uint8Array; used: number; kept: number }

/**
 * Keeps messages for some seconds and forgets them in the order they came. Left to the garbage collector they would be old by
 * then: memory of such is only given back by a collection of everything, and a busy gateway takes in so much
 * that it would have one every other second. So the memory of what is forgotten is used again.
 */
export class MessageMemory {
  /** Oldest first; what comes is put into the last. */
  readonly #blocks: Block[] = []
  readonly #spare: Block[] = []

  /** A copy. Once it is forgotten it must not be looked at: it may be another message by then. */
  keep(message: Uint8Array): Uint8Array {
    const block = this.#blockFor(message.length)
    const copy = block.bytes.subarray(block.used, block.used + message.length)
    copy.set(message)
    block.used += message.length
    block.kept++
    return copy
  }

  forgetOldest(): void {
    const [block] = this.#blocks
    if (block === undefined) throw new RangeError('no block is allocated')
    if (--block.kept > 0) return
    this.#blocks.shift()
    block.used = 0
    if (this.#spare.length < MAX_SPARE && block.bytes.length === BLOCK_BYTES) this.#spare.push(block)
  }

  #blockFor(length: number): Block {
    const last = this.#blocks.at(-1)
    if (last !== undefined && last.used + length <= last.bytes.length) return last
    const isLarge = length > LARGE_BYTES
    const spare = isLarge ? undefined : this.#spare.pop()
    const block = spare ?? { bytes: new Uint8Array(isLarge ? length : BLOCK_BYTES), used: 0, kept: 0 }
    this.#blocks.push(block)
    return block
  }
}
