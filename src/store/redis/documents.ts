import type { ChangeSetIndex } from '../../wire/change-index.ts'
import { CONTRACT, PAIR, TOKEN, WINDOWS_LAYOUT } from '../../wire/change-layouts.ts'
import type { RecordLayout } from '../../wire/record-layout.ts'
import type { LatestChanges, PlacedChange } from '../latest-changes.ts'
import type { LatestPage } from '../versioned.ts'
import { type CandlesWrite, candleWrites, completeCandleWrites } from './candle-writes.ts'
import type { DocumentKind } from './keys.ts'
import { pairRanks, type Ranks, tokenRanks, volumeRanks } from './ranks.ts'

/** A slice of the message, which has the same record encoding as Redis. */
export type DocumentWrite = PlacedChange & {
  readonly kind: Exclude<DocumentKind, 'candles'>
  /** Where in the message its address stands. */
  readonly addressAt: number
  readonly isRemoved: boolean
  readonly ranks: Ranks
}

const NO_RANKS: Ranks = []

/**
 * The writes for the latest changes of one chain; candles of one version and series are never split. Candles come
 * first: apply.lua detects an expired series by its pair's existing document.
 */
export function documentsOf(latest: LatestChanges): (DocumentWrite | CandlesWrite)[] {
  return [...candleWrites(latest), ...documentWrites(latest)]
}

/** The writes for a page of another store, whose candle series are complete. */
export function documentsOfPage(
  latest: LatestChanges,
  complete: { readonly oldest: LatestPage['oldest']; readonly idleSince: number },
): (DocumentWrite | CandlesWrite)[] {
  return [...completeCandleWrites(latest, complete), ...documentWrites(latest)]
}

/** The writes without candles. */
export function documentWrites(latest: LatestChanges): DocumentWrite[] {
  const writes: DocumentWrite[] = []
  const { pair, token } = WINDOWS_LAYOUT.slots
  addAll(writes, 'pair', latest.pairs, PAIR, PAIR.slots.address, pairRanks)
  addAll(writes, 'token', latest.tokens, TOKEN, TOKEN.slots.address, tokenRanks)
  addAll(writes, 'contract', latest.contracts, CONTRACT, CONTRACT.slots.token)
  addAll(writes, 'pairWindows', latest.pairWindows, WINDOWS_LAYOUT, pair)
  addAll(writes, 'tokenWindows', latest.tokenWindows, WINDOWS_LAYOUT, token, volumeRanks)
  return writes
}

function addAll(
  writes: DocumentWrite[],
  kind: DocumentWrite['kind'],
  changes: ReadonlyMap<string, PlacedChange>,
  layout: RecordLayout,
  /** Slot of the document's id. */
  slot: number,
  ranksOf?: (set: ChangeSetIndex, base: number) => Ranks,
): void {
  for (const { set, base } of changes.values()) {
    const isRemoved = set.places[base] !== layout.type
    const addressAt = set.places[base + slot] as number
    const ranks = isRemoved || ranksOf === undefined ? NO_RANKS : ranksOf(set, base)
    writes.push({ kind, addressAt, set, base, isRemoved, ranks })
  }
}
