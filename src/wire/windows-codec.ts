import type { WindowSums, Windows, WindowsRef } from '../domain/change.ts'
import { ChaintapeError } from '../domain/errors.ts'
import { WINDOWS } from '../domain/window.ts'
import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import { readMoney, writeMoney } from './field-codec.ts'

/**
 * Flags at the start of a window. Windows of a rarely traded subject have mostly the same trades, so fields equal to
 * those of the next shorter window are not written again. The shortest one is compared with a window without trades that
 * opened at the current price.
 */
export const SAME_BUYS = 1
export const SAME_SELLS = 2
export const SAME_MAKERS = 4
export const SAME_OPEN = 8
export const NO_OPEN = 16
export const NO_BUY = 32
export const NO_SELL = 64
/** There are as many buyers as buys and as many sellers as sells, so the wallets are not written. */
export const ONCE_EACH = 128

/** In place of a price that may equal an earlier one of its document: `SAME_PRICE` plus the place of that one. */
export const UNKNOWN_PRICE = 0
export const OWN_PRICE = 1
export const SAME_PRICE = 2

const NO_TRADES: Omit<WindowSums, 'openUsd'> = {
  ...{ buyUsd: 0n, sellUsd: 0n, buys: 0, sells: 0, makers: 0, buyers: 0, sellers: 0 },
}

export function writeWindowsRef(w: ByteWriter, { pair, token }: WindowsRef): void {
  w.optional(pair, (known) => w.recurringId(known))
  w.optional(token, (known) => w.recurringId(known))
}

export function readWindowsRef(r: ByteReader): WindowsRef {
  return { pair: r.optional(() => r.recurringId()), token: r.optional(() => r.recurringId()) }
}

/** Reader and writer are by hand, because what is written depends on flags. */
export function writeWindows(w: ByteWriter, windows: Windows): void {
  const { lengths, priceUsd } = windows
  writeWindowsRef(w, windows)
  writeMoney(w, priceUsd)
  for (let at = 0; at < WINDOWS.length; at++) {
    writeSums(w, lengths[at] as WindowSums, lengths[at - 1] ?? { ...NO_TRADES, openUsd: priceUsd })
  }
  writeMoney(w, windows.amountRaw)
  const prices = [priceUsd, ...lengths.map(({ openUsd }) => openUsd)]
  writePrice(w, windows.highUsd, prices)
  writePrice(w, windows.lowUsd, prices)
  w.varuint(windows.day)
  writePrice(w, windows.dayOpenUsd, prices)
}

export function readWindows(r: ByteReader): Windows {
  const ref = readWindowsRef(r)
  const priceUsd = readMoney(r)
  const lengths: WindowSums[] = []
  const prices = [priceUsd]
  let shorter: WindowSums = { ...NO_TRADES, openUsd: priceUsd }
  for (let at = 0; at < WINDOWS.length; at++) {
    shorter = readSums(r, shorter)
    lengths.push(shorter)
    prices.push(shorter.openUsd)
  }
  const amountRaw = readMoney(r)
  const highUsd = readPrice(r, prices)
  const lowUsd = readPrice(r, prices)
  const day = r.varuint()
  const dayOpenUsd = readPrice(r, prices)
  return { pair: ref.pair, token: ref.token, lengths, amountRaw, highUsd, lowUsd, priceUsd, day, dayOpenUsd }
}

function writeSums(w: ByteWriter, sums: WindowSums, shorter: WindowSums): void {
  const { buyUsd, buys, buyers, sellUsd, sells, sellers, makers, openUsd } = sums
  const isSameBuys = buys === shorter.buys && buyers === shorter.buyers && buyUsd === shorter.buyUsd
  const isSameSells = sells === shorter.sells && sellers === shorter.sellers && sellUsd === shorter.sellUsd
  const isSameMakers = makers === shorter.makers
  const isOnceEach =
    !(isSameBuys && isSameSells) && (isSameBuys || buyers === buys) && (isSameSells || sellers === sells)
  const open = openUsd === shorter.openUsd ? SAME_OPEN : openUsd === undefined ? NO_OPEN : 0
  w.u8(
    (isSameBuys ? SAME_BUYS : buyUsd === undefined ? NO_BUY : 0) |
      (isSameSells ? SAME_SELLS : sellUsd === undefined ? NO_SELL : 0) |
      (isSameMakers ? SAME_MAKERS : 0) |
      (isOnceEach ? ONCE_EACH : 0) |
      open,
  )
  if (!isSameBuys) writeSide(w, buyUsd, buys, isOnceEach ? undefined : buyers)
  if (!isSameSells) writeSide(w, sellUsd, sells, isOnceEach ? undefined : sellers)
  if (!isSameMakers) w.varuint(makers)
  if (open === 0) w.biguint(openUsd as bigint)
}

function writeSide(
  w: ByteWriter,
  usd: bigint | undefined,
  trades: number,
  wallets: number | undefined,
): void {
  if (usd !== undefined) w.biguint(usd)
  w.varuint(trades)
  if (wallets !== undefined) w.varuint(wallets)
}

function readSums(r: ByteReader, shorter: WindowSums): WindowSums {
  const flags = r.u8()
  if (!isPossibleWindow(flags)) {
    throw new ChaintapeError('message_unreadable', `a window cannot begin with ${flags}`)
  }
  let { buyUsd, buys, buyers, sellUsd, sells, sellers, makers } = shorter
  if (!(flags & SAME_BUYS)) {
    buyUsd = flags & NO_BUY ? undefined : r.biguint()
    buys = r.varuint()
    buyers = flags & ONCE_EACH ? buys : r.varuint()
  }
  if (!(flags & SAME_SELLS)) {
    sellUsd = flags & NO_SELL ? undefined : r.biguint()
    sells = r.varuint()
    sellers = flags & ONCE_EACH ? sells : r.varuint()
  }
  if (!(flags & SAME_MAKERS)) makers = r.varuint()
  const openUsd = flags & SAME_OPEN ? shorter.openUsd : flags & NO_OPEN ? undefined : r.biguint()
  return { buyUsd, sellUsd, buys, sells, makers, buyers, sellers, openUsd }
}

/** By the flags of a window: 1 if they go together. A table, because every window of every reader is checked. */
const POSSIBLE_WINDOWS = Uint8Array.from({ length: 256 }, (_, flags) => {
  const has = (all: number): boolean => (flags & all) === all
  const isWrong =
    has(SAME_OPEN | NO_OPEN) ||
    has(SAME_BUYS | NO_BUY) ||
    has(SAME_SELLS | NO_SELL) ||
    has(SAME_BUYS | SAME_SELLS | ONCE_EACH)
  return isWrong ? 0 : 1
})

export function isPossibleWindow(flags: number): boolean {
  return POSSIBLE_WINDOWS[flags] === 1
}

/** `prices` are those before it in its document. */
function writePrice(w: ByteWriter, price: bigint | undefined, prices: (bigint | undefined)[]): void {
  const place = price === undefined ? -1 : prices.indexOf(price)
  prices.push(price)
  if (place >= 0) w.u8(SAME_PRICE + place)
  else if (price === undefined) w.u8(UNKNOWN_PRICE)
  else {
    w.u8(OWN_PRICE)
    w.biguint(price)
  }
}

function readPrice(r: ByteReader, prices: (bigint | undefined)[]): bigint | undefined {
  const code = r.u8()
  const price =
    code === UNKNOWN_PRICE ? undefined : code === OWN_PRICE ? r.biguint() : prices[code - SAME_PRICE]
  if (code >= SAME_PRICE && price === undefined) {
    throw new ChaintapeError('message_unreadable', `no price at place ${code - SAME_PRICE}`)
  }
  prices.push(price)
  return price
}
