import type { ChainConfig } from '../config/schema.ts'
import { DexRegistry } from '../dex/registry.ts'

/** The exchanges in a chain's configuration. */
export function createRegistry({ dexes }: ChainConfig): DexRegistry {
  return new DexRegistry(
    dexes.map(({ amm, protocol, factory, ...row }) => ({
      amm,
      protocol,
      factory,
      fromBlock: row.from_block,
      untilBlock: row.until_block,
      initCodeHash: row.init_code_hash,
      deployer: row.deployer,
      positionManager: row.position_manager,
    })),
  )
}
