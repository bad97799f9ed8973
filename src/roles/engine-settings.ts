import type { ChainConfig } from '../config/schema.ts'
import { pow10, VALUE_DIGITS } from '../domain/money.ts'
import type { EngineSettings } from '../engine/settings.ts'
import { createRegistry } from './dex-registry.ts'

/** The engine's settings for a chain, from its configuration. */
export function engineSettings(chain: string, config: ChainConfig): EngineSettings {
  return {
    chain,
    registry: createRegistry(config),
    quoteAssets: config.quote_assets,
    minDepthUsd: BigInt(config.min_depth_usd) * pow10(VALUE_DIGITS),
    lockers: new Set(config.lockers),
  }
}
