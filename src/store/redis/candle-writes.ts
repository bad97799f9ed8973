import type { CandleRef } from '../../domain/change.ts'
import { INTERVALS } from '../../domain/interval.ts'
import { ByteWriter } from '../../wire/byte-writer.ts'
import type { ChangeSetIndex } from '../../wire/change-index.ts'
import { CANDLE } from '../../wire/change-layouts.ts'
import { copyCandleBody } from '../../wire/copy-candle.ts'
import type { AddressRef } from '../document-reads.ts'
import type { LatestChanges, PlacedChange } from '../latest-changes.ts'
import type { Keys } from './keys.ts'

/** What apply.lua takes for the candles of one pair. */
export type CandlesWrite = {
  readonly kind: 'candles'
  readonly key: string
  /** The document of the pair: if Redis has it but no series, then the series has expired. */
  readonly pairKey: string
  /** Where each series begins, if another store knows it; empty if not. */
  readonly froms: Uint8Array
  readonly records: Uint8Array
  readonly size: number
}

type PairCandles = ReadonlyMap<number, PlacedChange>

const NOTHING = new Uint8Array(0)
const REMOVAL = 0x80
const TWO_32 = 2 ** 32
const NO_TRADES = -1
const { pair, interval, start, trades } = CANDLE.slots

export function candleWrites({ candles }: LatestChanges, chain: string, keys: Keys): CandlesWrite[] {
  const writes: CandlesWrite[] = []
  for (const ofPair of candles.values()) {
    writes.push(candlesWrite(keys, { chain, address: addressOf(ofPair) }, NOTHING, ofPair))
  }
  return writes
}

/**
 * The same of series that are complete: each begins with the candle in `oldest`, or has no older ones at all. Pairs that
 * have not traded since `idleSince` are left out, as if they had expired.
 */
export function wholeCandleWrites(
  { candles }: LatestChanges,
  chain: string,
  keys: Keys,
  { oldest, idleSince }: { readonly oldest: readonly CandleRef[]; readonly idleSince: number },
): CandlesWrite[] {
  const firsts = new Map(oldest.map((ref) => [`${ref.pair}/${ref.interval}`, ref.start]))
  return Array.from(candles.values()).flatMap((ofPair) => {
    if (lastTraded(ofPair) < idleSince) return []
    const address = addressOf(ofPair)
    w.clear()
    for (const name of INTERVALS) w.u32(firsts.get(`${address}/${name}`) ?? 0)
    return [candlesWrite(keys, { chain, address }, w.finish(), ofPair)]
  })
}

/** One for all writes: it has grown to their size. */
const w = new ByteWriter(4_096)
/** Most candles of a pair have the trades of the one before, and so the same body. */
const body = new ByteWriter(1_024)
let previousSet: ChangeSetIndex | undefined
let previousTrades = NO_TRADES

function addressOf(candles: PairCandles): string {
  const { set, base } = candles.values().next().value as PlacedChange
  return set.reader.at(set.places[base + pair] as number).recurringId()
}

/** The start of the newest candle of the shortest interval. */
function lastTraded(candles: PairCandles): number {
  let last = 0
  for (const { set, base } of candles.values()) {
    if (set.places[base + interval] === 0) last = Math.max(last, set.places[base + start] as number)
  }
  return last
}

function candlesWrite(
  keys: Keys,
  address: AddressRef,
  froms: Uint8Array,
  candles: PairCandles,
): CandlesWrite {
  w.clear()
  previousSet = undefined
  for (const { set, base } of inOrder(candles)) writeRecord(set, base)
  return {
    kind: 'candles',
    key: keys.candles(address),
    pairKey: keys.pair(address),
    froms,
    records: w.finish(),
    size: candles.size,
  }
}

/** Of each series the removals first, then by start: a removal makes room for what came before. */
function inOrder(candles: PairCandles): Iterable<PlacedChange> {
  let previous = -1
  let isInOrder = true
  for (const [key, { set, base }] of candles) {
    isInOrder &&= key > previous && isPut(set, base)
    previous = key
  }
  if (isInOrder) return candles.values()
  return [...candles]
    .sort(
      ([keyA, a], [keyB, b]) => Number(isPut(a.set, a.base)) - Number(isPut(b.set, b.base)) || keyA - keyB,
    )
    .map(([, candle]) => candle)
}

function isPut({ places }: ChangeSetIndex, base: number): boolean {
  return places[base] === CANDLE.type
}

function writeRecord(set: ChangeSetIndex, base: number): void {
  const code = set.places[base + interval] as number
  const itsTrades = isPut(set, base) ? (set.places[base + trades] as number) : NO_TRADES
  if (set !== previousSet || itsTrades !== previousTrades) {
    previousSet = set
    previousTrades = itsTrades
    body.clear()
    body.varuint(set.seq)
    if (isPut(set, base)) copyCandleBody(body, set, base)
  }
  w.u8(isPut(set, base) ? code : code | REMOVAL)
  w.u32(set.places[base + start] as number)
  w.u32(Math.floor(set.seq / TWO_32))
  w.u32(set.seq % TWO_32)
  w.u16(body.length)
  w.rawOf(body)
}
