import { isMove } from '../../../dex/evm/token-moves.ts'
import type { DexRegistry } from '../../../dex/registry.ts'
import type { CreatedPool } from '../../../domain/created-pool.ts'
import type { BalanceFact, RawLog, TokenFact } from '../../../domain/envelope.ts'
import { ZERO_ADDRESS } from '../../../domain/known-addresses.ts'
import type { Asker } from '../../facts/asker.ts'
import {
  BlockFacts,
  type FamilyFacts,
  type LookedUp,
  type LookUpBlock,
  type MetBlock,
  NOTHING_LOOKED_UP,
} from '../../facts/block-facts.ts'
import { type NativeCoin, nativeFact } from '../../facts/native-coin.ts'
import { saysItChanged } from '../../inspection-queue.ts'
import type { Header } from '../../source.ts'
import { BalanceSamples } from './balance-samples.ts'
import type { LookUps } from './look-ups.ts'
import { type NonCirculatingAnswers, NonCirculatingBalances } from './non-circulating.ts'
import type { LaunchAnswers, PastLaunches } from './past-launches.ts'
import { QUESTIONS_PER_TOKEN, tokenQuestions, toTokenFact } from './token-fact.ts'

type Lesson = {
  readonly nonCirculating: NonCirculatingAnswers | undefined
  readonly balances: readonly BalanceFact[]
  readonly launches: LaunchAnswers | undefined
}

/** Facts of EVM chains: beside tokens, burned and locked balances, samples of holders' balances, and older launches. */
export class EvmFacts extends BlockFacts<Lesson> {
  readonly #asker: Asker
  readonly #native: NativeCoin
  readonly #wrappedNative: ReadonlySet<string>
  readonly #nonCirculating: NonCirculatingBalances | undefined
  readonly #samples: BalanceSamples
  readonly #lookUps: LookUps | undefined
  readonly #launches: PastLaunches | undefined

  constructor(
    asker: Asker,
    registry: DexRegistry,
    native: NativeCoin,
    wrappedNative: ReadonlySet<string> = new Set(),
    /** Without them nothing is asked about what does not circulate. */
    lockers?: readonly string[],
    lookUps?: LookUps,
    launches?: PastLaunches,
  ) {
    super(registry)
    this.#nonCirculating = lockers && new NonCirculatingBalances(lockers)
    this.#wrappedNative = wrappedNative
    this.#samples = new BalanceSamples((token) => wrappedNative.has(token))
    this.#asker = asker
    this.#lookUps = lookUps
    this.#launches = launches
    this.#native = native
  }

  protected askerAt(): Asker {
    return this.#asker
  }

  protected tokenOf(log: RawLog): string | undefined {
    return isMove(log, this.#wrappedNative.has(log.address)) || saysItChanged(log) ? log.address : undefined
  }

  protected async askFamily(asker: Asker, met: MetBlock): Promise<FamilyFacts<Lesson>> {
    // None of these needs the others' answers, so they are sent in one batch.
    const [tokens, nonCirculating, balances, launches] = await Promise.all([
      askTokens(asker, met.tokens, met.block, this.#native),
      this.#askNonCirculating(asker, met),
      this.#samples.ask(asker, met.transactions, met.block, met.head),
      this.#launches?.ask(met),
    ])
    const amounts = nonCirculating?.facts.filter((fact) => fact !== undefined) ?? []
    const others = [...amounts, ...balances, ...(launches?.facts ?? [])]
    return { tokens, others, lesson: { nonCirculating, balances, launches } }
  }

  protected learn({ nonCirculating, balances, launches }: Lesson, block: Header): void {
    if (launches !== undefined) this.#launches?.learn(launches, block)
    if (nonCirculating !== undefined) this.#nonCirculating?.learn(nonCirculating, block)
    this.#samples.learn(balances)
  }

  protected override async lookUp(asker: Asker, block: LookUpBlock): Promise<LookedUp> {
    return this.#lookUps?.lookUp(asker, block) ?? NOTHING_LOOKED_UP
  }

  protected override announcedBefore(pool: string): CreatedPool | undefined {
    return this.#lookUps?.announced(pool)
  }

  protected override learnLookUps(lookedUp: LookedUp, block: Header): void {
    this.#lookUps?.learn(lookedUp, block)
  }

  /** New tokens, and those that move and could not be asked when they were new. */
  async #askNonCirculating(
    asker: Asker,
    { tokens, transactions, block, known, head }: MetBlock,
  ): Promise<NonCirculatingAnswers | undefined> {
    if (this.#nonCirculating === undefined) return undefined
    const late = new Set<string>()
    for (const { logs } of transactions)
      for (const { address } of logs) if (known.lacksNonCirculating?.(address)) late.add(address)
    const contracts = tokens.filter((token) => token !== ZERO_ADDRESS)
    return this.#nonCirculating.ask(asker, contracts, late, block, head)
  }
}

export async function askTokens(
  asker: Asker,
  tokens: readonly string[],
  { hash }: Header,
  native: NativeCoin,
): Promise<TokenFact[]> {
  const contracts = tokens.filter((token) => token !== ZERO_ADDRESS)
  const answers = await asker.ask(contracts.flatMap(tokenQuestions), hash)
  const facts = contracts.map((token, index) => {
    const first = index * QUESTIONS_PER_TOKEN
    return toTokenFact(token, answers.slice(first, first + QUESTIONS_PER_TOKEN))
  })
  return contracts.length === tokens.length ? facts : [nativeFact(ZERO_ADDRESS, native), ...facts]
}
