import type { ChainSource, Header, KnownFacts } from '../../src/chain/source.ts'
import type { BlockRef, Fact, RawTransaction } from '../../src/domain/envelope.ts'
import { ChaintapeError } from '../../src/domain/errors.ts'
import type { Random } from '../fuzz/random.ts'
import { type SimChain, transactionsOf, type View } from './sim-chain.ts'
import type { VirtualClock } from './virtual-clock.ts'

/** How likely it is that something is not as it should be. */
export type NodeTrouble = {
  /** A request fails. */
  failing: number
  /** A question is answered by a node that is behind, or still on a branch that was left. */
  behind: number
  /** A block that is there is not found. */
  gap: number
  /** Blocks of branches that were left are not kept. */
  forgetful: boolean
}

export const CALM: Readonly<NodeTrouble> = { failing: 0, behind: 0, gap: 0, forgetful: false }

/**
 * A provider's nodes behind one address. Answers take a while, come back in any order, and are made some time
 * before they arrive; each may come from another node than the one before.
 */
export class SimNode {
  trouble: NodeTrouble = { ...CALM }
  readonly #clock: VirtualClock
  readonly #random: Random
  readonly #chain: SimChain
  readonly #latencyMs: number
  #missing: { from: number; to: number; until: number } | undefined
  #downUntil = 0

  constructor(clock: VirtualClock, random: Random, chain: SimChain, latencyMs: number) {
    this.#clock = clock
    this.#random = random
    this.#chain = chain
    this.#latencyMs = latencyMs
  }

  goDown(ms: number): void {
    this.#downUntil = this.#clock.now + ms
  }

  /** For a while these blocks are not found, although the head is above them. */
  lose(from: number, to: number, ms: number): void {
    this.#missing = { from, to, until: this.#clock.now + ms }
  }

  /** What a reader sees of it: nothing more, once the reader is dead. */
  source(isAlive: () => boolean): ChainSource {
    const ask = <T>(answer: (view: View) => T): Promise<T> => this.#ask(isAlive, answer)
    return {
      head: () => ask(({ blocks, length }) => blocks[length - 1] as Header),
      headerAt: (number) => ask((view) => (this.#isGone(number) ? undefined : this.#chain.at(view, number))),
      headerOf: (hash) => ask(() => this.#find(hash)),
      finalised: () => ask((view) => this.#finalised(view)),
      transactions: (block) =>
        ask(() => {
          if (this.#find(block.hash) === undefined) throw invalid(`block ${block.hash} is not known any more`)
          return transactionsOf(block)
        }),
    }
  }

  /** Asks for pools that are new, as the real one does: with a request that takes time and may fail. */
  gather(isAlive: () => boolean) {
    return async (_block: Header, transactions: readonly RawTransaction[], known: KnownFacts) => {
      const isNew = (address: string): boolean => !known.knowsPool(address)
      const pools = poolsOf(transactions).filter(isNew)
      const facts = pools.length === 0 ? [] : await this.#ask(isAlive, () => pools.map(poolFact))
      return { transactions: [...transactions], facts }
    }
  }

  #ask<T>(isAlive: () => boolean, answer: (view: View) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const arrive = (deliver: () => void): void => {
        this.#clock.after(this.#travel(), () => {
          if (isAlive()) deliver()
        })
      }
      this.#clock.after(this.#travel(), () => {
        if (!isAlive()) return
        try {
          const { failing, behind } = this.trouble
          if (this.#clock.now < this.#downUntil || this.#random.chance(failing)) {
            throw new ChaintapeError('node_unavailable', 'as simulated')
          }
          const view = this.#random.chance(behind) ? this.#chain.formerView() : this.#chain.view
          const result = answer(view)
          arrive(() => resolve(result))
        } catch (error) {
          arrive(() => reject(error))
        }
      })
    })
  }

  #finalised(view: View): BlockRef | undefined {
    // A lagging node returns an older one.
    const newest = (view.blocks[view.length - 1] as Header).number
    return this.#chain.at(view, Math.min(this.#chain.final, newest))
  }

  #find(hash: string): Header | undefined {
    const found = this.#chain.byHash(hash)
    if (found === undefined || this.#isGone(found.number)) return undefined
    return this.trouble.forgetful && !this.#chain.isCanonical(found) ? undefined : found
  }

  #isGone(number: number): boolean {
    if (this.#random.chance(this.trouble.gap)) return true
    const missing = this.#missing
    if (missing === undefined || this.#clock.now >= missing.until) return false
    return number >= missing.from && number <= missing.to
  }

  #travel(): number {
    return this.#random.below(this.#latencyMs)
  }
}

export function poolsOf(transactions: readonly RawTransaction[]): string[] {
  return [...new Set(transactions.flatMap(({ logs }) => logs.map(({ address }) => address)))]
}

export function poolFact(address: string): Fact {
  const tokens = [`${address}a0`, `${address}a1`]
  return {
    type: 'pool',
    address,
    factory: `${address}f0`,
    tokens,
    pricing: { kind: 'reserves' },
    reservesBefore: undefined,
  }
}

function invalid(reason: string): ChaintapeError {
  return new ChaintapeError('node_answer_invalid', reason)
}
