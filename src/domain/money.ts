import { boundedValue, MAX_FIXED } from './limits.ts'

/**
 * Money is bigint from log to wire.
 *
 * - an amount is exact, in the token's base units, and means nothing without the token's decimals
 * - a `Price` (of one whole token, in whole dollars, native coins or quote tokens) has PRICE_DIGITS digits after the point
 * - a `Value` (dollars, native coins or quote tokens) has VALUE_DIGITS digits after the point
 *
 * The only rounding is truncation towards zero, at the last kept digit, in `mulDiv`.
 */
export type Price = bigint
export type Value = bigint

/** Forty digits give a token worth 1e-30 dollars ten significant ones. */
export const PRICE_DIGITS = 40
export const VALUE_DIGITS = 18

/** Tokens claiming more decimals than this carry no price: the claim is hostile or meaningless. */
export const MAX_PRICED_DECIMALS = 36

/** What the square of a concentrated pool's price stands against: to divide by it is to shift. */
const TWO_192 = 1n << 192n

const POWERS: bigint[] = [1n]

export function pow10(exponent: number): bigint {
  for (let next = POWERS.length; next <= exponent; next++) POWERS.push((POWERS[next - 1] as bigint) * 10n)
  const power = POWERS[exponent]
  if (power === undefined) throw new RangeError(`not a power of ten: ${exponent}`)
  return power
}

export const ONE_PRICE: Price = pow10(PRICE_DIGITS)

function mulDiv(a: bigint, b: bigint, divisor: bigint): bigint {
  return (a * b) / divisor
}

/** The price of one whole base token, given `base` of it was exchanged for (or stands against) `quote`. */
export function priceOf(
  base: bigint,
  baseDecimals: number,
  quote: bigint,
  quoteDecimals: number,
): Price | undefined {
  if (!isPriced(baseDecimals) || !isPriced(quoteDecimals) || base <= 0n || quote <= 0n) return undefined
  // Both sides shortened by the quote's decimals, of which there are fewer: shorter numbers divide sooner.
  const scaled = quote * pow10(PRICE_DIGITS + baseDecimals - quoteDecimals)
  return storable(base === TWO_192 ? scaled >> 192n : scaled / base)
}

/** A price given in some coin, converted by that coin's own price. */
export function convertPrice(price: Price | undefined, coinPrice: Price | undefined): Price | undefined {
  if (price === undefined || coinPrice === undefined) return undefined
  // Every second conversion: what is quoted in dollars is converted to dollars, too.
  if (coinPrice === ONE_PRICE) return storable(price)
  return storable(mulDiv(price, coinPrice, ONE_PRICE))
}

/** The price of one unit of the coin that `price` is quoted in, in units of what was priced. */
export function invertPrice(price: Price | undefined): Price | undefined {
  if (price === undefined || price <= 0n) return undefined
  return storable((ONE_PRICE * ONE_PRICE) / price)
}

export function valueOfAmount(amount: bigint, decimals: number, price: Price | undefined): Value | undefined {
  if (price === undefined || !isPriced(decimals)) return undefined
  const value =
    price === ONE_PRICE && decimals <= VALUE_DIGITS
      ? amount * pow10(VALUE_DIGITS - decimals)
      : mulDiv(amount, price, pow10(decimals + PRICE_DIGITS - VALUE_DIGITS))
  return boundedValue(value)
}

export function formatAmount(amount: bigint, decimals: number): string {
  return formatFixed(amount, decimals)
}

export function formatPrice(price: Price): string {
  return formatFixed(price, PRICE_DIGITS)
}

export function formatValue(value: Value): string {
  return formatFixed(value, VALUE_DIGITS)
}

/** Plain decimal notation: no exponent, no trailing zeros, no bare point. */
export function formatFixed(fixed: bigint, digits: number): string {
  const negative = fixed < 0n
  const text = (negative ? -fixed : fixed).toString().padStart(digits + 1, '0')
  const whole = text.slice(0, text.length - digits)
  let end = text.length
  while (end > whole.length && text.charCodeAt(end - 1) === 48) end--
  const fraction = text.slice(whole.length, end)
  return `${negative && fixed !== 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`
}

/** Reads plain decimal notation exactly; undefined when it is not that, or has more digits than are kept. */
export function parseFixed(text: string, digits: number): bigint | undefined {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text)
  if (match === null) return undefined
  const fraction = match[3] ?? ''
  if (fraction.length > digits) return undefined
  const magnitude = BigInt(`${match[2]}${fraction.padEnd(digits, '0')}`)
  return match[1] === '-' ? -magnitude : magnitude
}

function isPriced(decimals: number): boolean {
  return Number.isInteger(decimals) && decimals >= 0 && decimals <= MAX_PRICED_DECIMALS
}

/** A price that truncates to nothing, or that no column can hold, is unknown rather than wrong. */
function storable(price: Price): Price | undefined {
  return price > 0n && price <= MAX_FIXED ? price : undefined
}
