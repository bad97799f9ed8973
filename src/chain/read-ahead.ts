import type { RawTransaction } from '../domain/envelope.ts'
import type { ChainSource, Header } from './source.ts'

export type FetchedBlock = { readonly header: Header; readonly transactions: readonly RawTransaction[] }

type Fetching = Promise<FetchedBlock | undefined>

/**
 * Fetches blocks several at a time and hands them out one by one, in order. Nothing is concluded here: whether
 * a block links up is looked at when it is taken, so history and head go through the same code.
 */
export class ReadAhead {
  readonly #source: Pick<ChainSource, 'headerAt' | 'transactions'>
  readonly #width: number
  readonly #fetching = new Map<number, Fetching>()

  constructor(source: Pick<ChainSource, 'headerAt' | 'transactions'>, width: number) {
    this.#source = source
    this.#width = width
  }

  /** The block at `number`, while those after it, up to `last`, are already on their way. */
  async take(number: number, last: number): Fetching {
    for (const older of this.#fetching.keys()) if (older < number) this.#fetching.delete(older)
    const end = Math.min(last, number + this.#width - 1)
    for (let next = number; next <= end; next++) {
      if (!this.#fetching.has(next)) this.#fetching.set(next, this.#fetch(next))
    }
    const wanted = this.#fetching.get(number)
    this.#fetching.delete(number)
    try {
      return await wanted
    } catch (error) {
      this.clear()
      throw error
    }
  }

  /** Forgets what was fetched: after a fork it may be of a branch that is no more. */
  clear(): void {
    this.#fetching.clear()
  }

  #fetch(number: number): Fetching {
    const fetching = (async () => {
      const header = await this.#source.headerAt(number)
      return header === undefined
        ? undefined
        : { header, transactions: await this.#source.transactions(header) }
    })()
    // A failure counts when its block is taken; until then nobody is waiting for it.
    fetching.catch(() => undefined)
    return fetching
  }
}
