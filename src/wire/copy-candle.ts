import type { ByteWriter } from './byte-writer.ts'
import { AS_NATIVE, AS_USD, NO_VALUES, NO_VOLUME } from './candle-codec.ts'
import type { ChangeSetIndex } from './change-index.ts'
import { CANDLE } from './change-layouts.ts'

const { usdOpen, nativeOpen, quoteAs, quoteOpen, tradeCount, firstBlock, lastBlock } = CANDLE.slots
const VOLUME = 4
const ORDER_KEY_FIELDS = 3

/** The bytes of `writeCandleBody`, copied from a message instead of encoded again. */
export function copyCandleBody(w: ByteWriter, { bytes, places }: ChangeSetIndex, base: number): void {
  copyValues(w, bytes, places, base + usdOpen)
  copyValues(w, bytes, places, base + nativeOpen)
  const unit = places[base + quoteAs] as number
  if (unit === 0) copyValues(w, bytes, places, base + quoteOpen)
  else w.u8(unit === 1 ? AS_USD : AS_NATIVE)
  copyVaruint(w, bytes, places[base + tradeCount] as number)
  for (let i = 0; i < ORDER_KEY_FIELDS; i++) copyVaruint(w, bytes, places[base + firstBlock + i] as number)
  for (let i = 0; i < ORDER_KEY_FIELDS; i++) copyVaruint(w, bytes, places[base + lastBlock + i] as number)
}

function copyValues(w: ByteWriter, bytes: Uint8Array, places: Uint32Array, slot: number): void {
  if (places[slot] === 0) {
    w.u8(NO_VALUES)
    return
  }
  const hasVolume = places[slot + VOLUME] !== 0
  w.u8(hasVolume ? 0 : NO_VOLUME)
  for (let i = 0; i < VOLUME; i++) copyBiguint(w, bytes, places[slot + i] as number)
  if (hasVolume) copyBiguint(w, bytes, places[slot + VOLUME] as number)
}

function copyBiguint(w: ByteWriter, bytes: Uint8Array, at: number): void {
  w.copy(bytes, at, at + 1 + (bytes[at] as number))
}

function copyVaruint(w: ByteWriter, bytes: Uint8Array, at: number): void {
  let end = at + 1
  while ((bytes[end - 1] as number) >= 0x80) end++
  w.copy(bytes, at, end)
}
