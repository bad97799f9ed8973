import type { Price } from '../../../../../../src/domain/money.ts'
import type { ByteReader } from '../../wire/byte-reader.ts'
import type { ByteWriter } from '../../wire/byte-writer.ts'

/** A price that is the highest (or lowest) of its minute and of all minutes since. */
type Peak = { readonly minute: number; readonly price: Price }

/**
 * What is needed to tell the highest and lowest price of the last 24 hours when the oldest minute leaves: only
 * those that no later one has outdone. They are few, oldest first, and the first one is the answer.
 */
export type Extremes = { readonly highs: readonly Peak[]; readonly lows: readonly Peak[] }

export const NO_EXTREMES: Extremes = { highs: [], lows: [] }

export function withPrices(extremes: Extremes, minute: number, high: Price, low: Price): Extremes {
  return {
    highs: withPeak(extremes.highs, minute, high, (standing) => standing > high),
    lows: withPeak(extremes.lows, minute, low, (standing) => standing < low),
  }
}

/** Without the minutes up to this one. */
export function withoutMinutes(extremes: Extremes, last: number): Extremes {
  const isLater = ({ minute }: Peak): boolean => minute > last
  return { highs: extremes.highs.filter(isLater), lows: extremes.lows.filter(isLater) }
}

function withPeak(
  peaks: readonly Peak[],
  minute: number,
  price: Price,
  outlasts: (standing: Price) => boolean,
): readonly Peak[] {
  const last = peaks.at(-1)
  // Within a minute only what is further out counts.
  if (last?.minute === minute && (outlasts(last.price) || last.price === price)) return peaks
  return [...peaks.filter((peak) => outlasts(peak.price)), { minute, price }]
}

export function writeExtremes(w: ByteWriter, { highs, lows }: Extremes): void {
  for (const peaks of [highs, lows]) {
    w.varuint(peaks.length)
    for (const { minute, price } of peaks) {
      w.varuint(minute)
      w.biguint(price)
    }
  }
}

export function readExtremes(r: ByteReader): Extremes {
  const peaks = (): Peak[] => r.list(() => ({ minute: r.varuint(), price: r.biguint() }))
  return { highs: peaks(), lows: peaks() }
}
