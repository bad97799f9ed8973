import { isMove } from '../../../dex/evm/token-moves.ts'
import type { Answer, Call, FoundPool, Inquiry } from '../../../dex/protocol.ts'
import type { DexRegistry } from '../../../dex/registry.ts'
import type { BalanceFact, Fact, PoolFact, RawLog, RawTransaction } from '../../../domain/envelope.ts'
import { ZERO_ADDRESS } from '../../../domain/known-addresses.ts'
import { saysItChanged } from '../../inspection-queue.ts'
import type { Header, KnownFacts } from '../../source.ts'
import { type Asker, RecordedAnswers } from '../rpc/recorded-answers.ts'
import { BalanceSamples } from './balance-samples.ts'
import { type NonCirculatingAnswers, NonCirculatingBalances } from './non-circulating.ts'
import {
  type NativeCoin,
  nativeFact,
  QUESTIONS_PER_TOKEN,
  tokenQuestions,
  toTokenFact,
} from './token-fact.ts'

const MAX_FOREIGN_REMEMBERED = 100_000

/** The facts of a block, and what to remember of it once it is processed. */
type Examined = {
  readonly transactions: RawTransaction[]
  readonly facts: Fact[]
  /** Neither known nor of an exchange of ours. */
  readonly foreign: readonly string[]
  readonly nonCirculating: NonCirculatingAnswers | undefined
  readonly balances: readonly BalanceFact[]
}

/**
 * Picks the logs that matter out of a block and asks the node for what the engine needs to make sense of them.
 * Each fact is asked once and travels in the log.
 */
export class EvmFacts {
  readonly #asker: Asker
  readonly #registry: DexRegistry
  readonly #native: NativeCoin
  readonly #wrappedNative: ReadonlySet<string>
  readonly #nonCirculating: NonCirculatingBalances | undefined
  readonly #samples: BalanceSamples
  /** Contracts that emit a pool's events but belong to no exchange of ours: asked once per process. */
  readonly #foreign = new Set<string>()
  /** By header, so that they are gone with a block that is dropped. */
  readonly #ahead = new WeakMap<Header, RecordedAnswers>()

  constructor(
    asker: Asker,
    registry: DexRegistry,
    native: NativeCoin,
    wrappedNative: ReadonlySet<string> = new Set(),
    /** Without them nothing is asked about what does not circulate. */
    lockers?: readonly string[],
  ) {
    this.#nonCirculating = lockers && new NonCirculatingBalances(lockers)
    this.#wrappedNative = wrappedNative
    this.#samples = new BalanceSamples((token) => wrappedNative.has(token))
    this.#asker = asker
    this.#registry = registry
    this.#native = native
  }

  /**
   * Asks before a block's turn what `gather` will probably ask: what earlier blocks may still add to `known` is not
   * there yet. Changes nothing but the record of answers, for the block may never get its turn.
   */
  async askAhead(
    block: Header,
    transactions: readonly RawTransaction[],
    known: KnownFacts,
    head: number,
  ): Promise<void> {
    const answers = new RecordedAnswers()
    this.#ahead.set(block, answers)
    await this.#examine(answers.record(this.#asker), block, transactions, known, head)
  }

  /** Blocks are processed in chain order; `known` has the facts of all blocks before. */
  async gather(
    block: Header,
    transactions: readonly RawTransaction[],
    known: KnownFacts,
    head = block.number,
  ): Promise<{ transactions: RawTransaction[]; facts: Fact[] }> {
    const asker = this.#ahead.get(block)?.replay(this.#asker) ?? this.#asker
    const found = await this.#examine(asker, block, transactions, known, head)
    for (const pool of found.foreign) this.#rememberForeign(pool)
    if (found.nonCirculating !== undefined) this.#nonCirculating?.learn(found.nonCirculating, block)
    this.#samples.learn(found.balances)
    return { transactions: found.transactions, facts: found.facts }
  }

  async #examine(
    asker: Asker,
    block: Header,
    transactions: readonly RawTransaction[],
    known: KnownFacts,
    head: number,
  ): Promise<Examined> {
    const { met, foreign } = await this.#meetPools(asker, block, transactions, known)
    const pools = [...met.values()]
    const tokens = new Set(pools.flatMap((pool) => pool.tokens).filter((token) => !known.knowsToken(token)))
    /** For tokens and LP tokens alike. */
    const isFollowed = (address: string): boolean =>
      known.knowsToken(address) || known.knowsPool(address) || tokens.has(address) || met.has(address)
    const relevant: RawTransaction[] = []
    for (const transaction of transactions) {
      const logs = transaction.logs.filter((log) => {
        if (this.#registry.announced(log, block.number) !== undefined) return true
        if (isMove(log, this.#wrappedNative.has(log.address)) || saysItChanged(log))
          return isFollowed(log.address)
        const pool = this.#registry.poolOf(log, block.number)
        return pool !== undefined && (known.knowsPool(pool) || met.has(pool))
      })
      if (logs.length > 0) relevant.push({ ...transaction, logs })
    }
    // None of these needs the others' answers, so they travel together.
    const [tokenFacts, nonCirculating, balances] = await Promise.all([
      this.#askTokens(asker, [...tokens], block),
      this.#askNonCirculating(asker, [...tokens], relevant, block, known, head),
      this.#samples.ask(asker, relevant, block, head),
    ])
    const amounts = nonCirculating?.facts.filter((fact) => fact !== undefined) ?? []
    const facts = [...tokenFacts, ...pools, ...amounts, ...balances]
    return { transactions: relevant, facts, foreign, nonCirculating, balances }
  }

  /** New tokens, and those that move and could not be asked when they were new. */
  async #askNonCirculating(
    asker: Asker,
    met: readonly string[],
    transactions: readonly RawTransaction[],
    block: Header,
    known: KnownFacts,
    head: number,
  ): Promise<NonCirculatingAnswers | undefined> {
    if (this.#nonCirculating === undefined) return undefined
    const late = new Set<string>()
    for (const { logs } of transactions)
      for (const { address } of logs) if (known.lacksNonCirculating?.(address)) late.add(address)
    const contracts = met.filter((token) => token !== ZERO_ADDRESS)
    return this.#nonCirculating.ask(asker, contracts, late, block, head)
  }

  /** The pools of this block that were not known before. */
  async #meetPools(
    asker: Asker,
    block: Header,
    transactions: readonly RawTransaction[],
    known: KnownFacts,
  ): Promise<{ met: Map<string, PoolFact>; foreign: readonly string[] }> {
    const met = new Map<string, PoolFact>()
    const unknown = new Map<string, RawLog>()
    for (const log of transactions.flatMap(({ logs }) => logs)) {
      const created = this.#registry.announced(log, block.number)
      if (created !== undefined) {
        const { pool: address, tokens, pricing } = created
        if (known.knowsPool(address) || met.has(address)) continue
        // Where they can be known at all, a new pool holds nothing yet.
        const isKnown = this.#registry.deploymentOf(log.address, block.number)?.is.reserves !== 'unknown'
        const reservesBefore = isKnown ? tokens.map(() => 0n) : undefined
        met.set(address, { type: 'pool', address, factory: log.address, tokens, pricing, reservesBefore })
        continue
      }
      const pool = this.#registry.poolOf(log, block.number)
      if (pool === undefined || known.knowsPool(pool) || this.#foreign.has(pool)) continue
      if (!unknown.has(pool)) unknown.set(pool, log)
    }
    // Announced after its first event, a pool needs no asking.
    for (const pool of met.keys()) unknown.delete(pool)
    const { facts, foreign } = await this.#identify(asker, unknown, block)
    for (const [address, fact] of facts) met.set(address, fact)
    return { met, foreign }
  }

  async #identify(
    asker: Asker,
    pools: ReadonlyMap<string, RawLog>,
    block: Header,
  ): Promise<{ facts: ReadonlyMap<string, PoolFact>; foreign: readonly string[] }> {
    const asked = [...pools].flatMap(([pool, log]) =>
      this.#registry.candidates(log, block.number).map(({ identify, deployments }) => ({
        pool,
        inquiry: identify(pool, deployments, log),
      })),
    )
    if (asked.length === 0) return { facts: new Map(), foreign: [] }
    const inquiries = asked.map(({ inquiry }) => inquiry)
    const found = await this.#hold(asker, inquiries, block)
    const facts = new Map<string, PoolFact>()
    for (const [index, { pool: address }] of asked.entries()) {
      const answer = found[index]
      if (answer !== undefined && !facts.has(address))
        facts.set(address, { type: 'pool', address, ...answer })
    }
    return { facts, foreign: asked.flatMap(({ pool }) => (facts.has(pool) ? [] : [pool])) }
  }

  /** Holds all inquiries side by side, so that what each asks next goes to the node together. */
  async #hold(
    asker: Asker,
    inquiries: readonly Inquiry[],
    block: Header,
  ): Promise<(FoundPool | undefined)[]> {
    const found: (FoundPool | undefined)[] = inquiries.map(() => undefined)
    let open = inquiries.map((inquiry, index) => ({ inquiry, index, step: inquiry.next([]) }))
    while (open.length > 0) {
      for (const { index, step } of open) if (step.done) found[index] = step.value
      open = open.filter(({ step }) => !step.done)
      const calls = open.flatMap(({ step }) => (step.done ? [] : step.value))
      const answers = await askAround(asker, calls, block)
      let next = 0
      open = open.map(({ inquiry, index, step }) => {
        const count = step.done ? 0 : step.value.length
        const own = answers.slice(next, next + count)
        next += count
        return { inquiry, index, step: inquiry.next(own) }
      })
    }
    return found
  }

  async #askTokens(asker: Asker, tokens: readonly string[], block: Header): Promise<Fact[]> {
    const contracts = tokens.filter((token) => token !== ZERO_ADDRESS)
    const answers = await askAround(asker, contracts.flatMap(tokenQuestions), block)
    const facts = contracts.map((token, index) => {
      const first = index * QUESTIONS_PER_TOKEN
      return toTokenFact(token, answers.slice(first, first + QUESTIONS_PER_TOKEN))
    })
    return contracts.length === tokens.length ? facts : [nativeFact(this.#native), ...facts]
  }

  #rememberForeign(address: string): void {
    if (this.#foreign.size >= MAX_FOREIGN_REMEMBERED) this.#foreign.clear()
    this.#foreign.add(address)
  }
}

/** In the states before and after this block. */
async function askAround(
  asker: Asker,
  calls: readonly Call[],
  { hash, parentHash }: Header,
): Promise<Answer[]> {
  // Several inquiries about one pool begin with the same questions.
  const distinct = [...new Map(calls.map((call) => [keyOf(call), call])).values()]
  const before = distinct.filter((call) => call.before)
  const after = distinct.filter((call) => !call.before)
  const [answersBefore, answersAfter] = await Promise.all([
    asker.askExactly(before, parentHash),
    asker.ask(after, hash),
  ])
  const answers = new Map<string, Answer>()
  for (const [index, call] of before.entries()) answers.set(keyOf(call), answersBefore[index])
  for (const [index, call] of after.entries()) answers.set(keyOf(call), answersAfter[index])
  return calls.map((call) => answers.get(keyOf(call)))
}

function keyOf({ to, data, before }: Call): string {
  return `${to}${data}${before ? '-' : ''}`
}
