import type { DexRegistry } from '../dex/registry.ts'

/** What the engine is told about its chain. A different answer here means a different state: replay after a change. */
export type EngineSettings = {
  readonly chain: string
  readonly registry: DexRegistry
  /** Highest rank first. */
  readonly quoteAssets: readonly QuoteAsset[]
}

export type QuoteAsset = { readonly address: string; readonly kind: 'stable' | 'native' | 'major' }
