/** A fraction of positive integers. */
export type Ratio = { readonly numerator: bigint; readonly denominator: bigint }

/** The bin whose price is one. */
const MIDDLE_BIN = 2 ** 23
/** The contracts themselves know no price beyond this many steps, nor one that 128 bits before or after the point do not hold. */
const MAX_STEPS = 2 ** 20
const MAX_PRICE_BITS = 128
const STEP_UNIT = 10_000n
const MAX_BIN_STEP = 0xffff

/** Bits that are kept of every intermediate result. */
const PRECISION = 256
const ONE = 1n << BigInt(PRECISION - 1)

/** The mantissa has exactly PRECISION bits; the number is mantissa × 2^exponent. */
type Float = { readonly mantissa: bigint; readonly exponent: number }

/**
 * How many base units of the second token one base unit of the first costs in a bin:
 * (1 + binStep/10000)^(id - 2^23), undefined where no contract knows it.
 *
 * Written out exactly, the power would have millions of digits. All is cut at 256 bits instead, in at most forty
 * multiplications: below 2^20 steps that is off by less than one part in 2^230.
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
