import type { Header } from '../../src/chain/source.ts'
import type { RawTransaction } from '../../src/domain/envelope.ts'
import type { Random } from '../fuzz/random.ts'

/** A chain as one of a provider's nodes has it: the first `length` of these blocks. */
export type View = { readonly blocks: readonly Header[]; readonly length: number }

/** How many former views there are that a node may still have. */
const REMEMBERED_VIEWS = 8

/**
 * All blocks that ever were, which of them are canonical now, and which are final. It forks at random, but as a
 * chain may: never below what is final, nor below where the log starts.
 */
export class SimChain {
  readonly first: number
  final: number
  /** The highest block there ever was, on any branch. */
  highest = 0
  readonly #random: Random
  readonly #known = new Map<string, Header>()
  #blocks: Header[] = []
  #former: View[] = []
  #branch = 0

  constructor(random: Random, first: number) {
    this.#random = random
    this.first = first
    this.final = -1
    this.#push()
  }

  /** Every chain has a block before the one that is wanted first, if that is not the very first one. */
  get base(): number {
    return Math.max(0, this.first - 1)
  }

  get tip(): Header {
    return this.#blocks.at(-1) as Header
  }

  get view(): View {
    return { blocks: this.#blocks, length: this.#blocks.length }
  }

  /** The canonical blocks that a log which starts at `first` should hold. */
  wanted(): readonly Header[] {
    return this.#blocks.filter(({ number }) => number >= this.first)
  }

  formerView(): View {
    return this.#former.length === 0 ? this.view : this.#random.pick(this.#former)
  }

  at({ blocks, length }: View, number: number): Header | undefined {
    const at = number - this.base
    return at < length ? blocks[at] : undefined
  }

  byHash(hash: string): Header | undefined {
    return this.#known.get(hash)
  }

  isCanonical({ number, hash }: Header): boolean {
    return this.at(this.view, number)?.hash === hash
  }

  mine(count: number): void {
    this.#remember()
    for (let mined = 0; mined < count; mined++) this.#push()
  }

  /** How many of the newest blocks may be replaced. */
  undoable(): number {
    return this.tip.number - Math.max(this.final, this.base)
  }

  /** Leaves the newest `depth` blocks for `count` others; that may make the chain shorter. */
  fork(depth: number, count: number): void {
    this.#remember()
    this.#branch += 1
    this.#blocks = this.#blocks.slice(0, this.#blocks.length - depth)
    for (let mined = 0; mined < count; mined++) this.#push()
  }

  /** Makes an abandoned branch canonical again; returns whether there was one. */
  returnToFormer(): boolean {
    const { blocks, length } = this.formerView()
    const tip = blocks[length - 1] as Header
    if (tip.hash === this.tip.hash || tip.number < this.final) return false
    this.#remember()
    this.#branch += 1
    this.#blocks = blocks.slice(0, length)
    return true
  }

  /** Nothing at or below `number` is replaced from now on, and no node is so far behind that it has other blocks. */
  finalise(number: number): void {
    this.final = Math.max(this.final, Math.min(number, this.tip.number))
    this.#former = this.#former.filter((view) => {
      const shared = Math.min(this.final, (view.blocks[view.length - 1] as Header).number)
      return this.at(view, shared)?.hash === this.at(this.view, shared)?.hash
    })
  }

  #remember(): void {
    this.#former.push(this.view)
    if (this.#former.length > REMEMBERED_VIEWS) this.#former.shift()
  }

  #push(): void {
    const tip = this.#blocks.at(-1)
    const number = tip === undefined ? this.base : tip.number + 1
    const hash = hashOf(number, this.#branch)
    const header = { number, hash, parentHash: tip?.hash ?? hashOf(number - 1, 0), time: 1_000 + number }
    this.#blocks.push(header)
    this.#known.set(hash, header)
    this.highest = Math.max(this.highest, number)
  }
}

function hashOf(number: number, branch: number): string {
  return `0x${branch.toString(16).padStart(32, '0')}${(number + 1).toString(16).padStart(32, '0')}`
}

/** The contents of a block: different in every one, and derived from its hash alone. */
export function transactionsOf({ number, hash }: Header): RawTransaction[] {
  const mixed =
    Math.imul(number + 1, 0x9e3779b1) ^ Math.imul(Number.parseInt(hash.slice(2, 34), 16) + 1, 0x85ebca6b)
  const count = (mixed >>> 3) % 3
  return Array.from({ length: count }, (_, index) => {
    const pool = (mixed >>> (5 + 4 * index)) % 13
    const address = `0x${pool.toString(16).padStart(40, '0')}`
    const log = { index, address, topics: [hash], data: Uint8Array.of(index, pool) }
    return { index, hash: `${hash.slice(0, -2)}f${index}`, from: address, logs: [log] }
  })
}
