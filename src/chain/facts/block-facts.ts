import type { DexRegistry } from '../../dex/registry.ts'
import type { CreatedPool } from '../../domain/created-pool.ts'
import type {
  Fact,
  PoolFact,
  PoolStateFact,
  RawLog,
  RawTransaction,
  TokenFact,
} from '../../domain/envelope.ts'
import type { Header, KnownFacts } from '../source.ts'
import type { Asker } from './asker.ts'
import { runInquiries } from './pool-inquiries.ts'
import { RecordedAnswers } from './recorded-answers.ts'

const MAX_FOREIGN_REMEMBERED = 100_000

/** A block, for the questions specific to a chain family. */
export type MetBlock = {
  readonly block: Header
  /** Tokens that were not known before. */
  readonly tokens: readonly string[]
  /** Only the relevant logs. */
  readonly transactions: readonly RawTransaction[]
  readonly known: KnownFacts
  /** Height of the chain. */
  readonly head: number
}

export type FamilyFacts<Lesson> = {
  readonly tokens: readonly TokenFact[]
  readonly others: readonly Fact[]
  /** State to update once the block is processed. */
  readonly lesson: Lesson
}

/** The facts of a block, and the state to update once it is processed. */
type Examined<Lesson> = {
  readonly transactions: RawTransaction[]
  readonly facts: Fact[]
  /** Unknown contracts that belong to no configured exchange. */
  readonly foreign: readonly string[]
  readonly lesson: Lesson
  readonly lookedUp: LookedUp
}

/** What clients asked for: pools and tokens that the block itself does not mention. */
export type LookedUp = {
  readonly pools: readonly PoolFact[]
  /** Tokens to read even if none of their pools is known. */
  readonly tokens: readonly string[]
  readonly states: readonly PoolStateFact[]
  /** Ids that are done. */
  readonly ids: readonly string[]
  /** Ids that led to nothing, and are not looked up again for a while. */
  readonly absent: readonly string[]
  /** Pools to be remembered as if their creation had been scanned. */
  readonly remembered: readonly CreatedPool[]
}

export const NOTHING_LOOKED_UP: LookedUp = {
  ...{ pools: [], tokens: [], states: [] },
  ...{ ids: [], absent: [], remembered: [] },
}

/** A block, for look-ups. */
export type LookUpBlock = {
  readonly block: Header
  readonly known: KnownFacts
  readonly head: number
  /** Pools that this block is the first one to mention. */
  readonly met: ReadonlyMap<string, PoolFact>
  /** Pools with events in this block, whether known or not. */
  readonly touched: ReadonlySet<string>
}

/**
 * Selects a block's relevant logs and requests the facts that the engine needs to interpret them. Each fact is
 * requested once and stored in the log. Subclasses request the facts specific to their chain family.
 */
export abstract class BlockFacts<Lesson> {
  readonly #registry: DexRegistry
  /** Contracts that emit pool events but belong to no configured exchange: inspected once per process. */
  readonly #foreign = new Set<string>()
  /** By header, so that answers are released together with a dropped block. */
  readonly #ahead = new WeakMap<Header, RecordedAnswers>()

  constructor(registry: DexRegistry) {
    this.#registry = registry
  }

  protected abstract askerAt(block: Header): Asker

  /** The token, or LP token, that a log is about, if it is not an event of a pool. */
  protected abstract tokenOf(log: RawLog): string | undefined

  /** Changes nothing: `learn` does. */
  protected abstract askFamily(asker: Asker, met: MetBlock): Promise<FamilyFacts<Lesson>>

  protected abstract learn(lesson: Lesson, block: Header): void

  /** Changes nothing: `learnLookUps` does. */
  protected async lookUp(_asker: Asker, _block: LookUpBlock): Promise<LookedUp> {
    return NOTHING_LOOKED_UP
  }

  /** A pool that no contract confirms any more, as its factory announced it. */
  protected announcedBefore(_pool: string): CreatedPool | undefined {
    return undefined
  }

  protected learnLookUps(_lookedUp: LookedUp, _block: Header): void {}

  /**
   * Requests in advance what `gather` will probably request; facts of the blocks in between are not in `known` yet.
   * Only records answers, because the block may never be processed.
   */
  async askAhead(
    block: Header,
    transactions: readonly RawTransaction[],
    known: KnownFacts,
    head: number,
  ): Promise<void> {
    const answers = new RecordedAnswers()
    this.#ahead.set(block, answers)
    await this.#examine(answers.record(this.askerAt(block)), block, transactions, known, head)
  }

  /** Blocks are processed in chain order; `known` has the facts of all earlier blocks. */
  async gather(
    block: Header,
    transactions: readonly RawTransaction[],
    known: KnownFacts,
    head = block.number,
  ): Promise<{ transactions: RawTransaction[]; facts: Fact[] }> {
    const asker = this.askerAt(block)
    const recorded = this.#ahead.get(block)?.replay(asker) ?? asker
    const found = await this.#examine(recorded, block, transactions, known, head)
    for (const pool of found.foreign) this.#rememberForeign(pool)
    this.learn(found.lesson, block)
    this.learnLookUps(found.lookedUp, block)
    return { transactions: found.transactions, facts: found.facts }
  }

  async #examine(
    asker: Asker,
    block: Header,
    transactions: readonly RawTransaction[],
    known: KnownFacts,
    head: number,
  ): Promise<Examined<Lesson>> {
    const { met, foreign, poolOf } = await this.#meetPools(asker, block, transactions, known)
    const lookedUp = await this.lookUp(asker, { block, known, head, met, touched: new Set(poolOf.values()) })
    // A pool with events in this block is met by them.
    for (const pool of lookedUp.pools) if (!met.has(pool.address)) met.set(pool.address, pool)
    const pools = [...met.values()]
    const mentioned = [...pools.flatMap((pool) => pool.tokens), ...lookedUp.tokens]
    const tokens = new Set(mentioned.filter((token) => !known.knowsToken(token)))
    /** For tokens and LP tokens alike. */
    const isFollowed = (address: string): boolean =>
      known.knowsToken(address) || known.knowsPool(address) || tokens.has(address) || met.has(address)
    const relevant: RawTransaction[] = []
    for (const transaction of transactions) {
      const logs = transaction.logs.filter((log) => {
        if (this.#registry.announced(log, block.number) !== undefined) return true
        if (this.#registry.tokenEventOf(log, block.number) !== undefined) return true
        const token = this.tokenOf(log)
        if (token !== undefined) return isFollowed(token)
        const pool = poolOf.get(log)
        return pool !== undefined && (known.knowsPool(pool) || met.has(pool))
      })
      if (logs.length > 0) relevant.push({ ...transaction, logs })
    }
    const own = { block, tokens: [...tokens], transactions: relevant, known, head }
    const { tokens: tokenFacts, others, lesson } = await this.askFamily(asker, own)
    const facts = [...tokenFacts, ...pools, ...others, ...lookedUp.states]
    return { transactions: relevant, facts, foreign, lesson, lookedUp }
  }

  /** The pools of this block that were not known before, and the pool of each log, because decoding is the most work. */
  async #meetPools(
    asker: Asker,
    block: Header,
    transactions: readonly RawTransaction[],
    known: KnownFacts,
  ): Promise<{
    met: Map<string, PoolFact>
    foreign: readonly string[]
    poolOf: ReadonlyMap<RawLog, string>
  }> {
    const met = new Map<string, PoolFact>()
    const unknown = new Map<string, RawLog>()
    const poolOf = new Map<RawLog, string>()
    for (const log of transactions.flatMap(({ logs }) => logs)) {
      const created = this.#registry.announced(log, block.number)
      if (created !== undefined) {
        const { pool: address, tokens, pricing, goalRaw } = created
        if (known.knowsPool(address) || met.has(address)) continue
        // A new pool has no reserves yet, if its reserves can be known at all.
        const isKnown = this.#registry.deploymentOf(log.address, block.number)?.is.reserves !== 'unknown'
        const reservesBefore = isKnown ? tokens.map(() => 0n) : undefined
        const factory = this.#registry.factoryOf(log, block.number)
        const fact = { address, factory, tokens, pricing, reservesBefore }
        met.set(address, { type: 'pool', ...fact, ...(goalRaw !== undefined && { goalRaw }) })
        continue
      }
      const pool = this.#registry.poolOf(log, block.number)
      if (pool === undefined) continue
      poolOf.set(log, pool)
      if (known.knowsPool(pool) && !known.isOutdatedPool?.(pool)) continue
      // The scan may have found its creation since.
      if (this.#foreign.has(pool) && this.announcedBefore(pool) === undefined) continue
      if (!unknown.has(pool)) unknown.set(pool, log)
    }
    // A pool announced after its first event needs no inquiry.
    for (const pool of met.keys()) unknown.delete(pool)
    const { facts, foreign } = await this.#identify(asker, unknown, block)
    for (const [address, fact] of facts) met.set(address, fact)
    return { met, foreign, poolOf }
  }

  async #identify(
    asker: Asker,
    pools: ReadonlyMap<string, RawLog>,
    block: Header,
  ): Promise<{ facts: ReadonlyMap<string, PoolFact>; foreign: readonly string[] }> {
    const asked = [...pools].flatMap(([pool, log]) =>
      this.#registry.candidates(log, block.number).map(({ identify, deployments }) => ({
        pool,
        log,
        inquiry: identify(pool, deployments, log),
      })),
    )
    if (asked.length === 0) return { facts: new Map(), foreign: [] }
    const inquiries = asked.map(({ inquiry }) => inquiry)
    const found = await runInquiries(asker, inquiries, block)
    const facts = new Map<string, PoolFact>()
    for (const [index, { pool: address, log }] of asked.entries()) {
      const answer = found[index]
      if (answer === undefined || facts.has(address)) continue
      const isOfEmitter = answer.factory === log.address
      const factory = isOfEmitter ? this.#registry.factoryOf(log, block.number) : answer.factory
      facts.set(address, { type: 'pool', address, ...answer, factory })
    }
    for (const [address, log] of pools) {
      const created = facts.has(address) ? undefined : this.announcedBefore(address)
      const row = created && this.#registry.deploymentOf(created.factory, block.number)
      // Events of a singleton's pools count only if the singleton emitted them.
      if (created === undefined || row === undefined || (row.is.isSingleton && row.factory !== log.address))
        continue
      facts.set(address, toPoolFact(created))
    }
    return { facts, foreign: asked.flatMap(({ pool }) => (facts.has(pool) ? [] : [pool])) }
  }

  #rememberForeign(address: string): void {
    if (this.#foreign.size >= MAX_FOREIGN_REMEMBERED) this.#foreign.clear()
    this.#foreign.add(address)
  }
}

/** Its reserves before this block are not known. */
export function toPoolFact({ address, factory, tokens, pricing, goalRaw }: CreatedPool): PoolFact {
  const fact = { type: 'pool', address, factory, tokens, pricing, reservesBefore: undefined } as const
  return goalRaw === undefined ? fact : { ...fact, goalRaw }
}
