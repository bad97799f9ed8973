import { SYSTEM_PROGRAM } from '../../../dex/solana/known-keys.ts'
import { ChaintapeError } from '../../../domain/errors.ts'
import { findingsBy, type Inspection, type TransferFee } from '../../../domain/inspection.ts'
import type { Logger } from '../../../lib/logger.ts'
import type { KnownPool } from '../../inspection-queue.ts'
import type { Header } from '../../source.ts'
import { type Mint, readMint } from '../facts/mint-account.ts'
import { metadataAddress } from '../facts/token-metadata.ts'
import type { SolanaNodes } from '../rpc.ts'
import { slotOf } from '../slots.ts'
import { metadataPowers } from './metadata-powers.ts'
import { mintFindings } from './mint-findings.ts'
import { isWorthSimulating, type Simulations, simulate } from './simulations.ts'
import { CLOCK, epochIn, transferFeeOf } from './transfer-fee.ts'

export type SolanaInspectorParts = {
  /** The token's pools in which a trade can be simulated. */
  readonly poolsOf: (token: string) => readonly KnownPool[]
  /** False if the nodes are not to be asked for holders and simulations. */
  readonly isSimulating: boolean
  readonly logger: Logger
}

/**
 * Inspects mints in the newest state, of no slot before the block's. The token programs run the same code for all mints,
 * so a mint's authorities and extensions are all that it can do; simulations show what has been done with them. A mint has
 * no owner and no proxy in the sense of EVM contracts.
 */
export function solanaInspector(
  nodes: Pick<SolanaNodes, 'verified'>,
  parts: SolanaInspectorParts,
): (token: string, block: Header) => Promise<Inspection> {
  return async (token, block) => {
    const metadata = metadataAddress(token)
    const asked = metadata === undefined ? [token, CLOCK] : [token, CLOCK, metadata]
    const [account, clock, metaplex] = await nodes.verified((node) => node.accounts(asked, slotOf(block)))
    const mint = account === undefined ? undefined : readMint(account)
    const powers = mint === undefined ? undefined : metadataPowers(token, mint, metaplex)
    const fee = mint === undefined ? undefined : transferFeeOf(mint, epochIn(clock))
    // An address without an account belongs to the system program.
    const program = account?.owner ?? SYSTEM_PROGRAM
    const findings = mint === undefined ? findingsBy(() => []) : mintFindings(mint)
    const simulations =
      mint === undefined
        ? ({ trial: 'no_contract' } as const)
        : await simulationsOf({ nodes, parts, block, mint: { ...mint, address: token, program }, fee })
    return {
      token,
      block: { number: block.number, hash: block.hash },
      codeHash: program,
      creator: undefined,
      owner: undefined,
      proxy: undefined,
      findings,
      ...simulations,
      ...(powers !== undefined && { metadataPowers: powers }),
      ...(fee !== undefined && { transferFee: fee }),
    }
  }
}

type Subject = {
  readonly nodes: Pick<SolanaNodes, 'verified'>
  readonly parts: SolanaInspectorParts
  readonly block: Header
  readonly mint: Mint & { readonly address: string; readonly program: string }
  readonly fee: TransferFee | undefined
}

/** The findings do not wait for a node that can simulate: without one, they are reported alone. */
async function simulationsOf({ nodes, parts, block, mint, fee }: Subject): Promise<Simulations> {
  const pools = parts.poolsOf(mint.address)
  if (!parts.isSimulating || !isWorthSimulating({ mint, pools })) return { trial: 'no_pair' }
  const request = { mint, fee, pools, seed: block.hash, minSlot: slotOf(block) }
  try {
    return await nodes.verified((node) => simulate(node, request))
  } catch (error) {
    if (!(error instanceof ChaintapeError)) throw error
    parts.logger.debug({ err: error, token: mint.address }, 'no simulation of a Solana token')
    return { trial: pools.length === 0 ? 'no_pair' : 'refused' }
  }
}
