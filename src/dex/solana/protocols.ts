import { meteoraDammV1 } from './meteora-damm-v1/protocol.ts'
import { meteoraDammV2 } from './meteora-damm-v2/protocol.ts'
import { meteoraDbc } from './meteora-dbc/protocol.ts'
import { meteoraDlmm } from './meteora-dlmm/protocol.ts'
import { moonshot } from './moonshot/protocol.ts'
import { orcaWhirlpool } from './orca-whirlpool/protocol.ts'
import { type KnownProgram, knownProgram, type SolanaProtocol } from './program.ts'
import { pumpFun } from './pump-fun/protocol.ts'
import { pumpSwap } from './pumpswap/protocol.ts'
import { raydiumAmmV4 } from './raydium-amm-v4/protocol.ts'
import { raydiumClmm } from './raydium-clmm/protocol.ts'
import { raydiumCpmm } from './raydium-cpmm/protocol.ts'
import { raydiumLaunchLab } from './raydium-launchlab/protocol.ts'

/** Keyed by their names in the configuration. */
export const SOLANA_PROTOCOLS: Readonly<Record<string, SolanaProtocol>> = {
  pump_fun: pumpFun,
  pumpswap: pumpSwap,
  raydium_amm_v4: raydiumAmmV4,
  raydium_cpmm: raydiumCpmm,
  raydium_clmm: raydiumClmm,
  raydium_launchlab: raydiumLaunchLab,
  orca_whirlpool: orcaWhirlpool,
  meteora_dlmm: meteoraDlmm,
  meteora_damm_v1: meteoraDammV1,
  meteora_damm_v2: meteoraDammV2,
  meteora_dbc: meteoraDbc,
  moonshot,
}

/** The programs of these exchanges by their ids, for `rawLogsOf`. Exchanges of other families are ignored. */
export function knownPrograms(
  deployments: readonly { readonly protocol: string; readonly factory: string }[],
): Map<string, KnownProgram> {
  const programs = new Map<string, KnownProgram>()
  for (const { protocol, factory } of deployments) {
    const is = SOLANA_PROTOCOLS[protocol]
    if (is !== undefined) programs.set(factory, knownProgram(is))
  }
  return programs
}
