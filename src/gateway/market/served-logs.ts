import { ChaintapeError } from '../../domain/errors.ts'
import { type Generation, storedName } from '../../domain/generation.ts'
import type { ChainLog } from '../../log/chain-log.ts'
import type { Logs } from '../../log/connect.ts'
import type { Generations } from '../../log/generations.ts'

type Served = { readonly generation: Generation; readonly storedName: string }

/** Which generation of each chain is served, and the logs of the generations. */
export class ServedLogs {
  readonly #served = new Map<string, Served>()
  /** By stored name. */
  readonly #opened = new Map<string, ChainLog>()
  readonly #generations: Pick<Generations, 'of'>
  readonly #logs: Pick<Logs, 'openChanges'>

  private constructor(generations: Pick<Generations, 'of'>, logs: Pick<Logs, 'openChanges'>) {
    this.#generations = generations
    this.#logs = logs
  }

  /** Begins with the generations that the record names. */
  static async open(
    chains: readonly string[],
    generations: Pick<Generations, 'of'>,
    logs: Pick<Logs, 'openChanges'>,
  ): Promise<ServedLogs> {
    const served = new ServedLogs(generations, logs)
    for (const chain of chains) {
      const { serving } = generations.of(chain)
      await served.open(chain, serving)
      served.serve(chain, serving)
    }
    return served
  }

  /** The log of a generation, opened again: it may have been recreated. */
  async open(chain: string, generation: Generation): Promise<ChainLog> {
    const log = await this.#logs.openChanges(chain, generation)
    this.#opened.set(storedName(chain, generation), log)
    return log
  }

  /** From here on, this generation is the served one; its log is open. */
  serve(chain: string, generation: Generation): void {
    this.#served.set(chain, { generation, storedName: storedName(chain, generation) })
  }

  generationOf(chain: string): Generation {
    return this.#of(chain).generation
  }

  /** The name of the served generation in the stores. */
  storedNameOf(chain: string): string {
    return this.#of(chain).storedName
  }

  /** The log of the served generation. */
  get(chain: string): ChainLog {
    const log = this.#opened.get(this.storedNameOf(chain))
    if (log === undefined) throw new ChaintapeError('internal', `the log of chain ${chain} is not open`)
    return log
  }

  /** The log with this epoch, if it is of a generation that the record names and that may have been served. */
  async ofEpoch(chain: string, epoch: string): Promise<ChainLog | undefined> {
    const own = this.get(chain)
    if (own.epoch === epoch) return own
    const { serving, retiring } = this.#generations.of(chain)
    const isThere = retiring !== undefined && retiring.until > Date.now() / 1_000
    for (const generation of isThere ? [serving, retiring] : [serving]) {
      const log = this.#opened.get(storedName(chain, generation)) ?? (await this.open(chain, generation))
      if (log.epoch === epoch) return log
    }
    return undefined
  }

  #of(chain: string): Served {
    const served = this.#served.get(chain)
    if (served === undefined) throw new ChaintapeError('internal', `chain ${chain} is not served`)
    return served
  }
}
