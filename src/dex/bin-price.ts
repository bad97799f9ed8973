/** A fraction of positive integers. */
export type Ratio = { readonly numerator: bigint; readonly denominator: bigint }

/** The bin whose price is one. */
const MIDDLE_BIN = 2 ** 23
/** The contracts support neither more steps nor prices beyond 128 bits before or after the point. */
const MAX_STEPS = 2 ** 20
const MAX_PRICE_BITS = 128
const STEP_UNIT = 10_000n
const MAX_BIN_STEP = 0xffff

/** Precision of intermediate results, in bits. */
const PRECISION = 256
const ONE = 1n << BigInt(PRECISION - 1)

/** The mantissa has exactly PRECISION bits; the number is mantissa × 2^exponent. */
type Float = { readonly mantissa: bigint; readonly exponent: number }

/**
 * Base units of the second token per base unit of the first in a bin: (1 + binStep/10000)^(id - 2^23). Undefined
 * outside the range of the contracts.
 *
 * The exact power would have millions of digits. Intermediate results are truncated to 256 bits instead, in at most
 * forty multiplications: below 2^20 steps the error is less than one part in 2^230.
 */
export function binPrice(id: number, binStep: number): Ratio | undefined {
  const steps = Math.abs(id - MIDDLE_BIN)
  if (!Number.isInteger(steps) || steps >= MAX_STEPS) return undefined
  if (!Number.isInteger(binStep) || binStep < 1 || binStep > MAX_BIN_STEP) return undefined
  const ratio = normalized(((STEP_UNIT + BigInt(binStep)) * ONE) / STEP_UNIT, 1 - PRECISION)
  const { mantissa, exponent } = power(ratio, steps)
  if (exponent + PRECISION > MAX_PRICE_BITS) return undefined
  const unit = 1n << BigInt(-exponent)
  return id < MIDDLE_BIN
    ? { numerator: unit, denominator: mantissa }
    : { numerator: mantissa, denominator: unit }
}

function power(base: Float, exponent: number): Float {
  let result: Float = { mantissa: ONE, exponent: 1 - PRECISION }
  let square = base
  for (let left = exponent; left > 0; left >>= 1) {
    if (left % 2 === 1) result = multiply(result, square)
    square = multiply(square, square)
  }
  return result
}

function multiply(a: Float, b: Float): Float {
  const product = (a.mantissa * b.mantissa) >> BigInt(PRECISION - 1)
  return normalized(product, a.exponent + b.exponent + PRECISION - 1)
}

function normalized(mantissa: bigint, exponent: number): Float {
  let excess = 0
  while (mantissa >> BigInt(PRECISION + excess) > 0n) excess++
  return { mantissa: mantissa >> BigInt(excess), exponent: exponent + excess }
}
