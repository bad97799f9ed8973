/** Decimal texts as exact integers: prices have at most 40 decimal places, values 18. */
export const PRICE_DIGITS = 40
export const VALUE_DIGITS = 18
/** A larger sum is unknown. */
export const MAX_FIXED = 10n ** 76n - 1n

/** Plain decimal notation as the gateway writes it: no sign, no exponent. */
export function parseFixed(text: string, digits: number): bigint {
  const at = text.indexOf('.')
  const whole = at === -1 ? text : text.slice(0, at)
  const fraction = at === -1 ? '' : text.slice(at + 1)
  if (fraction.length > digits || !/^\d+$/.test(whole + fraction))
    throw new TypeError(`not a decimal: ${text}`)
  return BigInt(whole + fraction.padEnd(digits, '0'))
}

export function formatFixed(fixed: bigint, digits: number): string {
  const text = fixed.toString().padStart(digits + 1, '0')
  const whole = text.slice(0, -digits)
  const fraction = text.slice(-digits).replace(/0+$/, '')
  return fraction === '' ? whole : `${whole}.${fraction}`
}
