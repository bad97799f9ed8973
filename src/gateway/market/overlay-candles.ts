import type { Candle } from '../../domain/change.ts'
import type { Interval } from '../../domain/interval.ts'
import { ByteReader } from '../../wire/byte-reader.ts'
import { readCandles } from '../../wire/candle-codec.ts'
import type { SetMessage, Version } from './overlay-documents.ts'

/** Which candle of a pair. */
export type CandlePlace = { readonly interval: Interval; readonly start: number }

const NOWHERE = -1

/** Consecutive candles of one pair as the bytes of their message, decoded at every read; without `at` they are removed. */
export class EncodedCandles {
  readonly pair: string
  readonly places: readonly CandlePlace[]
  readonly #message: SetMessage
  readonly #at: number

  constructor(pair: string, places: readonly CandlePlace[], message: SetMessage, at: number = NOWHERE) {
    this.pair = pair
    this.places = places
    this.#message = message
    this.#at = at
  }

  /** As many as there are places. */
  versions(): Version<Candle>[] {
    const { seq, bytes } = this.#message
    const candles = this.#at === NOWHERE ? [] : readCandles(new ByteReader(bytes, this.#at))
    return this.places.map((_, nth) => ({ seq, record: candles[nth] }))
  }
}

/**
 * Ten candles change with every trade: each run of them is held as one, and which of them somebody looks for is found out
 * when somebody does. A run of the same candles takes the place of the one before, so a pair has one for each second.
 */
export class OverlayCandles {
  /** By pair, in order. None is empty. */
  readonly #runs = new Map<string, EncodedCandles[]>()

  get size(): number {
    let size = 0
    for (const runs of this.#runs.values()) for (const { places } of runs) size += places.length
    return size
  }

  /** By the start of the candle. */
  of(pair: string, interval: Interval): ReadonlyMap<number, Version<Candle>> {
    const found = new Map<number, Version<Candle>>()
    for (const run of this.#runs.get(pair) ?? []) {
      for (const [nth, version] of run.versions().entries()) {
        const place = run.places[nth]
        if (place?.interval === interval) found.set(place.start, version)
      }
    }
    return found
  }

  put(run: EncodedCandles): void {
    const runs = this.#runs.get(run.pair)
    const last = runs?.at(-1)
    if (runs === undefined || last === undefined) this.#runs.set(run.pair, [run])
    else if (samePlaces(last.places, run.places)) runs[runs.length - 1] = run
    else runs.push(run)
  }

  /** Keeps later versions that replaced these. */
  drop(run: EncodedCandles): void {
    const runs = this.#runs.get(run.pair)
    // They leave in the order they came in.
    if (runs?.[0] !== run) return
    if (runs.length === 1) this.#runs.delete(run.pair)
    else runs.shift()
  }
}

/** All pairs of a block, and of most blocks of a second, have the same: then it is one list. */
export function samePlaces(some: readonly CandlePlace[], others: readonly CandlePlace[]): boolean {
  if (some === others) return true
  return (
    some.length === others.length &&
    some.every(({ interval, start }, at) => others[at]?.interval === interval && others[at].start === start)
  )
}
