import {
  chainOfStored,
  type FoldedChain,
  type Generation,
  isFoldable,
  storedName,
} from '../domain/generation.ts'
import type { Generations } from '../log/generations.ts'

/** The generations that are folded and written now, by their stored names. */
export class LiveGenerations {
  readonly #generations: Pick<Generations, 'of'>

  constructor(generations: Pick<Generations, 'of'>) {
    this.#generations = generations
  }

  /** Stored names, the served one first. Undefined if the chain's entry cannot be read. */
  namesOf(chain: string): string[] | undefined {
    return this.#read(chain)?.map((generation) => storedName(chain, generation))
  }

  /** Undefined if the generation does not exist any more. Throws if the chain's entry cannot be read. */
  find(stored: string): FoldedChain | undefined {
    const chain = chainOfStored(stored)
    const { serving, building, retiring } = this.#generations.of(chain)
    const generation = [serving, building, retiring].find(
      (each) => each !== undefined && storedName(chain, each) === stored,
    )
    return generation && { chain, generation }
  }

  isServed(stored: string): boolean {
    const chain = chainOfStored(stored)
    const [serving] = this.#read(chain) ?? []
    return serving === undefined || storedName(chain, serving) === stored
  }

  /** The name in metrics and reports: the chain's own for the generation that is served. */
  labelOf(stored: string): string {
    if (this.isServed(stored)) return chainOfStored(stored)
    return stored.includes('@') ? stored : `${stored}@1`
  }

  #read(chain: string): Generation[] | undefined {
    try {
      const { serving, building, retiring } = this.#generations.of(chain)
      const isRetired = retiring === undefined || retiring.until * 1_000 <= Date.now()
      const all = [serving, building, isRetired ? undefined : retiring].filter((each) => each !== undefined)
      return all.filter(isFoldable)
    } catch {
      // Logged when it was read, and again by each run, which `find` stops.
      return undefined
    }
  }
}
