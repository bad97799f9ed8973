import type { LaunchFact } from '../../../domain/envelope.ts'
import { ChaintapeError } from '../../../domain/errors.ts'
import type { PastLaunch } from '../../../domain/found-launch.ts'
import type { Logger } from '../../../lib/logger.ts'
import type { MetBlock } from '../../facts/block-facts.ts'
import { RpcFailure } from '../../rpc/rpc-failure.ts'
import type { Header } from '../../source.ts'
import { invalid, shaped, toIndex } from '../proof/block-logs.ts'
import type { EvmNodes } from '../rpc/rpc.ts'

export type PastLaunchParts = {
  /** From the index of creation events. */
  readonly launchOf: (token: string) => PastLaunch | undefined
  readonly nodes: Pick<EvmNodes, 'verified'>
  readonly logger: Logger
}

type Failure = { readonly type: 'failure'; readonly token: string; readonly error: Error }

export type LaunchAnswers = { readonly facts: readonly LaunchFact[]; readonly failures: readonly Failure[] }

/** The others have their turn at their next event. */
const MAX_LAUNCHES_PER_BLOCK = 32
const MAX_TIMES = 10_000
const RETRY_BLOCKS = 4_096
const MAX_FAILED = 100_000

/**
 * Launches from before the log began, as facts: with the first block that mentions a token, or with the token's next event
 * if the scan had not come so far by then.
 */
export class PastLaunches {
  readonly #parts: PastLaunchParts
  /** By block number. These blocks are older than the log, and a block is asked about in advance. */
  readonly #times = new Map<number, number>()
  /** Tokens whose launch could not be read, with the block from which on it is tried again. */
  readonly #failed = new Map<string, number>()

  constructor(parts: PastLaunchParts) {
    this.#parts = parts
  }

  /** Changes no later answer: `learn` does. */
  async ask(met: MetBlock): Promise<LaunchAnswers> {
    const found = this.#launchesIn(met).slice(0, MAX_LAUNCHES_PER_BLOCK)
    const answers = await Promise.all(found.map(([token, launch]) => this.#factOf(token, launch, met.block)))
    const facts = answers.filter((answer) => answer?.type === 'launch')
    return { facts, failures: answers.filter((answer) => answer?.type === 'failure') }
  }

  /** A node without old headers must not stop the chain, so these tokens are tried again later. */
  learn({ failures }: LaunchAnswers, { number }: Header): void {
    if (this.#failed.size >= MAX_FAILED) this.#failed.clear()
    for (const { token, error } of failures) {
      this.#failed.set(token, number + RETRY_BLOCKS)
      this.#parts.logger.warn({ err: error, token }, 'Launch of an older token could not be read')
    }
  }

  #launchesIn({ block, tokens, transactions, known }: MetBlock): [string, PastLaunch][] {
    const mentioned = new Set(tokens)
    for (const { logs } of transactions)
      for (const { address } of logs) if (known.knowsToken(address)) mentioned.add(address)
    return [...mentioned].flatMap((token): [string, PastLaunch][] => {
      if (known.knowsLaunch?.(token) || (this.#failed.get(token) ?? 0) > block.number) return []
      const launch = this.#parts.launchOf(token)
      return launch === undefined ? [] : [[token, launch]]
    })
  }

  async #factOf(
    token: string,
    { factory, createdIn, graduatedIn }: PastLaunch,
    block: Header,
  ): Promise<LaunchFact | Failure | undefined> {
    // An index from an earlier log may reach beyond this block. The log's own events report the rest.
    const isPast = (number: number | undefined): number is number =>
      number !== undefined && number < block.number
    const events = [createdIn, graduatedIn].filter(isPast)
    if (events.length === 0) return undefined
    try {
      const [createdAt, graduatedAt] = await Promise.all([
        isPast(createdIn) ? this.#timeOf(createdIn, block) : undefined,
        isPast(graduatedIn) ? this.#timeOf(graduatedIn, block) : undefined,
      ])
      return { type: 'launch', address: token, factory, block: Math.min(...events), createdAt, graduatedAt }
    } catch (error) {
      if (!(error instanceof ChaintapeError || error instanceof RpcFailure)) throw error
      return { type: 'failure', token, error }
    }
  }

  async #timeOf(number: number, later: Header): Promise<number> {
    const known = this.#times.get(number)
    if (known !== undefined && known <= later.time) return known
    const time = await this.#parts.nodes.verified(async (node) => {
      const header = await node.blockByNumber(number)
      if (header === null) throw invalid(`the node lacks block ${number}, of which it has logs`)
      const found = shaped(() => toIndex(header.timestamp))
      if (found > later.time) throw invalid(`block ${number} has a later time than block ${later.number}`)
      return found
    })
    if (this.#times.size >= MAX_TIMES) this.#times.clear()
    this.#times.set(number, time)
    return time
  }
}
