import type { ByteWriter } from '../../wire/byte-writer.ts'
import { writeTime } from '../../wire/field-codec.ts'
import { writeNumber } from '../pair/write-pair.ts'
import type { TokenRow } from './token-rows.ts'
import type { TokenView } from './token-view.ts'

/** Writes the bytes of `writeToken` from a row; names and numbers are copied without decoding. */
export function writeTokenRow(w: ByteWriter, { row, names }: TokenView): void {
  const { words } = row
  w.piece(names.onWire)
  writeNumber(w, row.hasSupplyRaw, words, row.supplyRawAt)
  writeNumber(w, row.hasPriceUsd, words, row.priceUsdAt)
  writeNumber(w, row.hasPriceNative, words, row.priceNativeAt)
  w.bool(row.hasMainPair)
  if (row.hasMainPair) w.idWords(words, row.mainPairAt)
  writeNumber(w, row.hasMainPairTvlUsd, words, row.mainPairTvlUsdAt)
  writeNumber(w, row.hasTvlUsd, words, row.tvlUsdAt)
  writeNumber(w, row.hasFdvUsd, words, row.fdvUsdAt)
  writeNumber(w, row.hasMarketCapUsd, words, row.marketCapUsdAt)
  writeHolding(w, row)
  w.bool(row.hasOriginAt)
  if (row.hasOriginAt) {
    w.varuint(row.originAt ?? 0)
    w.idWords(words, row.creatorAt)
  }
  w.bool(row.isLaunchKnown)
  if (row.isLaunchKnown) {
    w.varuint(row.firstTradeAt ?? 0)
    writeNumber(w, row.hasFirstTradePriceUsd, words, row.firstTradePriceUsdAt)
  }
  writePlatform(w, row)
  writeRisk(w, row)
  w.varuint(row.updatedAt)
}

function writeHolding(w: ByteWriter, row: TokenRow): void {
  w.bool(row.hasBurnedRaw)
  if (!row.hasBurnedRaw) return
  w.optional(row.holders, (known) => w.varuint(known))
  w.limbs(row.words, row.burnedRawAt)
  w.limbs(row.words, row.lockedRawAt)
  writeNumber(w, row.hasCirculatingRaw, row.words, row.circulatingRawAt)
}

function writePlatform(w: ByteWriter, row: TokenRow): void {
  w.bool(row.hasPlatform)
  if (!row.hasPlatform) return
  w.bytes(row.platform)
  writeTime(w, row.platformCreatedAt)
  w.optional(row.progressPpm, (known) => w.varuint(known))
  writeTime(w, row.graduatedAt)
}

function writeRisk(w: ByteWriter, row: TokenRow): void {
  w.bool(row.hasRiskScore)
  if (!row.hasRiskScore) return
  w.u8(row.riskScore ?? 0)
  w.bool(row.isHoneypot || row.isNoHoneypot)
  if (row.isHoneypot || row.isNoHoneypot) w.bool(row.isHoneypot)
  w.bool(row.isMintable)
}
