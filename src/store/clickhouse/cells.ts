import { ChaintapeError } from '../../domain/errors.ts'
import { isAmount, isBalance, MAX_FIXED, MAX_TIME } from '../../domain/limits.ts'
import { PRICE_DIGITS, type Price, pow10, VALUE_DIGITS, type Value } from '../../domain/money.ts'

/** As it stands between two tabs. */
export type Cell = string

export const NULL: Cell = '\\N'

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '\0': '\\0',
}
const SPECIAL = /[\\\t\n\r\0]/
const ALL_SPECIAL = /[\\\t\n\r\0]/g
const MAX_COUNT = 2n ** 64n - 1n

// The server wraps an integer that is too large around, and refuses a decimal that is: a number beyond the limits of its
// column is NULL, which is unknown.

export function priceCell(known: Price | undefined): Cell {
  return known === undefined || known > MAX_FIXED ? NULL : decimal(known, PRICE_DIGITS)
}

export function valueCell(known: Value | undefined): Cell {
  return known === undefined || known > MAX_FIXED ? NULL : decimal(known, VALUE_DIGITS)
}

/** To order by: what is unknown comes last, and what no column can hold is as good as the most it can. */
export function wholeDollarsCell(known: Value | undefined): Cell {
  const dollars = (known ?? 0n) / pow10(VALUE_DIGITS)
  return dollars > MAX_COUNT ? MAX_COUNT.toString() : dollars.toString()
}

/** With all its zeros: the server does not mind them, and most of what is written are decimals. */
function decimal(fixed: bigint, digits: number): Cell {
  const text = fixed.toString()
  const whole = text.length - digits
  return whole > 0 ? `${text.slice(0, whole)}.${text.slice(whole)}` : `0.${text.padStart(digits, '0')}`
}

/** Of an event. One that claims more than this is not published as an event, so only damage gets here. */
export function rawCell(amount: bigint): Cell {
  if (!isAmount(amount)) throw unstorable(`amount ${amount}`)
  return amount.toString()
}

/** Of a holder. The engine follows no token that claims more. */
export function signedRawCell(amount: bigint): Cell {
  if (!isBalance(amount)) throw unstorable(`amount ${amount}`)
  return amount.toString()
}

export function optionalRawCell(known: bigint | undefined): Cell {
  return known === undefined || !isAmount(known) ? NULL : known.toString()
}

export function optionalTimeCell(known: number | undefined): Cell {
  return known === undefined || !isTime(known) ? NULL : timeCell(known)
}

/** Unix seconds at full width: the server takes four digits for a year. The reader refuses blocks of later times. */
export function timeCell(seconds: number): Cell {
  if (!isTime(seconds)) throw unstorable(`time ${seconds}`)
  return String(seconds).padStart(10, '0')
}

function isTime(seconds: number): boolean {
  return Number.isInteger(seconds) && seconds >= 0 && seconds <= MAX_TIME
}

export function countCell(count: number): Cell {
  return String(count)
}

/**
 * Whatever a token calls itself, half a surrogate pair in it would make the server refuse the whole batch, and a tab
 * or line end would be taken for one of ours.
 */
export function textCell(given: string): Cell {
  const text = given.toWellFormed()
  return SPECIAL.test(text) ? text.replaceAll(ALL_SPECIAL, (character) => ESCAPES[character] as string) : text
}

export function optionalTextCell(known: string | undefined): Cell {
  return known === undefined ? NULL : textCell(known)
}

export function optionalFlagCell(known: boolean | undefined): Cell {
  return known === undefined ? NULL : known ? '1' : '0'
}

export function optionalCountCell(known: number | undefined): Cell {
  return known === undefined ? NULL : countCell(known)
}

function unstorable(what: string): ChaintapeError {
  return new ChaintapeError('message_unreadable', `no column can hold ${what}`)
}
