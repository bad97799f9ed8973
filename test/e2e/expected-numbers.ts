/** The arithmetic of docs/data-rules.md, written out again: prices with 40 digits after the point, values with 18. */

export const ONE = 10n ** 40n
const LIMIT = 10n ** 76n

/** What one whole coin is worth, in dollars and in native coins; or what something is worth in all. */
export type Worth = { readonly usd: bigint | undefined; readonly eth: bigint | undefined }

export const UNKNOWN: Worth = { usd: undefined, eth: undefined }

/** A price of zero, or one that is too large to mean anything, is not known. */
export function sane(price: bigint | undefined): bigint | undefined {
  return price === undefined || price <= 0n || price >= LIMIT ? undefined : price
}

export function times(price: bigint | undefined, coin: bigint | undefined): bigint | undefined {
  return price === undefined || coin === undefined ? undefined : sane((price * coin) / ONE)
}

export function amountValue(raw: bigint, decimals: number, price: bigint | undefined): bigint | undefined {
  return price === undefined ? undefined : (raw * price) / 10n ** BigInt(decimals + 40 - 18)
}

export function plus(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  return a === undefined || b === undefined ? undefined : a + b
}

/** Plain notation, without zeros at the end. */
export function decimal(fixed: bigint, digits: number): string {
  if (fixed < 0n) return `-${decimal(-fixed, digits)}`
  const text = fixed.toString().padStart(digits + 1, '0')
  const whole = text.slice(0, text.length - digits)
  const fraction = text.slice(text.length - digits).replace(/0+$/, '')
  return fraction === '' ? whole : `${whole}.${fraction}`
}

export function price(fixed: bigint | undefined): string | undefined {
  return fixed === undefined ? undefined : decimal(fixed, 40)
}

export function value(fixed: bigint | undefined): string | undefined {
  return fixed === undefined ? undefined : decimal(fixed, 18)
}

/** In percent points, cut off after the second digit. */
export function percent(now: bigint | undefined, before: bigint | undefined): string | undefined {
  if (now === undefined || before === undefined) return undefined
  const hundredths = ((now - before) * 10_000n) / before
  return decimal(hundredths, 2)
}
