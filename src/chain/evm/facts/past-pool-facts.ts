import type { DexRegistry } from '../../../dex/registry.ts'
import type { Fact } from '../../../domain/envelope.ts'
import type { Asker } from '../../facts/asker.ts'
import { BlockFacts, type FamilyFacts, type MetBlock } from '../../facts/block-facts.ts'
import type { NativeCoin } from '../../facts/native-coin.ts'
import { askTokens } from './facts.ts'

/**
 * Facts of pools in blocks that were read without their exchange. Transfers are left out: those of tokens and LP tokens
 * that the log did not follow then are in the histories that it reads once it follows them, and must not count twice.
 */
export class PastPoolFacts extends BlockFacts<undefined> {
  readonly #asker: Asker
  readonly #native: NativeCoin

  constructor(asker: Asker, registry: DexRegistry, native: NativeCoin) {
    super(registry)
    this.#asker = asker
    this.#native = native
  }

  protected askerAt(): Asker {
    return this.#asker
  }

  protected tokenOf(): undefined {
    return undefined
  }

  protected async askFamily(asker: Asker, { tokens, block }: MetBlock): Promise<FamilyFacts<undefined>> {
    const facts = await askTokens(asker, tokens, block, this.#native)
    // Without the transfers nobody would know what became of the supply.
    return { tokens: facts.map((fact) => ({ ...fact, supplyRaw: undefined })), others: [], lesson: undefined }
  }

  protected learn(): void {
    // Nothing to remember between blocks.
  }

  override async gather(...block: Parameters<BlockFacts<undefined>['gather']>) {
    const { transactions, facts } = await super.gather(...block)
    return { transactions, facts: facts.map(withoutHolders) }
  }
}

/** Empty reserves would mean that all LP tokens are minted in blocks that the fold sees. These pools report theirs. */
function withoutHolders(fact: Fact): Fact {
  return fact.type === 'pool' && fact.pricing.kind === 'reserves'
    ? { ...fact, reservesBefore: undefined }
    : fact
}
