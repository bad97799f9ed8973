import type { ChainConfig, EvmChainConfig, SolanaChainConfig } from '../config/schema.ts'
import {
  type ChainSettings,
  type DexDeployment,
  RULES_VERSION,
  sortedLockers,
} from '../domain/chain-settings.ts'
import { pow10, VALUE_DIGITS } from '../domain/money.ts'

/** Rows of all families. */
type DexRow = Omit<EvmChainConfig['dexes'][number], 'protocol'> &
  Pick<SolanaChainConfig['dexes'][number], 'platform_config'> & { readonly protocol: string }

/** The settings in a chain's configuration. */
export function chainSettings({ dexes, quote_assets, min_depth_usd, lockers }: ChainConfig): ChainSettings {
  return {
    rules: RULES_VERSION,
    dexes: dexes.map(toDeployment),
    quoteAssets: quote_assets.map(({ address, kind }) => ({ address, kind })),
    minDepthUsd: BigInt(min_depth_usd) * pow10(VALUE_DIGITS),
    lockers: sortedLockers(lockers),
  }
}

function toDeployment({ amm, protocol, factory, ...row }: DexRow): DexDeployment {
  return {
    amm,
    protocol,
    factory,
    fromBlock: row.from_block,
    untilBlock: row.until_block,
    initCodeHash: row.init_code_hash,
    deployer: row.deployer ?? row.platform_config,
    positionManager: row.position_manager,
  }
}
