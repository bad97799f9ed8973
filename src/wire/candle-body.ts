import type { Candle, CandleValues } from '../domain/change.ts'
import type { Interval } from '../domain/interval.ts'
import { quoteUnit } from '../domain/quote-unit.ts'
import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import { AS_NATIVE, AS_USD, badValues, NO_VALUES, NO_VOLUME } from './candle-codec.ts'
import { readOrderKey, writeOrderKey } from './field-codec.ts'

/** All fields except pair, interval and start; each body decodes on its own, with every number written. */
export function writeCandleBody(w: ByteWriter, candle: Candle): void {
  writeAllValues(w, candle.usd)
  writeAllValues(w, candle.native)
  const unit = quoteUnit(candle)
  if (unit === undefined) writeAllValues(w, candle.quote)
  else w.u8(unit === 'usd' ? AS_USD : AS_NATIVE)
  w.varuint(candle.tradeCount)
  writeOrderKey(w, candle.firstTrade)
  writeOrderKey(w, candle.lastTrade)
}

export function readCandleBody(r: ByteReader, pair: string, interval: Interval, start: number): Candle {
  const usd = readAllValues(r, r.u8())
  const native = readAllValues(r, r.u8())
  const same = r.u8()
  const quote =
    same === AS_USD && usd !== undefined
      ? usd
      : same === AS_NATIVE && native !== undefined
        ? native
        : readAllValues(r, same)
  const [tradeCount, firstTrade, lastTrade] = [r.varuint(), readOrderKey(r), readOrderKey(r)]
  return { pair, interval, start, usd, native, quote, tradeCount, firstTrade, lastTrade }
}

function writeAllValues(w: ByteWriter, values: CandleValues | undefined): void {
  if (values === undefined) {
    w.u8(NO_VALUES)
    return
  }
  w.u8(values.volume === undefined ? NO_VOLUME : 0)
  w.biguint(values.open)
  w.biguint(values.high)
  w.biguint(values.low)
  w.biguint(values.close)
  if (values.volume !== undefined) w.biguint(values.volume)
}

function readAllValues(r: ByteReader, same: number): CandleValues | undefined {
  if (same === NO_VALUES) return undefined
  if (same !== 0 && same !== NO_VOLUME) throw badValues(same)
  const [open, high, low, close] = [r.biguint(), r.biguint(), r.biguint(), r.biguint()]
  return { open, high, low, close, volume: same === NO_VOLUME ? undefined : r.biguint() }
}
