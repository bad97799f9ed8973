import { isDeepStrictEqual } from 'node:util'
import type { FoundPool } from '../../../dex/protocol.ts'
import type { DexRegistry } from '../../../dex/registry.ts'
import type { CreatedPool } from '../../../domain/created-pool.ts'
import type { PoolStateFact } from '../../../domain/envelope.ts'
import type { Asker } from '../../facts/asker.ts'
import { runInquiries } from '../../facts/pool-inquiries.ts'
import type { Header } from '../../source.ts'

/** Asks contracts for pools that the log does not have, and for their state. */
export class PoolQuestions {
  readonly #registry: DexRegistry

  constructor(registry: DexRegistry) {
    this.#registry = registry
  }

  /** The pools among these addresses. */
  async identify(asker: Asker, block: Header, ids: readonly string[]): Promise<CreatedPool[]> {
    const candidates = ids.length === 0 ? [] : this.#registry.candidatesAt(block.number)
    const asked = ids.flatMap((id) =>
      candidates.map(({ identify, deployments }) => ({ id, inquiry: identify(id, deployments) })),
    )
    const inquiries = asked.map(({ inquiry }) => inquiry)
    const answers = await runInquiries(asker, inquiries, block)
    const found = new Map<string, CreatedPool>()
    for (const [at, { id }] of asked.entries()) {
      const answer = answers[at]
      if (answer !== undefined && !found.has(id)) found.set(id, toCreatedPool(id, answer))
    }
    return [...found.values()]
  }

  /** How many contracts list pools by token. */
  listers({ number }: Header): number {
    const listing = this.#registry.candidatesAt(number).filter(({ findPools }) => findPools !== undefined)
    return listing.reduce((sum, { deployments }) => sum + deployments.length, 0)
  }

  /** Pools of these tokens, by the exchanges that list them by token. */
  async findPools(
    asker: Asker,
    block: Header,
    tokens: readonly string[],
    quoteAssets: readonly string[],
  ): Promise<CreatedPool[]> {
    const candidates = tokens.length === 0 ? [] : this.#registry.candidatesAt(block.number)
    const inquiries = tokens.flatMap((token) =>
      candidates.flatMap(({ findPools, deployments }) => findPools?.(token, quoteAssets, deployments) ?? []),
    )
    const found = (await runInquiries(asker, inquiries, block)).flatMap((pools) => pools ?? [])
    const pools = found.map(({ address, ...pool }) => toCreatedPool(address, pool))
    return [...new Map(pools.map((pool) => [pool.address, pool])).values()]
  }

  /** Asked twice: a node that is about to add a block may answer with the state after it. Undefined if there is none. */
  async states(
    asker: Asker,
    block: Header,
    pools: readonly CreatedPool[],
  ): Promise<(PoolStateFact | 'changing' | undefined)[]> {
    if (pools.length === 0) return []
    const read = async (): Promise<(PoolStateFact | undefined)[]> => {
      const asked = pools.flatMap((pool) => {
        const deployment = this.#registry.deploymentOf(pool.factory, block.number)
        const inquiry = deployment?.is.readState?.(pool, deployment)
        return inquiry === undefined ? [] : { pool, inquiry }
      })
      const inquiries = asked.map(({ inquiry }) => inquiry)
      const answers = await runInquiries(asker, inquiries, block)
      const states = new Map(asked.map(({ pool }, at) => [pool, answers[at]]))
      return pools.map((pool) => {
        const state = states.get(pool)
        return state === undefined ? undefined : { type: 'poolState', address: pool.address, ...state }
      })
    }
    const [first, second] = [await read(), await read()]
    return first.map((state, at) => (isDeepStrictEqual(state, second[at]) ? state : 'changing'))
  }
}

function toCreatedPool(address: string, { factory, tokens, pricing, goalRaw }: FoundPool): CreatedPool {
  return { address, factory, tokens, pricing, goalRaw, tickSpacing: undefined }
}
