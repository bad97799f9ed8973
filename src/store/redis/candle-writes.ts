import type { Candle, CandleRef } from '../../domain/change.ts'
import { INTERVALS, type Interval } from '../../domain/interval.ts'
import { ByteWriter } from '../../wire/byte-writer.ts'
import { writeCandleBody } from '../../wire/candle-codec.ts'
import type { AddressRef, Keys } from './keys.ts'

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

type Version = { readonly seq: number; readonly candle: Candle | undefined }

const NOTHING = new Uint8Array(0)
const REMOVAL = 0x80
const TWO_32 = 2 ** 32

/** The newest version of each candle of a run of changes, by pair. */
export class CandleWrites {
  readonly #pairs = new Map<string, Map<Interval, Map<number, Version>>>()

  put({ pair, interval, start }: CandleRef, seq: number, candle: Candle | undefined): void {
    let series = this.#pairs.get(pair)
    if (series === undefined) {
      series = new Map()
      this.#pairs.set(pair, series)
    }
    const versions = series.get(interval)
    if (versions === undefined) series.set(interval, new Map([[start, { seq, candle }]]))
    else versions.set(start, { seq, candle })
  }

  finish(chain: string, keys: Keys): CandlesWrite[] {
    return Array.from(this.#pairs, ([address, series]) =>
      candlesWrite(keys, { chain, address }, NOTHING, series),
    )
  }

  /**
   * The same of series that are complete: each begins with the candle in `oldest`, or has no older ones at all. Pairs that
   * have not traded since `idleSince` are left out, as if they had expired.
   */
  finishWhole(chain: string, keys: Keys, oldest: readonly CandleRef[], idleSince: number): CandlesWrite[] {
    const firsts = new Map(oldest.map(({ pair, interval, start }) => [`${pair}/${interval}`, start]))
    return Array.from(this.#pairs).flatMap(([address, series]) => {
      const lastTraded = Math.max(...Array.from(series.get('s1')?.keys() ?? [0]))
      if (lastTraded < idleSince) return []
      w.clear()
      for (const interval of INTERVALS) w.u32(firsts.get(`${address}/${interval}`) ?? 0)
      return [candlesWrite(keys, { chain, address }, w.finish(), series)]
    })
  }
}

/** One for all writes: it has grown to their size. */
const w = new ByteWriter(4_096)
const body = new ByteWriter(1_024)

/** Of each series the removals first, then by start: a removal makes room for what came before. */
function candlesWrite(
  keys: Keys,
  pair: AddressRef,
  froms: Uint8Array,
  series: ReadonlyMap<Interval, ReadonlyMap<number, Version>>,
): CandlesWrite {
  let size = 0
  w.clear()
  for (const [interval, versions] of series) {
    const code = INTERVALS.indexOf(interval)
    const ordered = versions.size === 1 ? [...versions] : [...versions].sort(removalsFirst)
    for (const [start, version] of ordered) writeRecord(code, start, version)
    size += versions.size
  }
  return {
    kind: 'candles',
    key: keys.candles(pair),
    pairKey: keys.pair(pair),
    froms,
    records: w.finish(),
    size,
  }
}

function writeRecord(code: number, start: number, { seq, candle }: Version): void {
  body.clear()
  body.varuint(seq)
  if (candle !== undefined) writeCandleBody(body, candle)
  w.u8(candle === undefined ? code | REMOVAL : code)
  w.u32(start)
  w.u32(Math.floor(seq / TWO_32))
  w.u32(seq % TWO_32)
  w.u16(body.length)
  w.rawOf(body)
}

function removalsFirst(
  [startA, a]: readonly [number, Version],
  [startB, b]: readonly [number, Version],
): number {
  const rank = ({ candle }: Version): number => (candle === undefined ? 0 : 1)
  return rank(a) - rank(b) || startA - startB
}
