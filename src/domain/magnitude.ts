/** Steps per doubling, as a power of two. */
const STEP_BITS = 4n

/** A 16-bit logarithmic scale: amounts that differ by a sixteenth or more have different magnitudes. */
export function magnitudeOf(amountRaw: bigint): number {
  if (amountRaw <= 0n) return 0
  const bits = BigInt(amountRaw.toString(2).length)
  // The bits after the leading one; small amounts are padded with zeros.
  const rest = bits > STEP_BITS ? amountRaw >> (bits - 1n - STEP_BITS) : amountRaw << (STEP_BITS + 1n - bits)
  return Number((bits << STEP_BITS) | (rest & ((1n << STEP_BITS) - 1n)))
}
