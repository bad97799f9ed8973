import type { EventRef, EventSide, TradeDirection } from '../domain/change.ts'
import { ChaintapeError } from '../domain/errors.ts'
import type { OrderKey } from '../domain/order-key.ts'
import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import { type Codec, recurringId, varuint } from './codec.ts'

/** Fields common to several records, with reader and writer by hand: every trade has them. */

export function writeOrderKey(w: ByteWriter, key: OrderKey): void {
  w.varuint(key.block)
  w.varuint(key.tx)
  w.varuint(key.log)
}

export function readOrderKey(r: ByteReader): OrderKey {
  return { block: r.varuint(), tx: r.varuint(), log: r.varuint() }
}

export function writeEventRef(w: ByteWriter, ref: EventRef): void {
  writeOrderKey(w, ref.key)
  w.varuint(ref.time)
  w.recurringId(ref.pair)
}

export function readEventRef(r: ByteReader): EventRef {
  return { key: readOrderKey(r), time: r.varuint(), pair: r.recurringId() }
}

/** The first fields of each side of a pair, a trade or a liquidity event. */
export function writeSideNames(
  w: ByteWriter,
  { token, symbol, decimals }: Pick<EventSide, 'token' | 'symbol' | 'decimals'>,
): void {
  w.recurringId(token)
  w.text(symbol)
  writeDecimals(w, decimals)
}

export function writeEventSide(w: ByteWriter, side: EventSide): void {
  writeSideNames(w, side)
  w.biguint(side.amountRaw)
  writeMoney(w, side.reserveRaw)
  writeMoney(w, side.priceUsd)
  writeMoney(w, side.priceNative)
}

export function readEventSide(r: ByteReader): EventSide {
  return {
    token: r.recurringId(),
    symbol: r.text(),
    decimals: readDecimals(r),
    amountRaw: r.biguint(),
    reserveRaw: readMoney(r),
    priceUsd: readMoney(r),
    priceNative: readMoney(r),
  }
}

export function writeMoney(w: ByteWriter, money: bigint | undefined): void {
  w.bool(money !== undefined)
  if (money !== undefined) w.biguint(money)
}

export function readMoney(r: ByteReader): bigint | undefined {
  return r.bool() ? r.biguint() : undefined
}

export function writeTime(w: ByteWriter, time: number | undefined): void {
  w.optional(time, (known) => w.varuint(known))
}

export function readTime(r: ByteReader): number | undefined {
  return r.optional(() => r.varuint())
}

export function writeDecimals(w: ByteWriter, decimals: number | undefined): void {
  w.optional(decimals, (known) => w.u8(known))
}

export function readDecimals(r: ByteReader): number | undefined {
  return r.optional(() => r.u8())
}

export function writeDirection(w: ByteWriter, direction: TradeDirection | undefined): void {
  w.u8(direction === undefined ? 0 : direction === 'buy' ? 1 : 2)
}

export function readDirection(r: ByteReader): TradeDirection | undefined {
  const code = r.u8()
  if (code > 2) throw new ChaintapeError('message_unreadable', `unknown direction ${code}`)
  return code === 0 ? undefined : code === 1 ? 'buy' : 'sell'
}

export const moneyCodec: Codec<bigint | undefined> = { write: writeMoney, read: readMoney }
export const eventSideCodec: Codec<EventSide> = { write: writeEventSide, read: readEventSide }
export const eventRefCodec: Codec<EventRef> = { write: writeEventRef, read: readEventRef }
const orderKeyCodec: Codec<OrderKey> = { write: writeOrderKey, read: readOrderKey }
/** The first fields of an event. */
export const eventRefFields = { key: orderKeyCodec, time: varuint, pair: recurringId }
