import { DexRegistry } from '../dex/registry.ts'
import {
  type ChainSettings,
  NATIVE_SUPPLY_RULES,
  type NativeSupply,
  PARTIES_RULES,
  type QuoteAsset,
  ROUTES_RULES,
  RULES_VERSION,
} from '../domain/chain-settings.ts'
import { ChaintapeError } from '../domain/errors.ts'
import type { Value } from '../domain/money.ts'

/** `ChainSettings` as the fold uses them. */
export type EngineSettings = {
  readonly chain: string
  readonly registry: DexRegistry
  readonly quoteAssets: readonly QuoteAsset[]
  readonly minDepthUsd: Value
  readonly lockers: ReadonlySet<string>
  /** Whether pairs without a quote asset are priced by routes. */
  readonly hasRoutes?: boolean
  readonly native?: NativeSupply | undefined
  /** Whether trades have what only their transaction reports: sender, recipient, and the wallet's holdings. */
  readonly hasParties?: boolean
}

/** Throws if this program is too old for the settings. */
export function engineSettings(chain: string, settings: ChainSettings): EngineSettings {
  const { rules, dexes, quoteAssets, minDepthUsd, lockers, native } = settings
  if (rules > RULES_VERSION)
    throw new ChaintapeError(
      'message_unreadable',
      `the settings need rules ${rules}, this version has ${RULES_VERSION}`,
    )
  return {
    chain,
    registry: new DexRegistry(dexes),
    quoteAssets,
    minDepthUsd,
    lockers: new Set(lockers),
    hasRoutes: rules >= ROUTES_RULES,
    native: rules >= NATIVE_SUPPLY_RULES ? native : undefined,
    hasParties: rules >= PARTIES_RULES,
  }
}
