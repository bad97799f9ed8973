import type { ChainConfig, EvmChainConfig, SolanaChainConfig } from '../config/schema.ts'
import { WSOL } from '../dex/solana/known-keys.ts'
import {
  type ChainSettings,
  type DexDeployment,
  type NativeSupply,
  RULES_VERSION,
  sortedLockers,
} from '../domain/chain-settings.ts'
import { ZERO_ADDRESS } from '../domain/known-addresses.ts'
import { pow10, VALUE_DIGITS } from '../domain/money.ts'

/** Rows of all families. */
type DexRow = Omit<EvmChainConfig['dexes'][number], 'protocol'> &
  Pick<SolanaChainConfig['dexes'][number], 'platform_config'> & { readonly protocol: string }

/** The settings in a chain's configuration. */
export function chainSettings(config: ChainConfig): ChainSettings {
  const { dexes, quote_assets, min_depth_usd, lockers } = config
  return {
    rules: RULES_VERSION,
    dexes: dexes.map(toDeployment),
    quoteAssets: quote_assets.map(({ address, kind }) => ({ address, kind })),
    minDepthUsd: BigInt(min_depth_usd) * pow10(VALUE_DIGITS),
    lockers: sortedLockers(lockers),
    native: nativeSupply(config),
  }
}

function nativeSupply({ family, native: { supply, decimals } }: ChainConfig): NativeSupply {
  return {
    address: family === 'solana' ? WSOL : ZERO_ADDRESS,
    supplyRaw: supply === undefined ? undefined : BigInt(supply) * pow10(decimals),
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
