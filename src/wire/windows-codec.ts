import type { WindowSums, Windows, WindowsRef } from '../domain/change.ts'
import { ChaintapeError } from '../domain/errors.ts'
import { WINDOWS } from '../domain/window.ts'
import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import { readMoney, writeMoney } from './field-codec.ts'

/**
 * Flags at the start of a window. Several windows of a rarely traded subject are equal: sums or an opening price equal to
 * those of the next shorter window are not written again.
 */
export const SAME_SUMS = 1
export const SAME_OPEN = 2
export const NO_OPEN = 4
export const NO_BUY = 8
export const NO_SELL = 16
const ALL_FLAGS = SAME_SUMS | SAME_OPEN | NO_OPEN | NO_BUY | NO_SELL

export function writeWindowsRef(w: ByteWriter, { pair, token }: WindowsRef): void {
  w.optional(pair, (known) => w.recurringId(known))
  w.optional(token, (known) => w.recurringId(known))
}

export function readWindowsRef(r: ByteReader): WindowsRef {
  return { pair: r.optional(() => r.recurringId()), token: r.optional(() => r.recurringId()) }
}

export function writeWindows(w: ByteWriter, windows: Windows): void {
  writeWindowsRef(w, windows)
  for (let at = 0; at < WINDOWS.length; at++) {
    writeSums(w, windows.lengths[at] as WindowSums, windows.lengths[at - 1])
  }
  writeMoney(w, windows.amountRaw)
  writeMoney(w, windows.highUsd)
  writeMoney(w, windows.lowUsd)
  writeMoney(w, windows.priceUsd)
  w.varuint(windows.day)
  writeMoney(w, windows.dayOpenUsd)
}

export function readWindows(r: ByteReader): Windows {
  const ref = readWindowsRef(r)
  const lengths: WindowSums[] = []
  for (let at = 0; at < WINDOWS.length; at++) lengths.push(readSums(r, lengths[at - 1]))
  return {
    pair: ref.pair,
    token: ref.token,
    lengths,
    amountRaw: readMoney(r),
    highUsd: readMoney(r),
    lowUsd: readMoney(r),
    priceUsd: readMoney(r),
    day: r.varuint(),
    dayOpenUsd: readMoney(r),
  }
}

function writeSums(w: ByteWriter, sums: WindowSums, previous: WindowSums | undefined): void {
  const isSameSums =
    previous !== undefined &&
    sums.buys === previous.buys &&
    sums.sells === previous.sells &&
    sums.makers === previous.makers &&
    sums.buyers === previous.buyers &&
    sums.sellers === previous.sellers &&
    sums.buyUsd === previous.buyUsd &&
    sums.sellUsd === previous.sellUsd
  const isSameOpen = previous !== undefined && sums.openUsd === previous.openUsd
  const open = isSameOpen ? SAME_OPEN : sums.openUsd === undefined ? NO_OPEN : 0
  const unknown = (sums.buyUsd === undefined ? NO_BUY : 0) | (sums.sellUsd === undefined ? NO_SELL : 0)
  w.u8((isSameSums ? SAME_SUMS : unknown) | open)
  if (!isSameSums) {
    if (sums.buyUsd !== undefined) w.biguint(sums.buyUsd)
    if (sums.sellUsd !== undefined) w.biguint(sums.sellUsd)
    w.varuint(sums.buys)
    w.varuint(sums.sells)
    w.varuint(sums.makers)
    w.varuint(sums.buyers)
    w.varuint(sums.sellers)
  }
  if (open === 0) w.biguint(sums.openUsd as bigint)
}

function readSums(r: ByteReader, previous: WindowSums | undefined): WindowSums {
  const flags = r.u8()
  const open = flags & (SAME_OPEN | NO_OPEN)
  const isSameSums = (flags & SAME_SUMS) !== 0
  if (!isPossibleWindow(flags, previous !== undefined)) {
    throw new ChaintapeError('message_unreadable', `a window cannot begin with ${flags}`)
  }
  if (previous !== undefined && flags === (SAME_SUMS | SAME_OPEN)) return previous
  if (previous !== undefined && isSameSums) {
    return { ...previous, openUsd: open === NO_OPEN ? undefined : r.biguint() }
  }
  return {
    buyUsd: flags & NO_BUY ? undefined : r.biguint(),
    sellUsd: flags & NO_SELL ? undefined : r.biguint(),
    buys: r.varuint(),
    sells: r.varuint(),
    makers: r.varuint(),
    buyers: r.varuint(),
    sellers: r.varuint(),
    openUsd: open === SAME_OPEN ? previous?.openUsd : open === NO_OPEN ? undefined : r.biguint(),
  }
}

export function isPossibleWindow(flags: number, hasPrevious: boolean): boolean {
  const open = flags & (SAME_OPEN | NO_OPEN)
  const isSameSums = (flags & SAME_SUMS) !== 0
  return (
    flags <= ALL_FLAGS &&
    open !== (SAME_OPEN | NO_OPEN) &&
    !(isSameSums && (flags & (NO_BUY | NO_SELL)) !== 0) &&
    (hasPrevious || !(isSameSums || open === SAME_OPEN))
  )
}
