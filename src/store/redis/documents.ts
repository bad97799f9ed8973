import type { ChangeSetIndex } from '../../wire/change-index.ts'
import { CONTRACT, PAIR, TOKEN, WINDOWS_LAYOUT } from '../../wire/change-layouts.ts'
import { END, type RecordLayout, START } from '../../wire/record-layout.ts'
import type { AddressRef } from '../document-reads.ts'
import type { LatestChanges, PlacedChange } from '../latest-changes.ts'
import type { LatestPage } from '../versioned.ts'
import { type CandlesWrite, candleWrites, wholeCandleWrites } from './candle-writes.ts'
import type { Keys } from './keys.ts'
import { pairRanks, type Ranks, tokenRanks, volumeRanks } from './ranks.ts'

/** What apply.lua takes for one key. */
export type DocumentWrite = {
  readonly kind: 'document'
  readonly key: string
  readonly seq: number
  /** A piece of the message, which has the record as Redis keeps it; empty for a removal. */
  readonly body: Uint8Array
  readonly ranks: Ranks
  /** The document that says in which groups this one's ranks are kept as well. */
  readonly owner: string | undefined
}

const NOTHING = new Uint8Array(0)
const NO_RANKS: Ranks = []

/**
 * What the latest changes of one chain make of its documents; of each series of candles all of one version are among them.
 * Candles come first: whether Redis has the document of their pair already tells a new series from one that has expired.
 */
export function documentsOf(
  latest: LatestChanges,
  chain: string,
  keys: Keys,
): (DocumentWrite | CandlesWrite)[] {
  return [...candleWrites(latest, chain, keys), ...documents(latest, chain, keys)]
}

/** The same of a page of another store, whose series of candles are complete. */
export function documentsOfPage(
  latest: LatestChanges,
  chain: string,
  keys: Keys,
  whole: { readonly oldest: LatestPage['oldest']; readonly idleSince: number },
): (DocumentWrite | CandlesWrite)[] {
  return [...wholeCandleWrites(latest, chain, keys, whole), ...documents(latest, chain, keys)]
}

function documents(latest: LatestChanges, chain: string, keys: Keys): DocumentWrite[] {
  const writes: DocumentWrite[] = []
  const add = (changes: ReadonlyMap<string, PlacedChange>, kind: DocumentKind): void => {
    const { layout, slot, keyOf, ranksOf, ownerOf } = kind
    for (const { set, base } of changes.values()) {
      const isRemoved = set.places[base] !== layout.type
      const ref = { chain, address: set.reader.at(set.places[base + slot] as number).recurringId() }
      writes.push({
        kind: 'document',
        key: keyOf(ref),
        seq: set.seq,
        body: isRemoved ? NOTHING : bodyOf(set, base),
        ranks: isRemoved || ranksOf === undefined ? NO_RANKS : ranksOf(set, base),
        owner: ownerOf?.(ref),
      })
    }
  }
  const { address: pairSlot } = PAIR.slots
  const { pair, token } = WINDOWS_LAYOUT.slots
  add(latest.pairs, { layout: PAIR, slot: pairSlot, keyOf: (ref) => keys.pair(ref), ranksOf: pairRanks })
  add(latest.tokens, {
    layout: TOKEN,
    slot: TOKEN.slots.address,
    keyOf: (ref) => keys.token(ref),
    ranksOf: tokenRanks,
  })
  add(latest.contracts, { layout: CONTRACT, slot: CONTRACT.slots.token, keyOf: (ref) => keys.contract(ref) })
  add(latest.pairWindows, {
    layout: WINDOWS_LAYOUT,
    slot: pair,
    keyOf: (ref) => keys.windows({ kind: 'pair', ...ref }),
  })
  add(latest.tokenWindows, {
    layout: WINDOWS_LAYOUT,
    slot: token,
    keyOf: (ref) => keys.windows({ kind: 'token', ...ref }),
    ranksOf: volumeRanks,
    ownerOf: (ref) => keys.token(ref),
  })
  return writes
}

type DocumentKind = {
  readonly layout: RecordLayout
  /** Of the id that the document is known by. */
  readonly slot: number
  readonly keyOf: (ref: AddressRef) => string
  readonly ranksOf?: (set: ChangeSetIndex, base: number) => Ranks
  readonly ownerOf?: (ref: AddressRef) => string
}

function bodyOf({ bytes, places }: ChangeSetIndex, base: number): Uint8Array {
  const start = places[base + START] as number
  return new Uint8Array(bytes.buffer, bytes.byteOffset + start, (places[base + END] as number) - start)
}
