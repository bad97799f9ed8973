import type { CandleRef } from '../../domain/change.ts'
import { INTERVALS } from '../../domain/interval.ts'
import { ByteWriter } from '../../wire/byte-writer.ts'
import type { ChangeSetIndex } from '../../wire/change-index.ts'
import { CANDLE } from '../../wire/change-layouts.ts'
import { copyCandleBody } from '../../wire/copy-candle.ts'
import type { LatestChanges, PlacedChange } from '../latest-changes.ts'

/** The candles of one pair. */
export type CandlesWrite = {
  readonly kind: 'candles'
  /** The start of each series, if another store knows it; otherwise empty. */
  readonly froms: Uint8Array
  /** Within each series, removals come first, then candles by start, as apply.lua expects. */
  readonly candles: readonly PlacedChange[]
}

type PairCandles = ReadonlyMap<number, PlacedChange>

const NOTHING = new Uint8Array(0)
const REMOVAL = 0x80
const TWO_32 = 2 ** 32
const NO_TRADES = -1
/** In place of a length: the record repeats the previous body. */
export const SAME_BODY = 0xffff
const { pair, interval, start, trades } = CANDLE.slots

export function candleWrites({ candles }: LatestChanges): CandlesWrite[] {
  return Array.from(candles.values(), (ofPair) => ({
    kind: 'candles',
    froms: NOTHING,
    candles: inOrder(ofPair),
  }))
}

/**
 * Writes for complete series: each starts with its candle in `oldest`, or has no older ones at all. Pairs without
 * trades since `idleSince` are skipped, as if they had expired.
 */
export function completeCandleWrites(
  { candles }: LatestChanges,
  { oldest, idleSince }: { readonly oldest: readonly CandleRef[]; readonly idleSince: number },
): CandlesWrite[] {
  const firsts = new Map(oldest.map((ref) => [`${ref.pair}/${ref.interval}`, ref.start]))
  const w = new ByteWriter(INTERVALS.length * 4)
  return Array.from(candles.values()).flatMap((ofPair) => {
    if (lastTraded(ofPair) < idleSince) return []
    const { set, base } = ofPair.values().next().value as PlacedChange
    const address = set.reader.at(set.places[base + pair] as number).id()
    w.clear()
    for (const name of INTERVALS) w.u32(firsts.get(`${address}/${name}`) ?? 0)
    return [{ kind: 'candles', froms: w.finish(), candles: inOrder(ofPair) }]
  })
}

/**
 * The input records of apply.lua. Most candles of a pair contain the same trades as the previous one, so their bodies
 * are equal.
 */
export function writeCandleRecords(w: ByteWriter, candles: readonly PlacedChange[]): void {
  let previousSet: ChangeSetIndex | undefined
  let previousTrades = NO_TRADES
  for (const { set, base } of candles) {
    const { seq, places } = set
    const isPut = places[base] === CANDLE.type
    const itsTrades = isPut ? (places[base + trades] as number) : NO_TRADES
    const code = places[base + interval] as number
    w.u8(isPut ? code : code | REMOVAL)
    w.u32(places[base + start] as number)
    w.u32(Math.floor(seq / TWO_32))
    w.u32(seq % TWO_32)
    if (set === previousSet && itsTrades === previousTrades) {
      w.u16(SAME_BODY)
      continue
    }
    previousSet = set
    previousTrades = itsTrades
    const lengthAt = w.length
    w.u16(0)
    w.varuint(seq)
    if (isPut) copyCandleBody(w, set, base)
    w.u16At(lengthAt, w.length - lengthAt - 2)
  }
}

/** Start of the latest candle of the shortest interval. */
function lastTraded(candles: PairCandles): number {
  let last = 0
  for (const { set, base } of candles.values()) {
    if (set.places[base + interval] === 0) last = Math.max(last, set.places[base + start] as number)
  }
  return last
}

function inOrder(candles: PairCandles): PlacedChange[] {
  let previous = -1
  let isInOrder = true
  for (const [key, candle] of candles) {
    isInOrder &&= key > previous && isPut(candle)
    previous = key
  }
  if (isInOrder) return [...candles.values()]
  return [...candles]
    .sort(([keyA, a], [keyB, b]) => Number(isPut(a)) - Number(isPut(b)) || keyA - keyB)
    .map(([, candle]) => candle)
}

function isPut({ set, base }: PlacedChange): boolean {
  return set.places[base] === CANDLE.type
}
