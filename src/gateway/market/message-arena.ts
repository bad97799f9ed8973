/** Messages share blocks of this size; one that is larger than a quarter has a block of its own. */
const BLOCK_BYTES = 4 * 1_024 * 1_024
const LARGE_BYTES = BLOCK_BYTES / 4
/** Freed blocks that wait for reuse. */
const MAX_SPARE = 2
/** Written over freed messages in tests: no codec takes a message of these bytes, so a use after free fails at once. */
const POISON = 0xff

type Block = { readonly bytes: Uint8Array; used: number; live: number }

/**
 * An arena for messages that live for seconds and are freed in the order they came. The garbage collector would promote them to
 * the old space, and a busy gateway would then need a major GC every other second.
 */
export class MessageArena {
  /** Oldest first; the last one has room. */
  readonly #blocks: Block[] = []
  readonly #spare: Block[] = []
  /** Oldest first; undefined where freed messages are not poisoned. */
  readonly #live: Uint8Array[] | undefined

  constructor(isPoisoned = process.env['POISON_FREED_MEMORY'] === '1') {
    this.#live = isPoisoned ? [] : undefined
  }

  /** A copy. Do not read it after it was freed: it may hold another message then. */
  copy(message: Uint8Array): Uint8Array {
    const block = this.#blockFor(message.length)
    const copy = block.bytes.subarray(block.used, block.used + message.length)
    copy.set(message)
    block.used += message.length
    block.live++
    this.#live?.push(copy)
    return copy
  }

  freeOldest(): void {
    const [block] = this.#blocks
    if (block === undefined) throw new RangeError('no block is allocated')
    this.#live?.shift()?.fill(POISON)
    if (--block.live > 0) return
    this.#blocks.shift()
    block.used = 0
    if (this.#spare.length < MAX_SPARE && block.bytes.length === BLOCK_BYTES) this.#spare.push(block)
  }

  #blockFor(length: number): Block {
    const last = this.#blocks.at(-1)
    if (last !== undefined && last.used + length <= last.bytes.length) return last
    const isLarge = length > LARGE_BYTES
    const spare = isLarge ? undefined : this.#spare.pop()
    const block = spare ?? { bytes: new Uint8Array(isLarge ? length : BLOCK_BYTES), used: 0, live: 0 }
    this.#blocks.push(block)
    return block
  }
}
