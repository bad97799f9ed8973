import type { ChainSource, Header } from '../../../src/chain/source.ts'
import type { BlockRef, RawTransaction } from '../../../src/domain/envelope.ts'
import { ChaintapeError } from '../../../src/domain/errors.ts'

/**
 * A node in memory that forks, lags and fails on command. It has a block before the first one that is
 * read, as every chain has, and keeps the blocks of branches it left.
 */
export class ScriptedChain implements ChainSource {
  readonly first: number
  calls = 0
  readonly #known = new Map<string, Header>()
  readonly #due = new Map<number, () => void>()
  #chain: Header[] = []
  #branch = 0
  #final: number | undefined
  #everFinal = 0
  #lower = 0
  #skipped = 0
  readonly #toHash: (name: string) => string

  /** `toHash` makes the hash of a block from its number and branch. */
  constructor(first: number, toHash: (name: string) => string = (name) => name) {
    this.first = first
    this.#toHash = toHash
    this.#start()
  }

  get tip(): Header {
    return this.#chain.at(-1) as Header
  }

  /** The canonical chain, without a call. */
  headers(): readonly Header[] {
    return this.#chain
  }

  /** The canonical chain up to the head that it reports, without a call. */
  reported(): readonly Header[] {
    return this.#chain.slice(0, Math.max(1, this.#chain.length - this.#lower))
  }

  /** The final block, without a call. */
  get final(): Header | undefined {
    return this.#chain.find(({ number }) => number === this.#final)
  }

  hashes(): string[] {
    return this.#chain.filter(({ number }) => number >= this.first).map(({ hash }) => hash)
  }

  mine(count: number): void {
    for (let mined = 0; mined < count; mined++) this.#push(this.tip.number + 1, this.tip.hash)
  }

  /** Blocks are a second apart; before the next one so many more pass. */
  skipSeconds(count: number): void {
    this.#skipped += count
  }

  /** Leaves the newest `depth` blocks for `count` others. */
  fork(depth: number, count: number): void {
    this.#branch += 1
    this.#chain.length -= depth
    this.mine(count)
  }

  /** How many blocks a fork may replace. */
  undoable(): number {
    return this.tip.number - Math.max(this.#everFinal, this.first - 1)
  }

  returnTo(tip: BlockRef): void {
    const branch: Header[] = []
    for (let at = this.#known.get(tip.hash); at !== undefined; at = this.#known.get(at.parentHash))
      branch.unshift(at)
    this.#branch += 1
    this.#chain = branch
  }

  /** Another chain altogether, with not a block in common. */
  replaceAll(count: number): void {
    this.#branch += 1
    this.#start()
    this.mine(count)
  }

  finalise(number: number): void {
    this.#final = number
    this.#everFinal = Math.max(this.#everFinal, number)
  }

  /** From now on it reports a lower head than it has. */
  reportLower(by: number): void {
    this.#lower = by
  }

  /** Runs `change` right before the answer to the call of this number, counted from now. */
  at(call: number, change: () => void): void {
    this.#due.set(this.calls + call, change)
  }

  failAt(call: number): void {
    this.at(call, () => this.failNow())
  }

  failNow(): void {
    throw new ChaintapeError('node_unavailable', 'as scripted')
  }

  async head(): Promise<Header> {
    this.#called()
    return this.#chain.at(-1 - this.#lower) ?? (this.#chain[0] as Header)
  }

  async headerAt(number: number): Promise<Header | undefined> {
    this.#called()
    return this.#chain.find((header) => header.number === number)
  }

  async headerOf(hash: string): Promise<Header | undefined> {
    this.#called()
    return this.#known.get(hash)
  }

  async finalised(): Promise<BlockRef | undefined> {
    this.#called()
    return this.#chain.find(({ number }) => number === this.#final)
  }

  async transactions(block: Header): Promise<RawTransaction[]> {
    this.#called()
    if (!this.#known.has(block.hash)) throw new ChaintapeError('node_answer_invalid', 'no such block')
    return []
  }

  #called(): void {
    this.calls += 1
    this.#due.get(this.calls)?.()
  }

  #start(): void {
    this.#chain = []
    this.#push(Math.max(0, this.first - 1), this.#toHash(`before ${this.#branch}`))
  }

  #push(number: number, parentHash: string): void {
    const hash = this.#toHash(`${number}.${this.#branch}`)
    const header = { number, hash, parentHash, time: number + this.#skipped }
    this.#chain.push(header)
    this.#known.set(header.hash, header)
  }
}
