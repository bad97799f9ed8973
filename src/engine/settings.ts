import type { DexRegistry } from '../dex/registry.ts'
import type { Value } from '../domain/money.ts'

/** Settings of a chain that determine the state: replay the log after a change. */
export type EngineSettings = {
  readonly chain: string
  readonly registry: DexRegistry
  /** Highest rank first. */
  readonly quoteAssets: readonly QuoteAsset[]
  /** A pool with less than this on its quote side is too easy to manipulate to price other tokens. */
  readonly minDepthUsd: Value
  /** Contracts that hold tokens for a while and then give them back. */
  readonly lockers: ReadonlySet<string>
}

export type QuoteAsset = { readonly address: string; readonly kind: 'stable' | 'native' | 'major' }
