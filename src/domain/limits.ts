/**
 * The limits of the published types are those of the ClickHouse columns. A number beyond its limit is unknown: it is
 * never wrapped or clamped, and never an error. The engine keeps exact sums and bounds only the published values, so a
 * rolling sum recovers as soon as it fits.
 */

/** UInt256: an amount in base units. No contract can move or hold more. */
export const MAX_AMOUNT = 2n ** 256n - 1n

/** Int256: a balance, which is negative while older transfers are still being read. */
export const MAX_BALANCE = 2n ** 255n - 1n
const MIN_BALANCE = -MAX_BALANCE

/** Decimal(76, 40) and Decimal(76, 18): a price or a value, as the integer that holds its digits. */
export const MAX_FIXED = 10n ** 76n - 1n

/** DateTime: Unix seconds. */
export const MAX_TIME = 2 ** 32 - 1

export function isAmount(amount: bigint): boolean {
  return amount >= 0n && amount <= MAX_AMOUNT
}

export function isBalance(amount: bigint): boolean {
  return amount >= MIN_BALANCE && amount <= MAX_BALANCE
}

/** The amount, or undefined if it exceeds its type. */
export function boundedAmount(amount: bigint): bigint | undefined {
  return isAmount(amount) ? amount : undefined
}

/** The value or sum of values, or undefined if it exceeds its type. */
export function boundedValue(value: bigint): bigint | undefined {
  return value <= MAX_FIXED ? value : undefined
}

/** Undefined if either value is unknown or the sum does not fit. */
export function sumOfValues(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  return a === undefined || b === undefined ? undefined : boundedValue(a + b)
}
