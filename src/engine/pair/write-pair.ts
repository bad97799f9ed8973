import type { ByteWriter } from '../../wire/byte-writer.ts'
import { writeDirection, writeTime } from '../../wire/field-codec.ts'
import type { PairView, SideView } from './pair-view.ts'

/** Writes the bytes of `writePair` from a row; names and numbers are copied without decoding. */
export function writePairRow(w: ByteWriter, pair: PairView): void {
  const { row, names } = pair
  const { words } = row
  w.piece(names.idOnWire)
  w.piece(names.ammOnWire)
  writeSide(w, pair.token0)
  writeSide(w, pair.token1)
  w.piece(names.targetOnWire)
  w.bool(row.isMain)
  writeNumber(w, row.hasTvlUsd, words, row.tvlUsdAt)
  writeNumber(w, row.hasTvlNative, words, row.tvlNativeAt)
  writeNumber(w, row.hasFdvUsd, words, row.fdvUsdAt)
  writeTime(w, row.createdAt)
  w.varuint(row.updatedAt)
  writeTime(w, row.firstTradeAt)
  writeTime(w, row.lastTradeAt)
  writeNumber(w, row.hasLastTradePriceUsd, words, row.lastTradePriceUsdAt)
  writeDirection(w, pair.lastSide)
  writeNumber(w, row.hasAthPriceUsd, words, row.athPriceUsdAt)
}

function writeSide(w: ByteWriter, side: SideView): void {
  const { row } = side
  const { words } = row
  w.piece(side.onWire)
  writeNumber(w, row.hasReserveRaw, words, row.reserveRawAt)
  writeNumber(w, row.hasInitialReserveRaw, words, row.initialReserveRawAt)
  writeNumber(w, row.hasPriceUsd, words, row.priceUsdAt)
  writeNumber(w, row.hasPriceNative, words, row.priceNativeAt)
}

/** An optional number of a row. */
export function writeNumber(w: ByteWriter, isKnown: boolean, words: Uint32Array, at: number): void {
  w.bool(isKnown)
  if (isKnown) w.limbs(words, at)
}
