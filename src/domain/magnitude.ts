/** Steps between an amount and its double. */
const STEP_BITS = 4n

/** Grows with the amount and fits into 16 bits: amounts of which one is a sixteenth more than the other differ in it. */
export function magnitudeOf(amountRaw: bigint): number {
  if (amountRaw <= 0n) return 0
  const bits = BigInt(amountRaw.toString(2).length)
  // The bits after the first, as many as tell the steps; small amounts have fewer.
  const rest = bits > STEP_BITS ? amountRaw >> (bits - 1n - STEP_BITS) : amountRaw << (STEP_BITS + 1n - bits)
  return Number((bits << STEP_BITS) | (rest & ((1n << STEP_BITS) - 1n)))
}
