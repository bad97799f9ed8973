import type { DexRegistry } from '../../../dex/registry.ts'
import { WSOL } from '../../../dex/solana/known-keys.ts'
import { isOwnerBalancesLog } from '../../../dex/solana/owner-balances.ts'
import type { RawLog, TokenFact } from '../../../domain/envelope.ts'
import type { Asker } from '../../facts/asker.ts'
import { BlockFacts, type FamilyFacts, type MetBlock } from '../../facts/block-facts.ts'
import { type NativeCoin, nativeFact } from '../../facts/native-coin.ts'
import type { Header } from '../../source.ts'
import type { SolanaNodes } from '../rpc.ts'
import { slotOf } from '../slots.ts'
import { accountAsker, accountCall, readAccount } from './accounts.ts'
import { readMint } from './mint-account.ts'
import { metadataAddress, metadataOf } from './token-metadata.ts'

/**
 * Facts of Solana: tokens by their mint and metadata accounts. Holders' balances are in the transactions, so no samples
 * are asked for, and a burned token is gone from the supply.
 */
export class SolanaFacts extends BlockFacts<undefined> {
  readonly #nodes: Pick<SolanaNodes, 'verified'>
  readonly #native: NativeCoin

  constructor(nodes: Pick<SolanaNodes, 'verified'>, registry: DexRegistry, native: NativeCoin) {
    super(registry)
    this.#nodes = nodes
    this.#native = native
  }

  protected askerAt(block: Header): Asker {
    return accountAsker(this.#nodes, slotOf(block))
  }

  protected tokenOf(log: RawLog): string | undefined {
    return isOwnerBalancesLog(log) ? log.address : undefined
  }

  protected async askFamily(asker: Asker, { tokens, block }: MetBlock): Promise<FamilyFacts<undefined>> {
    return { tokens: await this.#askTokens(asker, tokens, block), others: [], lesson: undefined }
  }

  protected learn(): void {}

  async #askTokens(asker: Asker, tokens: readonly string[], { hash }: Header): Promise<TokenFact[]> {
    const mints = tokens.filter((token) => token !== WSOL)
    const places = mints.map((mint) => ({ mint, metadata: metadataAddress(mint) }))
    const calls = places.flatMap(({ mint, metadata }) =>
      metadata === undefined ? [] : [accountCall(mint), accountCall(metadata)],
    )
    const answers = (await asker.ask(calls, hash)).values()
    const facts = places.map(({ mint: address, metadata: place }): TokenFact => {
      const account = place === undefined ? undefined : readAccount(answers.next().value)
      const metaplex = place === undefined ? undefined : readAccount(answers.next().value)
      const mint = account === undefined ? undefined : readMint(account)
      const metadata = mint === undefined ? undefined : metadataOf(address, mint, metaplex)
      return {
        type: 'token',
        address,
        nameRaw: metadata?.name ?? new Uint8Array(),
        symbolRaw: metadata?.symbol ?? new Uint8Array(),
        decimals: mint?.decimals,
        supplyRaw: mint?.supplyRaw,
      }
    })
    return mints.length === tokens.length ? facts : [nativeFact(WSOL, this.#native), ...facts]
  }
}
