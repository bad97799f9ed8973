import type { QuoteAsset } from '../domain/chain-settings.ts'
import { decodeSettings } from '../wire/settings-codec.ts'
import type { EngineSettings } from './settings.ts'
import { type Anchor, type EngineTables, ONLY } from './tables.ts'

/** The tokens to which new settings assign another role. */
export type AssetChanges = {
  /** Those that became quote assets, ceased to be, or are of another kind. */
  readonly all: readonly string[]
  /** Those that became quote assets or ceased to be. */
  readonly joinedOrLeft: readonly string[]
}

const NONE: AssetChanges = { all: [], joinedOrLeft: [] }

/**
 * Brings the state in line with settings that differ from those of the block before. It runs inside the first block that
 * is folded by them, so an undo of that block undoes it, and the block that replaces it does it again.
 */
export class SettingsFold {
  readonly #tables: EngineTables
  readonly #initial: EngineSettings

  /** `initial` applied to the blocks before the first settings in the log. */
  constructor(tables: EngineTables, initial: EngineSettings) {
    this.#tables = tables
    this.#initial = initial
  }

  /** `bytes` are those of `settings`; undefined before the first settings in the log. */
  run(settings: EngineSettings, bytes: Uint8Array | undefined, block: number): AssetChanges {
    const { foldedBy } = this.#tables
    const before = foldedBy.get(ONLY)
    if (bytes === undefined || (before !== undefined && Buffer.compare(before, bytes) === 0)) return NONE
    foldedBy.put(ONLY, bytes)
    this.#dropAnchors(settings, block)
    const { quoteAssets } = before === undefined ? this.#initial : decodeSettings(before)
    return assetChanges(quoteAssets, settings.quoteAssets)
  }

  /** A pool that is no longer read, or no longer prices the native coin, would keep its last price for ever. */
  #dropAnchors(settings: EngineSettings, block: number): void {
    const { anchors } = this.#tables
    const known = anchors.get(ONLY) ?? []
    const remaining = known.filter((anchor) => this.#isAnchor(anchor, settings, block))
    if (remaining.length < known.length) anchors.put(ONLY, remaining)
  }

  #isAnchor({ pair: address, stable, depthUsd }: Anchor, settings: EngineSettings, block: number): boolean {
    const pair = this.#tables.pairs.get(address)
    // Only pools of two tokens have reserves, and their pair has the address of the pool.
    const pool = this.#tables.pools.open(address)
    if (pair === undefined || pool?.exchangeIn(block, settings.registry) === undefined) return false
    const kinds = kindsOf(settings.quoteAssets)
    const native = pair.token0.token === stable ? pair.token1.token : pair.token0.token
    return (
      depthUsd >= settings.minDepthUsd && kinds.get(stable) === 'stable' && kinds.get(native) === 'native'
    )
  }
}

function assetChanges(before: readonly QuoteAsset[], after: readonly QuoteAsset[]): AssetChanges {
  const [old, now] = [kindsOf(before), kindsOf(after)]
  const all = [...new Set([...old.keys(), ...now.keys()])].filter(
    (token) => old.get(token) !== now.get(token),
  )
  return { all, joinedOrLeft: all.filter((token) => old.has(token) !== now.has(token)) }
}

function kindsOf(assets: readonly QuoteAsset[]): Map<string, QuoteAsset['kind']> {
  return new Map(assets.map(({ address, kind }) => [address, kind]))
}
