import { boundedValue, MAX_FIXED } from './limits.ts'

/**
 * Money is bigint from log to wire.
 *
 * - an amount is exact, in the token's base units, and needs the token's decimals to be read
 * - a `Price` (of one whole token, in dollars, native coins or quote tokens) has PRICE_DIGITS digits after the point
 * - a `Value` (dollars, native coins or quote tokens) has VALUE_DIGITS digits after the point
 *
 * The only rounding is truncation toward zero, after the last digit, in `mulDiv`.
 */
export type Price = bigint
export type Value = bigint

/** With forty digits, a token worth 1e-30 dollars still has ten significant digits. */
export const PRICE_DIGITS = 40
export const VALUE_DIGITS = 18

/** A token that claims more decimals has no price: the claim is hostile or meaningless. */
export const MAX_PRICED_DECIMALS = 36

/** Denominator of a squared Q96 price, so that the division is a shift. */
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

/** Price of one whole base token, from an exchange (or reserves) of `base` against `quote`. */
export function priceOf(
  base: bigint,
  baseDecimals: number,
  quote: bigint,
  quoteDecimals: number,
): Price | undefined {
  if (!isPriced(baseDecimals) || !isPriced(quoteDecimals) || base <= 0n || quote <= 0n) return undefined
  // The quote's decimals are canceled on both sides, because shorter numbers divide faster.
  const scaled = quote * pow10(PRICE_DIGITS + baseDecimals - quoteDecimals)
  return storable(base === TWO_192 ? scaled >> 192n : scaled / base)
}

/** Converts a price quoted in some coin by that coin's own price. */
export function convertPrice(price: Price | undefined, coinPrice: Price | undefined): Price | undefined {
  if (price === undefined || coinPrice === undefined) return undefined
  // Fast path for every second conversion: pairs quoted in dollars convert to dollars by a price of one.
  if (coinPrice === ONE_PRICE) return storable(price)
  return storable(mulDiv(price, coinPrice, ONE_PRICE))
}

/** The inverse price: of the quote coin, in units of the priced token. */
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

/** Parses plain decimal notation exactly; undefined for other notations or more than `digits` decimals. */
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

/** A price that truncates to zero or fits no column is unknown rather than wrong. */
function storable(price: Price): Price | undefined {
  return price > 0n && price <= MAX_FIXED ? price : undefined
}
