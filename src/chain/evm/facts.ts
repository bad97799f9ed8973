import { isMove, movesOf } from '../../dex/evm/token-moves.ts'
import type { Answer, Call, FoundPool, Inquiry } from '../../dex/protocol.ts'
import type { DexRegistry } from '../../dex/registry.ts'
import type {
  BalanceFact,
  Fact,
  NonCirculatingFact,
  PoolFact,
  RawLog,
  RawTransaction,
} from '../../domain/envelope.ts'
import { ZERO_ADDRESS } from '../../domain/known-addresses.ts'
import { saysItChanged } from '../inspection-queue.ts'
import type { Header } from '../source.ts'
import type { AskMany } from './ask-many.ts'
import { askBalances, NonCirculatingBalances } from './non-circulating.ts'
import {
  type NativeCoin,
  nativeFact,
  QUESTIONS_PER_TOKEN,
  tokenQuestions,
  toTokenFact,
} from './token-fact.ts'

const MAX_FOREIGN_REMEMBERED = 100_000
const MAX_BALANCES_ASKED = 8

/** What was told before. */
export type KnownFacts = {
  knowsPool(address: string): boolean
  knowsToken(address: string): boolean
  /** Its burned and locked balances are not in the log yet. */
  lacksNonCirculating?(address: string): boolean
}

/**
 * Picks the logs that matter out of a block and asks the node for what the engine needs to make sense of them.
 * Each fact is asked once and travels in the log.
 */
export class EvmFacts {
  readonly #asker: AskMany
  readonly #registry: DexRegistry
  readonly #native: NativeCoin
  readonly #wrappedNative: ReadonlySet<string>
  readonly #nonCirculating: NonCirculatingBalances | undefined
  /** Contracts that emit a pool's events but belong to no exchange of ours: asked once per process. */
  readonly #foreign = new Set<string>()

  constructor(
    asker: AskMany,
    registry: DexRegistry,
    native: NativeCoin,
    wrappedNative: ReadonlySet<string> = new Set(),
    /** Without them nothing is asked about what does not circulate. */
    lockers?: readonly string[],
  ) {
    this.#nonCirculating = lockers && new NonCirculatingBalances(asker, lockers)
    this.#wrappedNative = wrappedNative
    this.#asker = asker
    this.#registry = registry
    this.#native = native
  }

  async gather(
    block: Header,
    transactions: readonly RawTransaction[],
    known: KnownFacts,
  ): Promise<{ transactions: RawTransaction[]; facts: Fact[] }> {
    const met = await this.#meetPools(block, transactions, known)
    const pools = [...met.values()]
    const tokens = new Set(pools.flatMap((pool) => pool.tokens).filter((token) => !known.knowsToken(token)))
    /** Of tokens and of pools' shares alike. */
    const isFollowed = (address: string): boolean =>
      known.knowsToken(address) || known.knowsPool(address) || tokens.has(address) || met.has(address)
    const kept: RawTransaction[] = []
    for (const transaction of transactions) {
      const logs = transaction.logs.filter((log) => {
        if (this.#registry.announced(log, block.number) !== undefined) return true
        if (isMove(log, this.#wrappedNative.has(log.address)) || saysItChanged(log))
          return isFollowed(log.address)
        const pool = this.#registry.poolOf(log, block.number)
        return pool !== undefined && (known.knowsPool(pool) || met.has(pool))
      })
      if (logs.length > 0) kept.push({ ...transaction, logs })
    }
    return {
      transactions: kept,
      facts: [
        ...(await this.#askTokens([...tokens], block)),
        ...pools,
        ...(await this.#askNonCirculating([...tokens], kept, block, known)),
        ...(await this.#askBalances(kept, block)),
      ],
    }
  }

  /** New tokens, and those that move and could not be asked when they were new. */
  async #askNonCirculating(
    met: readonly string[],
    transactions: readonly RawTransaction[],
    block: Header,
    known: KnownFacts,
  ): Promise<NonCirculatingFact[]> {
    if (this.#nonCirculating === undefined) return []
    const late = new Set<string>()
    for (const { logs } of transactions)
      for (const { address } of logs) if (known.lacksNonCirculating?.(address)) late.add(address)
    const contracts = met.filter((token) => token !== ZERO_ADDRESS)
    return this.#nonCirculating.ask(contracts, late, block)
  }

  /** Whether a token's transfers tell the truth is tried now and then, on whoever last got some, or gave some away. */
  async #askBalances(transactions: readonly RawTransaction[], block: Header): Promise<BalanceFact[]> {
    if (!isDrawn(block.hash)) return []
    const tried = new Map<string, string>()
    for (const transaction of transactions) {
      for (const { token, from, to } of movesOf(transaction, (each) => this.#wrappedNative.has(each))) {
        const holder = isOfGivers(block.hash) ? from : to
        if (holder !== ZERO_ADDRESS && (tried.has(token) || tried.size < MAX_BALANCES_ASKED))
          tried.set(token, holder)
      }
    }
    // One wrong word would count against the token for good.
    const amounts = await askBalances(this.#asker, [...tried], block.hash)
    return [...tried].flatMap(([address, holder], index): BalanceFact[] => {
      const amountRaw = amounts[index]
      return amountRaw === undefined ? [] : [{ type: 'balance', address, holder, amountRaw }]
    })
  }

  /** The pools of this block that were not known before. */
  async #meetPools(
    block: Header,
    transactions: readonly RawTransaction[],
    known: KnownFacts,
  ): Promise<Map<string, PoolFact>> {
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
    for (const fact of await this.#identify(unknown, block)) met.set(fact.address, fact)
    return met
  }

  async #identify(pools: ReadonlyMap<string, RawLog>, block: Header): Promise<PoolFact[]> {
    const asked = [...pools].flatMap(([pool, log]) =>
      this.#registry.candidates(log, block.number).map(({ identify, deployments }) => ({
        pool,
        inquiry: identify(pool, deployments, log),
      })),
    )
    const found = await this.#hold(
      asked.map(({ inquiry }) => inquiry),
      block,
    )
    const facts = new Map<string, PoolFact>()
    for (const [index, { pool: address }] of asked.entries()) {
      const answer = found[index]
      if (answer !== undefined && !facts.has(address))
        facts.set(address, { type: 'pool', address, ...answer })
    }
    for (const { pool } of asked) if (!facts.has(pool)) this.#rememberForeign(pool)
    return [...facts.values()]
  }

  /** Holds all inquiries side by side, so that what each asks next goes to the node together. */
  async #hold(inquiries: readonly Inquiry[], block: Header): Promise<(FoundPool | undefined)[]> {
    const found: (FoundPool | undefined)[] = inquiries.map(() => undefined)
    let open = inquiries.map((inquiry, index) => ({ inquiry, index, step: inquiry.next([]) }))
    while (open.length > 0) {
      for (const { index, step } of open) if (step.done) found[index] = step.value
      open = open.filter(({ step }) => !step.done)
      const calls = open.flatMap(({ step }) => (step.done ? [] : step.value))
      const answers = await this.#ask(calls, block)
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

  async #ask(calls: readonly Call[], { hash, parentHash }: Header): Promise<Answer[]> {
    // Several inquiries about one pool begin with the same questions.
    const distinct = [...new Map(calls.map((call) => [keyOf(call), call])).values()]
    const before = distinct.filter((call) => call.before)
    const after = distinct.filter((call) => !call.before)
    const [answersBefore, answersAfter] = await Promise.all([
      this.#asker.askExactly(before, parentHash),
      this.#asker.ask(after, hash),
    ])
    const answers = new Map<string, Answer>()
    for (const [index, call] of before.entries()) answers.set(keyOf(call), answersBefore[index])
    for (const [index, call] of after.entries()) answers.set(keyOf(call), answersAfter[index])
    return calls.map((call) => answers.get(keyOf(call)))
  }

  async #askTokens(tokens: readonly string[], block: Header): Promise<Fact[]> {
    const contracts = tokens.filter((token) => token !== ZERO_ADDRESS)
    const answers = await this.#ask(contracts.flatMap(tokenQuestions), block)
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

/** One block in four; of those, every other one tries whoever gave. */
function isDrawn(hash: string): boolean {
  return lastDigitOf(hash) % 4 === 0
}

function isOfGivers(hash: string): boolean {
  return lastDigitOf(hash) % 8 === 0
}

function lastDigitOf(hash: string): number {
  return Number.parseInt(hash.slice(-1), 16)
}

function keyOf({ to, data, before }: Call): string {
  return `${to}${data}${before ? '-' : ''}`
}
