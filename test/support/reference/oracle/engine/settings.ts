import type { DexRegistry } from '../../../../../src/dex/registry.ts'
import type { Value } from '../../../../../src/domain/money.ts'

/** What the engine is told about its chain. A different answer here means a different state: replay after a change. */
export type EngineSettings = {
  readonly chain: string
  readonly registry: DexRegistry
  /** Highest rank first. */
  readonly quoteAssets: readonly QuoteAsset[]
  /** A pool with less than this on its quote side is too easy to move to tell what others are worth. */
  readonly minDepthUsd: Value
  /** Contracts that hold tokens for a while and then give them back. */
  readonly lockers: ReadonlySet<string>
}

export type QuoteAsset = { readonly address: string; readonly kind: 'stable' | 'native' | 'major' }
