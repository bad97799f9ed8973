import type { Header } from '../source.ts'
import type { SolanaNode } from './rpc.ts'
import { invalid } from './rpc-answer.ts'

/** A header with its slot. Its number is the height, because slots are skipped. */
export type SlotHeader = Header & { readonly slot: number; readonly parentSlot: number }

/** The slot of a header that a source of Solana returned. */
export function slotOf(header: Header): number | undefined {
  return 'slot' in header && typeof header.slot === 'number' ? header.slot : undefined
}

/** A block by both of its numbers. */
export type Place = { readonly slot: number; readonly height: number }

/** Slots listed by one request. */
const LISTED = 1_000
const MAX_KNOWN = 16 * LISTED
/** Each step comes closer by all but the skipped slots, so far fewer are needed. */
const MAX_STEPS = 40
/** Going down, the estimate aims lower by this part, because skipped slots make the distance longer. */
const SKIPPED_PART = 0.25

/**
 * The slots of block heights. A node finds blocks by slot only, but slots are skipped, while heights count the blocks
 * that exist. What is known here is a hint: the block itself has to confirm its height.
 */
export class Slots {
  /** By height, oldest entry first. */
  readonly #known = new Map<number, number>()

  learn({ slot, height }: Place): void {
    if (this.#known.get(height) === slot) return
    this.#known.delete(height)
    this.#known.set(height, slot)
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MAX_KNOWN) break
      this.#known.delete(oldest)
    }
  }

  /** Drops everything: after a fork, other slots may have these heights. */
  clear(): void {
    this.#known.clear()
  }

  /** Undefined if the chain has not come to this height. `placeAt` reads the block of a slot, `head` the newest. */
  async find(
    node: Pick<SolanaNode, 'blocksFrom'>,
    height: number,
    parts: { placeAt(slot: number): Promise<Place | undefined>; head(): Promise<Place> },
  ): Promise<number | undefined> {
    const known = this.#known.get(height)
    if (known !== undefined) return known
    const below = this.#nearestBelow(height) ?? (await this.#search(node, height, parts))
    if (below === undefined) return undefined
    const slots = await node.blocksFrom(below.slot, LISTED + 1)
    slots.forEach((slot, nth) => {
      this.learn({ slot, height: below.height + nth })
    })
    return slots[height - below.height]
  }

  #nearestBelow(height: number): Place | undefined {
    for (let each = height - 1; each >= height - LISTED; each--) {
      const slot = this.#known.get(each)
      if (slot !== undefined) return { slot, height: each }
    }
    return undefined
  }

  /** A block at most `LISTED` heights below. */
  async #search(
    node: Pick<SolanaNode, 'blocksFrom'>,
    height: number,
    { placeAt, head }: { placeAt(slot: number): Promise<Place | undefined>; head(): Promise<Place> },
  ): Promise<Place | undefined> {
    let place = await head()
    if (place.height < height) return undefined
    for (let step = 0; step < MAX_STEPS; step++) {
      const distance = height - place.height
      if (distance >= 0 && distance <= LISTED) return place
      // A height takes at least one slot, so going up by as many slots never goes too far.
      const wanted =
        distance > 0
          ? place.slot + distance
          : place.slot + Math.floor(distance * (1 + SKIPPED_PART)) - LISTED / 2
      const [slot] = await node.blocksFrom(Math.max(0, wanted), 1)
      const found = slot === undefined ? undefined : await placeAt(slot)
      if (found === undefined) return undefined
      place = found
    }
    throw invalid(`no slot has height ${height}`)
  }
}
